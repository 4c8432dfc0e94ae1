//! Whether a thread belongs to the program that claims it. Its number comes from memory that the program
//! writes, and is given a policy with rights that the program may not have: another's thread is left alone.
//! It places nothing.

use wakepath_rt::announcement::Announced;
use wakepath_timeline::{ProcessStat, one_line};

/// Processes between a program and one that it started in a separate group.
const MOST_ANCESTORS: usize = 64;

/// A loop whose thread belongs to another program.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "the loop `{name}` reports thread {thread_id}, which is not a thread of the program; start the program \
     directly, without its own PID namespace"
)]
pub struct Foreign {
    /// The loop's name.
    name: String,
    /// The number that it announced.
    thread_id: u32,
}

/// A thread of the program's. Its number may be another's as soon as it has ended.
pub(super) struct Kin {
    program: u32,
    foreign: Foreign,
    /// When it began, in the kernel's ticks since the machine did.
    began: u64,
}

impl Kin {
    /// The thread of a loop of the program's, which leads a process group.
    ///
    /// # Errors
    /// When it is none of the program's.
    pub(super) fn new(program: u32, announced: &Announced) -> Result<Self, Foreign> {
        let foreign = Foreign {
            name: one_line(&announced.name),
            thread_id: announced.thread_id,
        };
        match began_in(program, announced.thread_id) {
            None => Err(foreign),
            Some(began) => Ok(Self {
                program,
                foreign,
                began,
            }),
        }
    }

    /// After something was done to it by its number.
    ///
    /// # Errors
    /// When the number is another thread's by now: it was perhaps done to that one.
    pub(super) fn still(&self) -> Result<(), Foreign> {
        if began_in(self.program, self.foreign.thread_id) == Some(self.began) {
            Ok(())
        } else {
            Err(self.foreign.clone())
        }
    }
}

/// When the thread began, if it is in the program's process group, or the program is among its ancestors.
fn began_in(program: u32, thread_id: u32) -> Option<u64> {
    let thread = Status::new(thread_id)?;
    let began = thread.began;
    let mut at = thread;
    for _ in 0..MOST_ANCESTORS {
        if at.group == program || at.parent == program {
            return Some(began);
        }
        at = Status::new(at.parent)?;
    }
    None
}

/// Status of a thread and its process (proc_pid_stat(5)).
struct Status {
    parent: u32,
    group: u32,
    began: u64,
}

impl Status {
    fn new(thread_id: u32) -> Option<Self> {
        let stat = std::fs::read(format!("/proc/{thread_id}/stat")).ok()?;
        let stat = ProcessStat::parse(&stat)?;
        Some(Self {
            parent: stat.number(4)?,
            group: stat.number(5)?,
            began: stat.number(22)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{BufRead, BufReader};
    use std::os::unix::process::CommandExt;
    use std::process::{Command, Stdio};

    #[test]
    fn threads_of_the_program_and_of_what_it_started_are_its_own_and_no_others() {
        // Its name ends in half a character.
        let mut program = Command::new("sh")
            .args([
                "-c",
                "printf 'x-\\303' > /proc/$$/comm; \
                 setsid sleep 60 & a=$!; sleep 60 & b=$!; echo $a; echo $b; read end; kill $a $b",
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
        let found = found.map(|thread_id| began_in(own, thread_id).is_some());
        drop(program.stdin.take());
        program.wait().unwrap();
        assert_eq!(found, [true, true, true, false, false, false, false]);
    }

    #[test]
    fn a_number_that_is_another_thread_s_by_now_is_noticed() {
        let announced = |thread_id| Announced {
            name: "loop".into(),
            thread_id,
            period_ns: 1_000_000,
            timer_slack_ns: 0,
            foreign_clock: false,
            overrun: Default::default(),
            on_a_core: None,
        };
        // Within this process: a thread that began earlier than what is found under its number later.
        let own = std::process::id();
        let group = Status::new(own).unwrap().group;
        let mut kin = Kin::new(group, &announced(own)).unwrap();
        kin.still().unwrap();
        kin.began += 1;
        assert_eq!(kin.still().unwrap_err().thread_id, own);
        // And one that has ended.
        let (kept, go_on) = std::sync::mpsc::channel::<()>();
        let (say, said) = std::sync::mpsc::channel();
        let thread = std::thread::spawn(move || {
            say.send(
                rustix::thread::gettid()
                    .as_raw_nonzero()
                    .get()
                    .unsigned_abs(),
            )
            .unwrap();
            let _ = go_on.recv();
        });
        let kin = Kin::new(group, &announced(said.recv().unwrap())).unwrap();
        kin.still().unwrap();
        drop(kept);
        thread.join().unwrap();
        // The kernel lets go of a joined thread's number a moment later.
        let gone = (0..1000).any(|_| {
            std::thread::sleep(std::time::Duration::from_millis(1));
            kin.still().is_err()
        });
        assert!(gone);
    }
}
