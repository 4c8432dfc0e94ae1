//! `wakepath exec`: becomes a program under a policy and on CPUs that were read back, after saying
//! what does not get across. It measures nothing.

use super::Outcome;
use crate::command_line::Exec;
use crate::terminal::tell;
use rustix::process::{Resource, getrlimit};
use std::os::unix::process::CommandExt;
use std::process::Command;
use wakepath_machine::CpuList;
use wakepath_programs::rights;
use wakepath_rt::{Effective, Preparation, attributes};
use wakepath_scenario::parse_policy;
use wakepath_timeline::Policy;

/// Prepares, says what is in effect, and becomes the program; it comes back with an error alone.
pub fn run(arguments: &Exec) -> Outcome {
    let policy = policy(&arguments.policy)?;
    let cpus = arguments.cpu.as_deref().map(cpus).transpose()?;
    let (program, rest) = arguments
        .command
        .split_first()
        .ok_or("no program is named")?;
    // Locked memory is the one thing that exec takes away again.
    let prepared = Preparation {
        policy,
        cpus,
        lock_memory: false,
        ..Preparation::default()
    }
    .apply()?;
    if arguments.reset_on_fork {
        attributes::reset_on_fork(0).map_err(|error| format!("--reset-on-fork: {error}"))?;
    }
    for shortfall in &prepared.shortfalls {
        tell!("wakepath: {shortfall}");
    }
    if !arguments.quiet {
        for line in told(
            &prepared.effective,
            arguments.reset_on_fork,
            lockable_bytes(),
        ) {
            tell!("wakepath: {line}");
        }
    }
    let file = wakepath_programs::to_start(program)?;
    // The policy is set: the program needs no capability for it, and nobody asked to give it any.
    rights::give_up().map_err(|error| format!("capabilities can't be given up: {error}"))?;
    let error = Command::new(file).arg0(program).args(rest).exec();
    Err(format!("{}: {error}", program.display()).into())
}

/// A policy that stands by itself: there is no loop whose period a DEADLINE could take.
pub(super) fn policy(text: &str) -> Result<Policy, String> {
    let complaint = |what: &dyn std::fmt::Display| format!("--policy '{text}': {what}");
    let lowered = text.to_lowercase();
    if lowered.starts_with("deadline ") && !lowered.contains('/') {
        return Err(complaint(
            &"the period is not known here; give runtime/deadline/period, such as 'DEADLINE 400us/4ms/4ms'",
        ));
    }
    parse_policy(text, 0).map_err(|found| complaint(&found))
}

pub(super) fn cpus(text: &str) -> Result<Vec<u16>, String> {
    let complaint = |what: &str| format!("--cpu {text}: {what}");
    let list: CpuList = text.parse().map_err(|error: String| complaint(&error))?;
    if list.is_empty() {
        return Err(complaint("names no CPU; expected e.g. 1 or 2-3,6"));
    }
    let numbers = list.numbers().iter().map(|&cpu| u16::try_from(cpu));
    numbers
        .collect::<Result<_, _>>()
        .map_err(|_| complaint("no kernel has that many CPUs"))
}

/// Bytes that this user's programs may lock; `None` without a limit.
fn lockable_bytes() -> Option<u64> {
    getrlimit(Resource::Memlock).current
}

/// What is in effect, what the program's own threads get of it, and what it does not get.
fn told(effective: &Effective, reset_on_fork: bool, lockable: Option<u64>) -> Vec<String> {
    let cpus: CpuList = effective.cpus.iter().map(|&cpu| u32::from(cpu)).collect();
    let slack = match effective.policy.is_real_time() {
        true => String::new(),
        false => format!(", timer slack {} ns", effective.timer_slack_ns),
    };
    let policy = effective.policy;
    let children = match (policy, reset_on_fork) {
        (_, true) => {
            "its other threads and processes begin as OTHER nice 0 on the same CPUs".into()
        }
        (Policy::Deadline { .. }, false) => "it can't start threads or processes: the kernel \
             refuses that to a DEADLINE thread; --reset-on-fork allows it"
            .into(),
        _ => format!(
            "all its threads and processes inherit {policy} and the CPUs, unless they change them"
        ),
    };
    let limit = match lockable {
        None => "it may lock as much as it likes".into(),
        Some(bytes) => format!(
            "it may lock {} KiB without CAP_IPC_LOCK (RLIMIT_MEMLOCK)",
            bytes / 1024
        ),
    };
    vec![
        format!("in effect, read back: {policy}, CPU {cpus}{slack}"),
        children,
        format!(
            "not inherited: locked memory. The program must call mlockall itself, or page faults \
             may delay it; {limit}"
        ),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn effective(policy: Policy) -> Effective {
        Effective {
            policy,
            cpus: vec![2, 3],
            memory_locked: false,
            timer_slack_ns: 1,
        }
    }

    #[test]
    fn what_is_in_effect_and_what_is_not_inherited_is_said() {
        let lines = told(
            &effective(Policy::Fifo { priority: 80 }),
            false,
            Some(65536),
        );
        assert_eq!(lines[0], "in effect, read back: FIFO 80, CPU 2-3");
        assert!(lines[1].contains("inherit FIFO 80"), "{lines:?}");
        assert!(
            lines[2].contains("mlockall") && lines[2].contains("64 KiB"),
            "{lines:?}"
        );
        let lines = told(&effective(Policy::Other { nice: 0 }), true, None);
        assert!(lines[0].ends_with("timer slack 1 ns"), "{lines:?}");
        assert!(lines[1].contains("OTHER nice 0"), "{lines:?}");
    }

    #[test]
    fn a_deadline_thread_that_can_t_fork_is_told_so() {
        let deadline = policy("DEADLINE 400us/4ms/4ms").unwrap();
        let lines = told(&effective(deadline), false, None);
        assert!(lines[1].contains("--reset-on-fork"), "{lines:?}");
    }

    #[test]
    fn a_deadline_without_a_period_and_cpus_that_are_none_are_refused() {
        assert!(
            policy("DEADLINE 400us")
                .unwrap_err()
                .contains("400us/4ms/4ms")
        );
        assert!(
            policy("FIFO 100")
                .unwrap_err()
                .contains("--policy 'FIFO 100'")
        );
        assert!(cpus("").unwrap_err().contains("no CPU"));
        assert!(cpus("one").unwrap_err().contains("--cpu one"));
        assert_eq!(cpus("0-1,4"), Ok(vec![0, 1, 4]));
    }
}
