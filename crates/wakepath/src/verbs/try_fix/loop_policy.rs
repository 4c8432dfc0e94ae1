//! A policy for the loop's thread alone: another thread of its program may be what makes it late.

use rustix::io::Errno;
use std::collections::BTreeSet;
use std::io;
use wakepath_archive::watch::Threads;
use wakepath_measure::watch::Target;
use wakepath_rt::attributes;
use wakepath_timeline::{Policy, plain_name};

/// Once a thread has it, only each fiftieth look reads `/proc`, which costs milliseconds of a CPU.
const LOOKS_PER_SEARCH: u32 = 50;

/// The threads of one turn, given the policy as soon as they have the loop's name.
pub struct LoopPolicy {
    name: String,
    policy: Policy,
    target: Target,
    threads: Threads,
    given: BTreeSet<u32>,
    looks: u32,
}

impl LoopPolicy {
    /// For threads of this name that the process starts, or one that it starts.
    pub fn new(process: u32, name: &str, policy: Policy) -> Self {
        Self {
            name: name.to_owned(),
            policy,
            target: Target::processes(&[process]),
            threads: Threads::default(),
            given: BTreeSet::new(),
            looks: 0,
        }
    }

    /// Looks for the threads, and gives them the policy. Threads that they start begin as OTHER.
    ///
    /// # Errors
    /// The kernel's refusal.
    pub fn look(&mut self) -> io::Result<()> {
        self.looks += 1;
        if !self.given.is_empty() && !self.looks.is_multiple_of(LOOKS_PER_SEARCH) {
            return Ok(());
        }
        self.target.look(&mut self.threads, self.looks == 1);
        for (number, thread) in &self.threads {
            if thread.ended || plain_name(&thread.name) != self.name || self.given.contains(number)
            {
                continue;
            }
            let tid = number.cast_signed();
            match attributes::set(tid, self.policy).and_then(|()| attributes::reset_on_fork(tid)) {
                // It has just ended.
                Err(error) if error.raw_os_error() == Some(Errno::SRCH.raw_os_error()) => {}
                Err(error) => return Err(error),
                Ok(()) => {
                    self.given.insert(*number);
                }
            }
        }
        Ok(())
    }

    /// Whether a thread got the policy.
    pub fn was_given(&self) -> bool {
        !self.given.is_empty()
    }
}
