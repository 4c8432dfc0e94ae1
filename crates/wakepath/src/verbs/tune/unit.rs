//! `wakepath tune unit`: a drop-in for the systemd unit of the user's own program. It prints; its
//! first line gives the path.

use crate::command_line::TuneUnit;
use std::fmt::Write;
use std::process::ExitCode;
use wakepath_console::terminal::print_whole;
use wakepath_console::{Outcome, scenarios};
use wakepath_scenario::parse_policy;
use wakepath_timeline::Policy;

/// A period for reading a policy: DEADLINE, the only one that needs it, has no unit setting.
const PERIOD_NS: u64 = 4_000_000;

/// Writes the drop-in to standard output.
pub fn run(arguments: &TuneUnit) -> Outcome {
    let allowed = |c: char| c.is_ascii_alphanumeric() || "-_.@:".contains(c);
    if !arguments.unit.ends_with(".service") || !arguments.unit.chars().all(allowed) {
        return Err(format!(
            "{}: not the name of a unit; expected e.g. flyer.service",
            arguments.unit
        )
        .into());
    }
    let policy = parse_policy(&arguments.policy, PERIOD_NS)
        .map_err(|complaint| format!("--policy '{}': {complaint}", arguments.policy))?;
    let cpu = match arguments.cpu {
        Some(cpu) => cpu,
        None => scenarios::host_cpus()?.loop_cpu(),
    };
    print_whole(&drop_in(&arguments.unit, cpu, policy)?)?;
    Ok(ExitCode::SUCCESS)
}

fn drop_in(unit: &str, cpu: u16, policy: Policy) -> Result<String, Box<dyn std::error::Error>> {
    let mut text = String::new();
    writeln!(text, "# /etc/systemd/system/{unit}.d/wakepath.conf")?;
    writeln!(
        text,
        "# then: systemctl daemon-reload && systemctl restart {unit}"
    )?;
    writeln!(text, "[Service]")?;
    writeln!(text, "CPUAffinity={cpu}")?;
    match policy {
        Policy::Fifo { priority } | Policy::RoundRobin { priority } => {
            let name = match policy {
                Policy::Fifo { .. } => "fifo",
                _ => "rr",
            };
            writeln!(text, "CPUSchedulingPolicy={name}")?;
            writeln!(text, "CPUSchedulingPriority={priority}")?;
            writeln!(text, "CPUSchedulingResetOnFork=no")?;
            writeln!(text, "LimitRTPRIO={priority}")?;
            // A loop that spins is stopped after half a second of CPU time without sleep.
            writeln!(text, "LimitRTTIME=500000")?;
        }
        Policy::Other { nice } => {
            writeln!(text, "Nice={nice}")?;
            writeln!(text, "TimerSlackNSec=1")?;
        }
        _ => {
            return Err(format!(
                "{policy}: systemd has no setting for it; the program sets it itself (see the \
                 library wakepath-rt)"
            )
            .into());
        }
    }
    writeln!(text, "LimitMEMLOCK=infinity")?;
    writeln!(text, "MemorySwapMax=0")?;
    writeln!(text, "OOMScoreAdjust=-900")?;
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fifo_loop_gets_its_cpu_its_priority_and_its_limits() {
        let text = drop_in("flyer.service", 3, Policy::Fifo { priority: 80 }).unwrap();
        for line in [
            "CPUAffinity=3",
            "CPUSchedulingPolicy=fifo",
            "CPUSchedulingPriority=80",
            "LimitRTPRIO=80",
            "LimitMEMLOCK=infinity",
        ] {
            assert!(text.lines().any(|found| found == line), "{line}\n{text}");
        }
    }

    #[test]
    fn an_ordinary_loop_loses_its_timer_slack() {
        let text = drop_in("flyer.service", 3, Policy::Other { nice: -5 }).unwrap();
        assert!(text.contains("Nice=-5\nTimerSlackNSec=1\n"), "{text}");
        assert!(!text.contains("CPUSchedulingPolicy"));
    }
}
