//! Whether the backend shows what it must: a thread that sleeps again and again, and for each sleep
//! timer → waking → switch. Backends have been seen that drop some of them silently.

use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use wakepath_rt::{affinity, clock};
use wakepath_timeline::{KernelEvent, ThreadName, What};

use crate::error::{ProbeError, Result};
use crate::source::{EventSource, Found};
use crate::stream::Decoder;

/// Sleeps on each CPU.
const SLEEPS: usize = 20;
const SLEEP: Duration = Duration::from_millis(1);
/// Name of the sleeping thread: numbers differ if this process is in a PID namespace.
const NAME: &str = "wakepath-test";

/// The self-test's result on one CPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct SelfTest {
    /// The CPU.
    pub cpu: u16,
    /// Sleeps.
    pub sleeps: u32,
    /// Sleeps that show all three.
    pub complete: u32,
    /// Sleeps without a timer's expiry.
    pub without_expiry: u32,
    /// Sleeps with an expiry and without a waking.
    pub without_waking: u32,
    /// Sleeps with both and without a switch to the thread.
    pub without_switch: u32,
}

impl SelfTest {
    /// Whether every sleep showed its whole path.
    pub fn passed(&self) -> bool {
        self.complete == self.sleeps && self.sleeps > 0
    }

    /// Lets a thread sleep on a CPU of the source and looks for its wake-ups.
    ///
    /// # Errors
    /// [`ProbeError::Io`].
    pub fn run(source: &dyn EventSource, decoder: &mut Decoder, cpu: u16) -> Result<Self> {
        source.start_without_marks()?;
        let sleeper = std::thread::Builder::new().name(NAME.into()).spawn(
            move || -> std::io::Result<Vec<(u64, u64)>> {
                affinity::pin(&[cpu])?;
                Ok((0..SLEEPS)
                    .map(|_| {
                        let before_ns = clock::monotonic_ns();
                        std::thread::sleep(SLEEP);
                        (before_ns, clock::monotonic_ns())
                    })
                    .collect())
            },
        );
        let slept = sleeper.and_then(|thread| {
            let panicked = |_| std::io::Error::other("the sleeping thread panicked");
            thread.join().map_err(panicked)?
        });
        source.stop()?;
        let slept = slept.map_err(ProbeError::io("run the self-test of", source.place()))?;
        let events = read_all(source, decoder, cpu)?;
        let mut found = complete_paths(&events, ThreadName::new(NAME.as_bytes()), &slept);
        found.cpu = cpu;
        Ok(found)
    }
}

fn read_all(source: &dyn EventSource, decoder: &mut Decoder, cpu: u16) -> Result<Vec<KernelEvent>> {
    let mut events = Vec::new();
    source.buffer(cpu)?.take(&mut |found| {
        if let Found::Record(record) = found {
            decoder.decode(&record, cpu, |event| events.push(event));
        }
        Ok(())
    })?;
    Ok(events)
}

/// Looks for the path of each sleep (from, to, in nanoseconds on `CLOCK_MONOTONIC`) of a thread in
/// the events of its CPU: expiry, then waking, then the switch to it. Pure.
pub fn complete_paths(
    events: &[KernelEvent],
    thread: ThreadName,
    sleeps: &[(u64, u64)],
) -> SelfTest {
    let mut found = SelfTest {
        sleeps: sleeps.len() as u32,
        ..SelfTest::default()
    };
    for &(from_ns, to_ns) in sleeps {
        let first = events.partition_point(|event| event.at_ns < from_ns);
        let end = events.partition_point(|event| event.at_ns <= to_ns);
        let mut sleep = events.get(first..end).unwrap_or_default().iter();
        // The thread is woken by the last expiry before its waking; any before will do.
        let expiry = sleep.any(|event| matches!(event.what, What::TimerExpiryEntry { .. }));
        let waking = sleep.any(
            |event| matches!(&event.what, What::Waking { thread: woken, .. } if woken.name == thread),
        );
        let switch = sleep
            .any(|event| matches!(&event.what, What::Switch { next, .. } if next.name == thread));
        match (expiry, waking, switch) {
            (true, true, true) => found.complete += 1,
            (false, ..) => found.without_expiry += 1,
            (_, false, _) => found.without_waking += 1,
            _ => found.without_switch += 1,
        }
    }
    found
}

/// One line: the steps that were seen, and those that were not.
impl fmt::Display for SelfTest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            cpu,
            sleeps,
            complete,
            ..
        } = self;
        write!(
            f,
            "CPU {cpu}: {complete} of {sleeps} sleeps show timer, waking and switch"
        )?;
        let lacking = [
            (self.without_expiry, "no timer expiry"),
            (self.without_waking, "no waking"),
            (self.without_switch, "no switch to the thread"),
        ];
        for (count, what) in lacking.iter().filter(|(count, _)| *count > 0) {
            write!(f, "; {count} show {what}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wakepath_timeline::{Left, Thread};

    fn thread(name: &str) -> Thread {
        Thread {
            id: 9,
            name: ThreadName::new(name.as_bytes()),
            priority: 120,
        }
    }

    fn event(at_ns: u64, what: What) -> KernelEvent {
        KernelEvent {
            at_ns,
            cpu: 0,
            current: 0,
            what,
        }
    }

    fn expiry() -> What {
        What::TimerExpiryEntry {
            timer: 1,
            function: "hrtimer_wakeup".into(),
        }
    }

    fn waking(name: &str) -> What {
        What::Waking {
            thread: thread(name),
            target_cpu: 0,
        }
    }

    fn switch(name: &str) -> What {
        What::Switch {
            previous: thread("swapper"),
            left: Left::Runnable,
            next: thread(name),
        }
    }

    #[test]
    fn what_a_sleep_lacks_is_named() {
        let events = [
            event(10, expiry()),
            event(11, waking("me")),
            event(12, switch("me")),
            // The second sleep: another thread is woken.
            event(30, expiry()),
            event(31, waking("other")),
            event(32, switch("other")),
            // The third: no timer, as on a backend that loses what happens in idle.
            event(51, waking("me")),
            event(52, switch("me")),
            // The fourth: no switch.
            event(70, expiry()),
            event(71, waking("me")),
        ];
        let sleeps = [(5, 15), (25, 35), (45, 55), (65, 75)];
        let found = complete_paths(&events, ThreadName::new(b"me"), &sleeps);
        assert!(!found.passed());
        assert_eq!(
            found.to_string(),
            "CPU 0: 1 of 4 sleeps show timer, waking and switch; 1 show no timer expiry; \
             1 show no waking; 1 show no switch to the thread"
        );
    }
}
