//! `wakepath exec`: becomes a program under a policy and on CPUs that were read back, after saying
//! what does not get across. It measures nothing.

use crate::command_line::Exec;
use crate::executable;
use crate::machine_facts::refuse_offline;
use rustix::process::{Resource, getrlimit};
use std::os::unix::process::CommandExt;
use std::process::{Command, ExitCode};
use wakepath_console::terminal::tell;
use wakepath_console::{Outcome, option_value};
use wakepath_programs::rights;
use wakepath_rt::{Effective, Preparation, attributes};
use wakepath_timeline::CpuSet;
use wakepath_timeline::Policy;

/// Prepares, says what is in effect, and becomes the program; it comes back with an error alone.
pub fn run(arguments: &Exec) -> Outcome {
    let policy = option_value::policy(&arguments.policy)?;
    if policy.is_of_a_core() {
        return Err(format!(
            "--policy '{policy}': a thread enters a real-time core by itself, and leaves it where another \
             program takes its place; exec can give {}",
            policy.nearest_in_linux()
        )
        .into());
    }
    let cpus = arguments
        .cpu
        .as_deref()
        .map(option_value::cpus)
        .transpose()?;
    let (program, rest) = arguments.command.split_first().ok_or("no program given")?;
    if let Some(cpus) = &cpus {
        refuse_offline(cpus)?;
    }
    // Nothing is set or claimed for a program that can't be started.
    let file = match executable::find(program)? {
        Ok(file) => file,
        Err((code, why)) => {
            tell!("wakepath: {why}");
            return Ok(ExitCode::from(code));
        }
    };
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
    if !wakepath_console::terminal::is_quiet() {
        for line in description(
            &prepared.effective,
            arguments.reset_on_fork,
            lockable_bytes(),
        ) {
            tell!("wakepath: {line}");
        }
    }
    // The policy is set: the program needs no capability for it, and nobody asked to give it any.
    rights::give_up().map_err(|error| format!("capabilities can't be given up: {error}"))?;
    let error = Command::new(file).arg0(program).args(rest).exec();
    Err(format!("{}: {error}", program.display()).into())
}

/// Bytes that this user's programs may lock; `None` without a limit.
fn lockable_bytes() -> Option<u64> {
    getrlimit(Resource::Memlock).current
}

/// Settings in effect, those that the program's own threads inherit, and those that they don't.
fn description(effective: &Effective, reset_on_fork: bool, lockable: Option<u64>) -> Vec<String> {
    let cpus = CpuSet::from(&effective.cpus[..]);
    let slack = if effective.policy.is_real_time() {
        String::new()
    } else {
        format!(", timer slack {} ns", effective.timer_slack_ns)
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
        let lines = description(
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
        let lines = description(&effective(Policy::Other { nice: 0 }), true, None);
        assert!(lines[0].ends_with("timer slack 1 ns"), "{lines:?}");
        assert!(lines[1].contains("OTHER nice 0"), "{lines:?}");
    }

    #[test]
    fn a_deadline_thread_that_can_t_fork_is_told_so() {
        let deadline = option_value::policy("DEADLINE 400us/4ms/4ms").unwrap();
        let lines = description(&effective(deadline), false, None);
        assert!(lines[1].contains("--reset-on-fork"), "{lines:?}");
    }
}
