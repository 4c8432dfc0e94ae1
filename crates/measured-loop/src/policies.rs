//! Sets policies of a loop's threads after its process has given up its capabilities.
//!
//! The process gives them up before it loads a controller. A child process keeps them, sets the
//! requested policies, only for threads of its parent, and ends before the first cycle.

use rustix::thread::CapabilitySet;
use serde::{Deserialize, Serialize};
use std::io::{self, BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::{Mutex, PoisonError};
use wakepath_programs::rights;
use wakepath_rt::attributes;
use wakepath_timeline::Policy;

/// The hidden verb of the child.
pub(crate) const VERB: &str = "loop-policies";

/// Capability that the loop's process keeps: the library is mapped, and the controller can
/// allocate, after all memory was locked, and beyond RLIMIT_MEMLOCK both fail without it.
const KEPT: CapabilitySet = CapabilitySet::IPC_LOCK;

/// Ways to set the policies of the loop's threads.
pub(crate) enum Policies {
    /// Each sets its own.
    ByItself,
    /// The child sets them, as long as it runs.
    ByKeeper(Mutex<Option<Keeper>>),
}

/// The child, and the lines to it and from it.
pub(crate) struct Keeper {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

/// A request to the child, one line. Its answer is one line too: 0, or the number of the kernel's
/// error.
#[derive(Serialize, Deserialize)]
struct Wish {
    thread: i32,
    policy: Policy,
}

impl Policies {
    /// Must be called before the threads start. If they load foreign code and this process has
    /// capabilities, it gives them up, so that all threads started later lack them.
    ///
    /// # Errors
    /// If the child can't be started or the capabilities can't be given up.
    pub(crate) fn before_threads(loads_foreign_code: bool) -> io::Result<Self> {
        if !loads_foreign_code || !rights::any() {
            return Ok(Self::ByItself);
        }
        let keeper = Keeper::start()?;
        rights::keep_only(KEPT)?;
        Ok(Self::ByKeeper(Mutex::new(Some(keeper))))
    }

    /// Sets the calling thread's policy.
    pub(crate) fn set(&self, policy: Policy) -> io::Result<()> {
        match self {
            Self::ByItself => attributes::set(0, policy),
            Self::ByKeeper(keeper) => {
                let mut keeper = keeper.lock().unwrap_or_else(PoisonError::into_inner);
                let keeper = keeper.as_mut().ok_or(io::ErrorKind::BrokenPipe)?;
                let thread = rustix::thread::gettid().as_raw_nonzero().get();
                keeper.set(&Wish { thread, policy })
            }
        }
    }

    /// Ends the child. Later requests get an error.
    pub(crate) fn close(&self) {
        if let Self::ByKeeper(keeper) = self {
            let keeper = keeper.lock().unwrap_or_else(PoisonError::into_inner).take();
            let Some(Keeper {
                mut child, input, ..
            }) = keeper
            else {
                return;
            };
            drop(input);
            // Its input has ended, and so does it; if not, it dies with this process.
            let _ = child.wait();
        }
    }
}

impl Keeper {
    fn start() -> io::Result<Self> {
        let mut child = Command::new("/proc/self/exe")
            .args(["internal", VERB])
            .arg(std::process::id().to_string())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let (input, output) = (child.stdin.take(), child.stdout.take());
        Ok(Self {
            child,
            input: input.expect("the input is piped"),
            output: BufReader::new(output.expect("the output is piped")),
        })
    }

    fn set(&mut self, wish: &Wish) -> io::Result<()> {
        writeln!(self.input, "{}", serde_json::to_string(wish)?)?;
        let mut answer = String::new();
        self.output.read_line(&mut answer)?;
        match answer.trim().parse() {
            Ok(0) => Ok(()),
            Ok(error) => Err(io::Error::from_raw_os_error(error)),
            Err(_) => Err(io::ErrorKind::BrokenPipe.into()),
        }
    }
}

/// Runs the child: sets requested policies until its input ends.
///
/// # Errors
/// If the parent is gone, or a request is invalid.
pub fn keep_for(
    parent: i32,
    input: impl BufRead,
    mut output: impl Write,
) -> Result<(), Box<dyn std::error::Error>> {
    if !crate::die_with(parent) {
        return Err("the loop's process is gone".into());
    }
    for line in input.lines() {
        let wish: Wish = serde_json::from_slice(line?.as_bytes())?;
        let task = format!("/proc/{parent}/task/{}", wish.thread);
        let error = if Path::new(&task).exists() {
            attributes::set(wish.thread, wish.policy)
                .err()
                .map_or(0, |error| error.raw_os_error().unwrap_or(libc::EIO))
        } else {
            libc::ESRCH
        };
        writeln!(output, "{error}")?;
        output.flush()?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_threads_of_the_parent_are_served() {
        let parent = rustix::process::getppid().unwrap().as_raw_nonzero().get();
        let own = rustix::thread::gettid().as_raw_nonzero().get();
        let wish = |thread| {
            let policy = Policy::Other { nice: 0 };
            serde_json::to_string(&Wish { thread, policy }).unwrap()
        };
        let mut answers = Vec::new();
        // The test's own thread does not belong to the parent.
        keep_for(parent, wish(own).as_bytes(), &mut answers).unwrap();
        assert_eq!(
            String::from_utf8(answers).unwrap(),
            "3\n",
            "no such process"
        );
    }

    #[test]
    fn without_foreign_code_nothing_is_given_up_and_nobody_is_asked() {
        let policies = Policies::before_threads(false).unwrap();
        assert!(matches!(policies, Policies::ByItself));
        std::thread::scope(|scope| {
            let set = scope.spawn(|| {
                policies.set(Policy::Batch { nice: 3 })?;
                attributes::get(0)
            });
            assert_eq!(set.join().unwrap().unwrap(), Policy::Batch { nice: 3 });
        });
    }
}
