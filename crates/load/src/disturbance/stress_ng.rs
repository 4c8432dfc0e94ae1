//! stress-ng with any stressors.
//!
//! It reports its bogo operations at its end; they go into the proof together with the CPU time
//! measured while it runs.

use crate::plan::Program;
use crate::programs::as_seen_from_elsewhere;
use crate::{LoadError, Reported};
use std::path::Path;
use wakepath_timeline::Disturbance;

const NAME: &str = "stress-ng";

pub(crate) fn program(arguments: &[String], directory: &Path) -> Result<Program, LoadError> {
    let mut program = Program::find(NAME, NAME, Some(NAME))?;
    program.arguments = arguments
        .iter()
        .map(|argument| as_seen_from_elsewhere(argument))
        .collect();
    // It stores temporary files in its working directory, and refuses to start if it can't write
    // there.
    program.directory = Some(directory.to_owned());
    // Standard input is a memory file: a named report could be left behind.
    program
        .arguments
        .extend(["--metrics-brief", "--yaml", "/proc/self/fd/0"].map(String::from));
    program.version_argument = Some("--version".into());
    program.writes_stress_ng_report = true;
    program.stop_signal = libc::SIGINT;
    Ok(program)
}

/// Disturbances of the stressors among `arguments`, by name; unknown stressors count as unknown.
pub(crate) fn disturbs(arguments: &[String]) -> Vec<Disturbance> {
    let options = arguments
        .iter()
        .filter_map(|argument| argument.strip_prefix("--"));
    let mut found: Vec<Disturbance> = options.flat_map(class).copied().collect();
    found.sort_unstable();
    found.dedup();
    if found.is_empty() {
        vec![Disturbance::Unknown]
    } else {
        found
    }
}

/// After stress-ng's own classes (stress-ng(1), --class).
fn class(option: &str) -> &'static [Disturbance] {
    use Disturbance::{
        Cache, Cpu, Gpu, MemoryBandwidth, MemoryMaps, Network, ProcessCreation, Scheduling,
        Signals, Storage, SystemCalls, Timers,
    };
    match option.split('=').next().unwrap_or(option) {
        "cpu" | "matrix" | "matrix-3d" | "fp" | "vecmath" | "crypt" | "bsearch" | "qsort" => &[Cpu],
        "cache" | "l1cache" | "icache" | "cacheline" => &[Cache],
        "stream" | "memrate" | "memcpy" | "memthrash" | "vm-rw" => &[Cache, MemoryBandwidth],
        "vm" | "bigheap" | "brk" | "stack" => &[MemoryMaps, MemoryBandwidth],
        "mmap" | "fault" | "tlb-shootdown" | "mremap" | "madvise" | "page-in" => &[MemoryMaps],
        "fork" | "vfork" | "clone" | "exec" | "spawn" | "daemon" | "pthread" => &[ProcessCreation],
        "switch" | "pipe" | "mq" | "msg" | "futex" | "yield" | "sem" | "poll" | "epoll"
        | "eventfd" | "fifo" => &[Scheduling, SystemCalls],
        "hdd" | "io" | "iomix" | "aio" | "aiol" | "io-uring" | "fallocate" | "readahead"
        | "seek" | "sync-file" | "revio" | "dir" => &[Storage, SystemCalls],
        "sock" | "sockabuse" | "sockmany" | "udp" | "udp-flood" | "netdev" | "rawsock" | "sctp"
        | "icmp-flood" => &[Network],
        "timer" | "timerfd" | "itimer" | "hrtimers" | "nanosleep" | "alarm" | "clock" => &[Timers],
        "signal" | "sigpending" | "sigq" | "sigrt" | "sigsuspend" | "kill" | "sigfd" => &[Signals],
        "syscall" | "get" | "set" | "getrandom" | "null" | "zero" | "dup" | "close" => {
            &[SystemCalls]
        }
        "gpu" => &[Gpu],
        _ => &[],
    }
}

/// The metrics of stress-ng's YAML report.
pub(crate) fn parse_report(yaml: &str) -> Vec<Reported> {
    let mut reported: Vec<Reported> = Vec::new();
    for line in yaml.lines() {
        let Some((key, value)) = line.trim().trim_start_matches("- ").split_once(": ") else {
            continue;
        };
        match (key, reported.last_mut()) {
            ("stressor", _) => reported.push(Reported {
                name: value.to_owned(),
                amount: 0.0,
                unit: "bogo operations".into(),
                per_second: 0.0,
            }),
            ("bogo-ops", Some(last)) => last.amount = value.parse().unwrap_or(0.0),
            ("bogo-ops-per-second-real-time", Some(last)) => {
                last.per_second = value.parse().unwrap_or(0.0);
            }
            _ => {}
        }
    }
    reported
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stressors_declare_what_they_disturb() {
        let arguments = ["--cpu", "2", "--udp=1", "--timeout", "9"].map(String::from);
        assert_eq!(
            disturbs(&arguments),
            [Disturbance::Cpu, Disturbance::Network]
        );
        assert_eq!(disturbs(&["--sequential".into()]), [Disturbance::Unknown]);
    }

    #[test]
    fn the_report_of_stress_ng_0_15_gives_operations_for_each_stressor() {
        let yaml = "---\nsystem-info:\n      hostname: vm\n\nmetrics:\n    - stressor: cpu\n      \
                    bogo-ops: 1049\n      bogo-ops-per-second-usr-sys-time: 1399.558652\n      \
                    bogo-ops-per-second-real-time: 1046.941215\n\n    - stressor: udp\n      \
                    bogo-ops: 78499\n      bogo-ops-per-second-real-time: 78392.689723\n...\n";
        let reported = parse_report(yaml);
        assert_eq!(reported.len(), 2);
        assert_eq!(
            (reported[0].name.as_str(), reported[0].amount),
            ("cpu", 1049.0)
        );
        assert_eq!(reported[1].per_second, 78_392.689_723);
    }
}
