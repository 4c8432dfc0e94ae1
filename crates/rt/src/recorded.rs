//! A loop of the user's own whose samples `wakepath record` writes down. Where no recorder started the
//! program, the same loop runs all the same, and nobody writes. It prepares no thread: that is
//! [`crate::Preparation`]'s, before.

#![allow(unsafe_code)] // The writer's promise to be the only one, and an inherited descriptor.

use crate::announcement::{Announced, Left};
use crate::ring::Writer;
use crate::sections::{Section, Timed};
use crate::shared::SharedMemory;
use crate::{Accounting, Activation, Cycles, PageFaults, WaitError, WorkOutcome, clock};
use rustix::fd::BorrowedFd;
use rustix::io::FdFlags;
use std::sync::OnceLock;
use std::sync::atomic::Ordering;
use std::time::Duration;
use wakepath_timeline::{DueTimes, Overrun, WakeUp};

/// The variable by which a recorder tells the number of the inherited descriptor of its memory.
pub const VARIABLE: &str = "WAKEPATH_RECORDING";

/// From a loop's making to its first due time, where nobody records: time to reach its first wait.
const LEAD_NS: u64 = 10_000_000;
/// Between two looks for the beginning.
const LOOK: Duration = Duration::from_millis(1);

/// A periodic loop, recorded where a recorder started this program.
///
/// ```no_run
/// use std::time::Duration;
/// use wakepath_rt::{Loop, Preparation};
///
/// Preparation::default().apply()?;
/// let mut cycles = Loop::new("attitude", Duration::from_millis(4))?;
/// while let Some(activation) = cycles.wait() {
///     // … read, compute, write …
///     cycles.finish(activation);
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// Under `wakepath record` it ends after as many cycles as the recording has; without a recorder it
/// never does. [`Loop::wait`] and [`Loop::finish`] allocate nothing, take no lock and make no system
/// call but the sleep and the clock.
pub struct Loop {
    cycles: Cycles,
    period: Duration,
    recorded: Option<Recorded>,
}

/// Its side of the recorder's memory.
struct Recorded {
    memory: &'static SharedMemory,
    ring: u32,
    writer: Writer<'static>,
    first_judged_cycle: u64,
    end_cycle: u64,
    /// Due times that were passed over before the cycle under way.
    skipped: u64,
    faults: PageFaults,
    timed: Timed,
    has_ended: bool,
}

/// Why there is no loop.
#[derive(Debug, thiserror::Error)]
pub enum LoopError {
    /// A period that no loop has.
    #[error("a period of {0:?} is no loop's; give 10 µs to 10 s")]
    Period(Duration),
    /// Without a name it could not be told from others.
    #[error("a loop has a name of 1 to 32 bytes without control characters, not {0:?}")]
    Name(String),
    /// The timer that wakes it can't be had.
    #[error(transparent)]
    Wait(#[from] WaitError),
}

impl Loop {
    /// A loop of this name and period, on the thread that calls this and no other. Where a recorder
    /// started this program, it says that it is ready and waits until the recording begins: have
    /// memory, CPUs and policy before.
    ///
    /// # Errors
    /// When name or period are none of a loop, or its timer can't be had.
    pub fn new(name: &str, period: Duration) -> Result<Self, LoopError> {
        let period_ns = u64::try_from(period.as_nanos()).unwrap_or(u64::MAX);
        if !(10_000..=10_000_000_000).contains(&period_ns) {
            return Err(LoopError::Period(period));
        }
        let is_named = (1..=crate::announcement::NAME_BYTES).contains(&name.len());
        if !is_named || name.contains(char::is_control) {
            return Err(LoopError::Name(name.into()));
        }
        let place = recorder().and_then(|memory| {
            let ring = (0..memory.threads()).find(|&ring| memory.announcement(ring).claim(name));
            if ring.is_none() {
                memory.words().unrecorded.fetch_add(1, Ordering::Relaxed);
            }
            Some((memory, ring?))
        });
        let (start_ns, recorded) = match place {
            None => (clock::monotonic_ns() + LEAD_NS, None),
            Some((memory, ring)) => begin(memory, ring, name, period_ns),
        };
        let due = DueTimes {
            start_ns,
            period_ns,
        };
        let first_judged = recorded.as_ref().map_or(0, |of| of.first_judged_cycle);
        let cycles = Cycles::with(
            due,
            WakeUp::default(),
            Overrun::default(),
            Accounting::default(),
            first_judged,
        );
        Ok(Self {
            cycles: cycles?,
            period,
            recorded,
        })
    }

