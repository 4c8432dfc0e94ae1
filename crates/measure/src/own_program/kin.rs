//! Whether a thread is one of the program that says so. Its number comes from memory that the program writes, and
//! is given a policy with rights that the program may not have: another's thread is left alone. It places nothing.

use wakepath_rt::announcement::Announced;
use wakepath_timeline::one_line;

/// Processes between a program and one that it started in a group of its own.
const MOST_ANCESTORS: usize = 64;

/// A loop whose thread is somebody else's.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "the loop `{name}` says that its thread has the number {thread_id}, which is no thread of the program; start \
     the program itself, in no PID namespace of its own"
)]
pub struct Foreign {
    /// The loop's name.
    name: String,
    /// The number that it said.
    thread_id: u32,
}

/// The first of the loops whose thread is none of the program's, which leads a process group.
pub(super) fn foreign<'a>(
    program: u32,
    announced: impl IntoIterator<Item = &'a Announced>,
) -> Option<Foreign> {
    let mut announced = announced.into_iter();
    let of = announced.find(|of| !is_of(program, of.thread_id))?;
    Some(Foreign {
        name: one_line(&of.name),
        thread_id: of.thread_id,
    })
}

/// Whether the thread is in the program's process group, or the program is among its ancestors.
fn is_of(program: u32, thread_id: u32) -> bool {
    let mut at = thread_id;
    for _ in 0..MOST_ANCESTORS {
        let Some((parent, group)) = parent_and_group(at) else {
            return false;
        };
        if group == program || parent == program {
            return true;
        }
        at = parent;
    }
    false
}

/// Of a thread's process (proc_pid_stat(5)).
fn parent_and_group(thread_id: u32) -> Option<(u32, u32)> {
    let text = std::fs::read_to_string(format!("/proc/{thread_id}/stat")).ok()?;
    // The name may hold anything, and ends with the last parenthesis.
    let (_, behind) = text.rsplit_once(')')?;
    let mut numbers = behind.split_whitespace().skip(1).map(str::parse);
    Some((numbers.next()?.ok()?, numbers.next()?.ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{BufRead, BufReader};
    use std::os::unix::process::CommandExt;
    use std::process::{Command, Stdio};

    #[test]
    fn threads_of_the_program_and_of_what_it_started_are_its_own_and_no_others() {
        let mut program = Command::new("sh")
            .args([
                "-c",
                "setsid sleep 60 & a=$!; sleep 60 & b=$!; echo $a; echo $b; read end; kill $a $b",
            ])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .process_group(0)
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(program.stdout.take().unwrap()).lines();
        let mut started = || lines.next().unwrap().unwrap().parse::<u32>().unwrap();
        let (apart, within) = (started(), started());
        let own = program.id();
        let found = [own, apart, within, std::process::id(), 1, 0, u32::MAX];
        let found = found.map(|thread_id| is_of(own, thread_id));
        drop(program.stdin.take());
        program.wait().unwrap();
        assert_eq!(found, [true, true, true, false, false, false, false]);
    }
}
