//! In the guest: requested kernel parameters that have no effect.
//!
//! Checked against the kernel's own reports, because a request proves nothing. Pure except for
//! reading the log.

use crate::order::ENTROPY;
use rustix::fs::{Mode, OFlags};
use wakepath_machine::{Facts, PreemptionModel, Standing};
use wakepath_timeline::CpuSet;

const LOG: &str = "/dev/kmsg";
/// The kernel's message about unknown parameters (init/main.c, since Linux 5.14).
const UNKNOWN: &str = "Unknown kernel command line parameters \"";
/// Parameters of every guest; some kernels list them as unknown because they use them early.
const OF_EVERY_GUEST: [&str; 4] = ["nokaslr", ENTROPY[0], ENTROPY[1], "tsc=reliable"];

/// The kernel's log from its first line on, as far as it is still available.
pub(super) fn log() -> String {
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let mut log = String::new();
    let Ok(file) = rustix::fs::open(LOG, flags, Mode::empty()) else {
        return log;
    };
    let mut record = [0; 8192];
    // One record each; the last ends it with EAGAIN.
    while let Ok(length) = rustix::io::read(&file, &mut record) {
        log += &String::from_utf8_lossy(&record[..length]);
        if length == 0 {
            break;
        }
    }
    log
}

/// Parameters without effect, a sentence for each.
pub(super) fn ignored(facts: &Facts, log: &str) -> Vec<String> {
    let mut ignored = Vec::new();
    let line = &facts.fixed.command_line;
    if let Some(wanted) = line.value("preempt") {
        let found = &facts.varying.preemption;
        let is = match (found.standing, found.model) {
            (Standing::InEffect, PreemptionModel::RealTime) => {
                Some("PREEMPT_RT, which has no other")
            }
            (Standing::InEffect, model) if model.word() == wanted => None,
            (Standing::InEffect, model) => Some(model.word()),
            _ => Some("unknown"),
        };
        if let Some(is) = is {
            ignored.push(vain(
                "preempt",
                wanted,
                &format!("the kernel's preemption is {is}"),
            ));
        }
    }
    let time = &facts.varying.cpu_time;
    for (name, what, found) in [
        ("isolcpus", "the isolated CPUs are", &time.isolated),
        ("nohz_full", "the CPUs without a tick are", &time.nohz_full),
    ] {
        let Some(wanted) = line.value(name) else {
            continue;
        };
        // `isolcpus=managed_irq,domain,1-3`: flags before the CPUs.
        let begins = wanted.find(|c: char| c.is_ascii_digit());
        let cpus: Option<CpuSet> = wanted[begins.unwrap_or(wanted.len())..].parse().ok();
        let found = found.known();
        if found.is_none() || found != cpus.as_ref() {
            let is = found.filter(|found| !found.is_empty());
            let is = is.map_or("none".into(), ToString::to_string);
            ignored.push(vain(name, wanted, &format!("{what} {is}")));
        }
    }
    let lists = log.lines().filter_map(|line| {
        let (_, rest) = line.split_once(UNKNOWN)?;
        Some(rest.split_once('"')?.0)
    });
    for word in lists.flat_map(str::split_whitespace) {
        let name = word.split('=').next().unwrap_or(word);
        let said = ignored
            .iter()
            .any(|one| one.starts_with(&format!("{name}=")));
        if !said && !OF_EVERY_GUEST.contains(&word) {
            ignored.push(format!(
                "{word} was asked for, and this kernel does not know it"
            ));
        }
    }
    ignored
}

fn vain(name: &str, wanted: &str, is: &str) -> String {
    format!("{name}={wanted} was asked for, and {is}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use wakepath_machine::Reading;

    fn facts(line: &str, standing: Standing, model: PreemptionModel) -> Facts {
        let mut facts = Facts::default();
        facts.fixed.command_line.text = Reading::found(line.into(), "/proc/cmdline");
        facts.varying.preemption.standing = standing;
        facts.varying.preemption.model = model;
        facts.varying.cpu_time.isolated = Reading::found("1".parse().unwrap(), "isolated");
        facts
    }

    #[test]
    fn a_preemption_that_the_kernel_does_not_have_is_named_with_the_one_it_has() {
        let of = |line, model| ignored(&facts(line, Standing::InEffect, model), "");
        assert!(of("quiet preempt=full", PreemptionModel::Full).is_empty());
        assert!(of("quiet", PreemptionModel::Voluntary).is_empty());
        assert_eq!(
            of("preempt=lazy", PreemptionModel::Voluntary),
            ["preempt=lazy was asked for, and the kernel's preemption is voluntary"]
        );
        let rt = of("preempt=none", PreemptionModel::RealTime);
        assert!(rt[0].contains("is PREEMPT_RT"), "{rt:?}");
        let unread = facts("preempt=full", Standing::AsRequested, PreemptionModel::Full);
        assert!(ignored(&unread, "")[0].contains("preemption is unknown"));
    }

    #[test]
    fn isolation_counts_as_the_kernel_has_it_and_what_it_does_not_know_is_in_its_log() {
        let of = |line, log| ignored(&facts(line, Standing::InEffect, PreemptionModel::Full), log);
        assert!(of("isolcpus=managed_irq,domain,1", "").is_empty());
        assert_eq!(
            of("isolcpus=2 nohz_full=1", ""),
            [
                "isolcpus=2 was asked for, and the isolated CPUs are 1",
                "nohz_full=1 was asked for, and the CPUs without a tick are none"
            ]
        );
        let log = "5,1,0,-;Linux version 6.1\n6,2,0,-;Unknown kernel command line parameters \
                   \"nokaslr threadirq isolcpus=2 foo=1\", will be passed to user space.\n";
        assert_eq!(
            of("isolcpus=2", log)[1..],
            [
                "threadirq was asked for, and this kernel does not know it",
                "foo=1 was asked for, and this kernel does not know it"
            ]
        );
    }
}