    /// Waits for the next due time. `None` when the recording is over, and the program should end.
    #[inline]
    pub fn wait(&mut self) -> Option<Activation> {
        if let Some(recorded) = &mut self.recorded {
            let next = self.cycles.next_cycle();
            let left = if next >= recorded.end_cycle {
                // The last cycle may have passed over due times that were never to be served.
                let beyond = next - recorded.end_cycle;
                let skipped = self.cycles.skipped().saturating_sub(beyond);
                recorded.writer.note_skipped(skipped);
                Some(Left::AllCycles)
            } else {
                let stop = recorded.memory.words().stop.load(Ordering::Relaxed);
                (stop != 0).then_some(Left::Stopped)
            };
            if let Some(left) = left {
                recorded.end(left);
                return None;
            }
            recorded.skipped = self.cycles.skipped();
        }
        self.cycles.wait()
    }

    /// Ends a cycle: its sample is on its way to the recorder.
    #[inline]
    pub fn finish(&mut self, activation: Activation) {
        self.finish_with(activation, WorkOutcome::default());
    }

    /// As [`Loop::finish`], with what the work says of itself.
    #[inline]
    pub fn finish_with(&mut self, activation: Activation, outcome: WorkOutcome) {
        let sample = self.cycles.finish_with(activation, outcome);
        if let Some(recorded) = &mut self.recorded {
            recorded.writer.note_skipped(recorded.skipped);
            recorded.writer.push(sample);
            if sample.cycle < recorded.first_judged_cycle
                && self.cycles.next_cycle() >= recorded.first_judged_cycle
            {
                recorded.faults = PageFaults::of_this_thread();
                recorded.timed.forget();
            }
        }
    }

    /// A part of the cycle that is timed from now on, with the longest that it should take, if there is
    /// such a time. The same name is the same section; beyond [`crate::sections::MOST`] of them, and where
    /// nobody records, nothing is timed. Before the first cycle: it takes longer than a section itself.
    pub fn section(&mut self, name: &str, budget: Option<Duration>) -> Section {
        let budget_ns = budget.map_or(0, |budget| budget.as_nanos().try_into().unwrap_or(u64::MAX));
        match &mut self.recorded {
            Some(recorded) => recorded.timed.declare(name, budget_ns),
            None => Section::NONE,
        }
    }

    /// A section begins. Sections may lie within each other.
    #[inline]
    pub fn begin(&mut self, section: Section) {
        if let Some(recorded) = &mut self.recorded {
            recorded.timed.begin(section);
        }
    }

    /// A section ends. One that was not begun is counted and said in the run.
    #[inline]
    pub fn end(&mut self, section: Section) {
        if let Some(recorded) = &mut self.recorded {
            recorded.timed.end(section);
        }
    }

    /// Times a part of the cycle.
    #[inline]
    pub fn time<R>(&mut self, section: Section, part: impl FnOnce() -> R) -> R {
        self.begin(section);
        let result = part();
        self.end(section);
        result
    }

    /// Whether a recorder has its samples.
    pub fn is_recorded(&self) -> bool {
        self.recorded.is_some()
    }

    /// Its period.
    pub fn period(&self) -> Duration {
        self.period
    }

    /// Due times at which no cycle ran.
    pub fn skipped(&self) -> u64 {
        self.cycles.skipped()
    }
}

impl Drop for Loop {
    fn drop(&mut self) {
        if let Some(recorded) = &mut self.recorded {
            recorded.end(Left::GivenUp);
        }
    }
}

impl Recorded {
    fn end(&mut self, left: Left) {
        if !std::mem::replace(&mut self.has_ended, true) {
            let faults = PageFaults::of_this_thread().since(self.faults);
            self.memory.announcement(self.ring).end(left, faults);
        }
    }
}

/// The memory of the recorder that started this program, if one did. Its descriptor is closed to the
/// programs that this one starts from then on: another program's loops are not this one's.
fn recorder() -> Option<&'static SharedMemory> {
    static MEMORY: OnceLock<Option<SharedMemory>> = OnceLock::new();
    let memory = MEMORY.get_or_init(|| {
        let number = std::env::var(VARIABLE).ok()?.parse::<i32>().ok()?;
        let file = std::fs::File::options()
            .read(true)
            .write(true)
            .open(format!("/proc/self/fd/{number}"))
            .ok()?;
        // A descriptor of something else, where a program in between has closed the recorder's.
        let memory = SharedMemory::open(file.into()).ok()?;
        // SAFETY: it is open: the recorder's memory was opened through it just now.
        let inherited = unsafe { BorrowedFd::borrow_raw(number) };
        // Where it stays open, a child's loop would ask for a ring and find none left.
        let _ = rustix::io::fcntl_setfd(inherited, FdFlags::CLOEXEC);
        Some(memory)
    });
    memory.as_ref()
}

/// Says that the loop is ready, and waits for the beginning; its first due time. One that comes when
/// the others have begun is not recorded.
fn begin(
    memory: &'static SharedMemory,
    ring: u32,
    name: &str,
    period_ns: u64,
) -> (u64, Option<Recorded>) {
    let announcement = memory.announcement(ring);
    let words = memory.words();
    let begun = words.go.load(Ordering::Acquire) != 0;
    announcement.announce(&Announced {
        name: name.into(),
        thread_id: rustix::thread::gettid()
            .as_raw_nonzero()
            .get()
            .unsigned_abs(),
        period_ns,
        timer_slack_ns: crate::timer_slack::current_ns().unwrap_or(0),
    });
    while words.go.load(Ordering::Acquire) == 0 && words.stop.load(Ordering::Acquire) == 0 {
        std::thread::sleep(LOOK);
    }
    let (start_ns, end_cycle) = (
        words.start_ns.load(Ordering::Relaxed),
        announcement.end_cycle(),
    );
    let is_stopped = words.stop.load(Ordering::Acquire) != 0;
    if !is_stopped && (begun || end_cycle == 0) {
        words.unrecorded.fetch_add(1, Ordering::Relaxed);
        announcement.end(Left::Unsaid, PageFaults::default());
        return (clock::monotonic_ns() + LEAD_NS, None);
    }
    announcement.run();
    let recorded = Recorded {
        memory,
        ring,
        // SAFETY: the ring was claimed for this loop, which is the only one to write there; the
        // recorder resets it only when no program of the user's is there.
        writer: unsafe { memory.writer(ring) },
        first_judged_cycle: announcement.first_judged_cycle(),
        end_cycle,
        skipped: 0,
        faults: PageFaults::of_this_thread(),
        timed: Timed::new(&announcement.sections),
        has_ended: false,
    };
    (start_ns, Some(recorded))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_loop_without_a_recorder_runs_and_is_not_recorded() {
        let mut cycles = Loop::new("alone", Duration::from_millis(1)).unwrap();
        assert!(!cycles.is_recorded());
        for number in 0..5 {
            let activation = cycles.wait().unwrap();
            assert!(activation.cycle >= number);
            cycles.finish(activation);
        }
    }

    #[test]
    fn what_is_no_name_or_no_period_is_refused() {
        for name in ["", "two\nlines", &"x".repeat(33)] {
            let error = Loop::new(name, Duration::from_millis(1)).err().unwrap();
            assert!(matches!(error, LoopError::Name(_)), "{error}");
        }
        for period in [Duration::ZERO, Duration::from_secs(11)] {
            let error = Loop::new("loop", period).err().unwrap();
            assert!(matches!(error, LoopError::Period(_)), "{error}");
        }
    }

    /// A recorder's side, played by the test, in this process.
    fn recorded(memory: &'static SharedMemory, end_cycle: u64) -> (Left, Vec<u64>) {
        let theirs = std::thread::spawn(move || {
            let ring = (0..memory.threads())
                .find(|&ring| memory.announcement(ring).claim("inner"))
                .unwrap();
            let (start_ns, recorded) = begin(memory, ring, "inner", 1_000_000);
            let due = DueTimes {
                start_ns,
                period_ns: 1_000_000,
            };
            let mut cycles = Loop {
                cycles: Cycles::new(due).unwrap(),
                period: Duration::from_millis(1),
                recorded,
            };
            while let Some(activation) = cycles.wait() {
                cycles.finish(activation);
            }
        });
        let announcement = memory.announcement(0);
        let announced = loop {
            match announcement.announced() {
                Some(announced) => break announced,
                None => std::thread::sleep(LOOK),
            }
        };
        assert_eq!(
            (announced.name.as_str(), announced.period_ns),
            ("inner", 1_000_000)
        );
        announcement.plan(0, end_cycle);
        let words = memory.words();
        words
            .start_ns
            .store(clock::monotonic_ns() + LEAD_NS, Ordering::Relaxed);
        match end_cycle {
            // Asked for nothing: told to stop before the beginning.
            0 => words.stop.store(1, Ordering::Release),
            _ => words.go.store(1, Ordering::Release),
        }
        theirs.join().unwrap();
        let mut samples = Vec::new();
        // SAFETY: the only reader of this ring.
        unsafe { memory.reader(0) }.take(&mut samples, usize::MAX);
        assert_eq!(
            samples.len() as u64 + memory.indices(0).skipped(),
            end_cycle,
            "every due time is accounted for"
        );
        let cycles = samples.iter().map(|sample| sample.cycle).collect();
        (announcement.left().0, cycles)
    }

    fn memory() -> &'static SharedMemory {
        Box::leak(Box::new(SharedMemory::create(2, 64).unwrap()))
    }

    #[test]
    fn a_recorded_loop_begins_when_told_and_ends_after_its_last_cycle() {
        let (left, cycles) = recorded(memory(), 20);
        assert_eq!(left, Left::AllCycles);
        assert!(cycles.is_sorted() && cycles.iter().all(|&cycle| cycle < 20));
    }

    #[test]
    fn a_loop_that_is_only_asked_who_it_is_runs_no_cycle() {
        let (left, cycles) = recorded(memory(), 0);
        assert_eq!(cycles, [0; 0]);
        assert!(matches!(left, Left::AllCycles | Left::Stopped));
    }
}
