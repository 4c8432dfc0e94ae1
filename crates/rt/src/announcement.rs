//! Words that the user's loop and its recorder exchange, in addition to the loop's ring.
//!
//! They hold who the loop is, when it can begin and end, and why it ended. Readers trust none of
//! them: they are plain numbers that a program can set to anything.

use crate::said::{MOST_FORMATS, SharedFormat, Style};
use crate::sections::{self, SectionTimes, SharedSection};
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use wakepath_timeline::{Overrun, Policy};

/// Stored bytes of a loop's name.
pub const NAME_BYTES: usize = 32;

/// State of a loop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u32)]
pub enum State {
    /// No loop has this ring.
    Free = 0,
    /// A loop is filling in its description.
    Claimed = 1,
    /// It is ready and waits for the start.
    Ready = 2,
    /// It runs.
    Running = 3,
    /// It has ended.
    Ended = 4,
}

impl State {
    fn new(number: u32) -> Self {
        match number {
            0 => Self::Free,
            1 => Self::Claimed,
            2 => Self::Ready,
            3 => Self::Running,
            // Only a broken program writes another number.
            _ => Self::Ended,
        }
    }
}

/// Why a loop ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u32)]
pub enum Left {
    /// Not given.
    Unsaid = 0,
    /// All its cycles have run.
    AllCycles = 1,
    /// The recorder asked it to.
    Stopped = 2,
    /// Its program gave it up before its last cycle.
    GivenUp = 3,
    /// It was set to stop at its first overrun, and had one.
    Overrun = 4,
}

/// Next to each ring.
#[repr(C, align(128))]
#[derive(Debug, Default)]
pub struct Announcement {
    state: AtomicU32,
    left: AtomicU32,
    thread_id: AtomicU32,
    /// Behaviour after an overrun. Zero in older layouts, whose libraries always skip.
    overrun: AtomicU32,
    period_ns: AtomicU64,
    timer_slack_ns: AtomicU64,
    first_judged_cycle: AtomicU64,
    end_cycle: AtomicU64,
    minor_faults: AtomicU64,
    major_faults: AtomicU64,
    name: Name,
    pub(crate) sections: [SharedSection; sections::MOST],
    /// Sections declared beyond the limit.
    pub(crate) sections_beyond: AtomicU32,
    /// Formats rejected: too many, or with arguments that can't be copied.
    pub(crate) formats_beyond: AtomicU32,
    /// Not 0: an external clock determines when its cycles are due.
    foreign_clock: AtomicU32,
    /// Its policy on a real-time core. Zero in older layouts, whose libraries are on none.
    core: AtomicU32,
    pub(crate) formats: SharedFormats,
}

/// The formats of its lines.
#[repr(transparent)]
#[derive(Debug)]
pub(crate) struct SharedFormats(pub(crate) [SharedFormat; MOST_FORMATS]);

impl Default for SharedFormats {
    fn default() -> Self {
        Self(std::array::from_fn(|_| SharedFormat::default()))
    }
}

/// A loop's description of itself before it begins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Announced {
    /// Its name, cut to [`NAME_BYTES`].
    pub name: String,
    /// The kernel's number of its thread.
    pub thread_id: u32,
    /// Its period in nanoseconds.
    pub period_ns: u64,
    /// Its thread's timer slack in nanoseconds, which other processes can't read without rights.
    pub timer_slack_ns: u64,
    /// Whether an external clock determines when its cycles are due.
    pub foreign_clock: bool,
    /// Behaviour when its work runs into the next due time.
    pub overrun: Overrun,
    /// The policy that its thread has on EVL or Cobalt, which Linux does not know.
    pub on_a_core: Option<Policy>,
}

fn number_of(overrun: Overrun) -> u32 {
    match overrun {
        Overrun::Skip => 0,
        Overrun::CatchUp => 1,
        Overrun::Stop => 2,
    }
}

fn overrun_of(number: u32) -> Overrun {
    match number {
        1 => Overrun::CatchUp,
        2 => Overrun::Stop,
        // And a number that nobody writes.
        _ => Overrun::Skip,
    }
}

/// A priority there has eight bits.
const EVL: u32 = 1 << 8;
const COBALT: u32 = 2 << 8;

fn number_of_a_core(policy: Option<Policy>) -> u32 {
    match policy {
        Some(Policy::EvlFifo { priority }) => EVL | u32::from(priority),
        Some(Policy::CobaltFifo { priority }) => COBALT | u32::from(priority),
        // Linux itself shows threads of LITMUS^RT.
        _ => 0,
    }
}

fn policy_on_a_core(number: u32) -> Option<Policy> {
    let priority = number.to_le_bytes()[0];
    match number & !0xff {
        EVL => Some(Policy::EvlFifo { priority }),
        COBALT => Some(Policy::CobaltFifo { priority }),
        _ => None,
    }
}

impl Announcement {
    /// For the recorder: keeps the ring for the loop of this name. Before its program is started.
    pub fn keep_for(&self, name: &str) {
        write_name(&self.name, name);
    }

    /// Takes the ring for a loop of this name, if nobody has and it is kept for no other.
    pub(crate) fn claim(&self, name: &str) -> bool {
        let kept_for = read_name(&self.name);
        if !kept_for.is_empty() && kept_for != cut(name) {
            return false;
        }
        let (free, claimed) = (State::Free as u32, State::Claimed as u32);
        let order = (Ordering::AcqRel, Ordering::Relaxed);
        let taken = self.state.compare_exchange(free, claimed, order.0, order.1);
        taken.is_ok()
    }

    /// Publishes the loop's description, and that it is ready.
    pub(crate) fn announce(&self, announced: &Announced) {
        write_name(&self.name, &announced.name);
        self.thread_id.store(announced.thread_id, Ordering::Relaxed);
        self.period_ns.store(announced.period_ns, Ordering::Relaxed);
        self.timer_slack_ns
            .store(announced.timer_slack_ns, Ordering::Relaxed);
        self.foreign_clock
            .store(announced.foreign_clock.into(), Ordering::Relaxed);
        self.overrun
            .store(number_of(announced.overrun), Ordering::Relaxed);
        self.core
            .store(number_of_a_core(announced.on_a_core), Ordering::Relaxed);
        self.state.store(State::Ready as u32, Ordering::Release);
    }

    /// For tests of a recorder: takes the ring like a loop that begins immediately.
    #[doc(hidden)]
    pub fn stand_in(&self, announced: &Announced) -> bool {
        let taken = self.claim(&announced.name);
        if taken {
            self.announce(announced);
            self.run();
        }
        taken
    }

    /// The loop's description; `None` if there is no loop.
    pub fn announced(&self) -> Option<Announced> {
        if matches!(self.state(), State::Free | State::Claimed) {
            return None;
        }
        Some(Announced {
            name: read_name(&self.name),
            timer_slack_ns: self.timer_slack_ns.load(Ordering::Relaxed),
            thread_id: self.thread_id.load(Ordering::Relaxed),
            period_ns: self.period_ns.load(Ordering::Relaxed),
            foreign_clock: self.foreign_clock.load(Ordering::Relaxed) != 0,
            overrun: overrun_of(self.overrun.load(Ordering::Relaxed)),
            on_a_core: policy_on_a_core(self.core.load(Ordering::Relaxed)),
        })
    }

    /// State of its loop.
    pub fn state(&self) -> State {
        State::new(self.state.load(Ordering::Acquire))
    }

    /// For the recorder: sets the first judged cycle and the cycle after the last one. Call before
    /// the start.
    pub fn plan(&self, first_judged_cycle: u64, end_cycle: u64) {
        self.first_judged_cycle
            .store(first_judged_cycle, Ordering::Relaxed);
        self.end_cycle.store(end_cycle, Ordering::Release);
    }

    pub(crate) fn first_judged_cycle(&self) -> u64 {
        self.first_judged_cycle.load(Ordering::Relaxed)
    }

    pub(crate) fn end_cycle(&self) -> u64 {
        self.end_cycle.load(Ordering::Acquire)
    }

    pub(crate) fn run(&self) {
        self.state.store(State::Running as u32, Ordering::Release);
    }

    pub(crate) fn end(&self, left: Left, faults: crate::PageFaults) {
        self.left.store(left as u32, Ordering::Relaxed);
        self.minor_faults.store(faults.minor, Ordering::Relaxed);
        self.major_faults.store(faults.major, Ordering::Relaxed);
        self.state.store(State::Ended as u32, Ordering::Release);
    }

    /// Why its loop ended, and its page faults after the warm-up.
    pub fn left(&self) -> (Left, crate::PageFaults) {
        let left = match self.left.load(Ordering::Relaxed) {
            1 => Left::AllCycles,
            2 => Left::Stopped,
            3 => Left::GivenUp,
            4 => Left::Overrun,
            _ => Left::Unsaid,
        };
        let faults = crate::PageFaults {
            minor: self.minor_faults.load(Ordering::Relaxed),
            major: self.major_faults.load(Ordering::Relaxed),
        };
        (left, faults)
    }

    /// Times of its sections after the warm-up.
    pub fn sections(&self) -> Vec<SectionTimes> {
        self.sections
            .iter()
            .filter_map(SharedSection::read)
            .collect()
    }

    /// Names of the sections whose bit is set in `running`.
    pub(crate) fn sections_of(&self, running: u32) -> Vec<String> {
        let sections = self.sections.iter().enumerate();
        sections
            .filter(|(at, _)| running & (1 << at) != 0)
            .filter_map(|(_, section)| Some(section.read()?.name))
            .collect()
    }

    /// Number of sections declared beyond the limit, and of rejected formats.
    pub fn beyond(&self) -> (u32, u32) {
        let load = |from: &AtomicU32| from.load(Ordering::Relaxed);
        (load(&self.sections_beyond), load(&self.formats_beyond))
    }

    /// A format of its lines, or the name of one of its values.
    pub fn format(&self, number: u16) -> Option<(Style, String)> {
        self.formats.0.get(usize::from(number))?.read()
    }

    pub(crate) fn reset(&self) {
        self.reset_to(0);
    }

    /// As [`Self::reset`], with the end of the next loop.
    pub(crate) fn reset_to(&self, end_cycle: u64) {
        self.plan(0, end_cycle);
        write_name(&self.name, "");
        for count in [
            &self.sections_beyond,
            &self.formats_beyond,
            &self.foreign_clock,
            &self.overrun,
            &self.core,
        ] {
            count.store(0, Ordering::Relaxed);
        }
        self.formats.0.iter().for_each(SharedFormat::reset);
        self.sections.iter().for_each(SharedSection::reset);
        self.left.store(0, Ordering::Relaxed);
        self.state.store(State::Free as u32, Ordering::Release);
    }
}

type Name = [AtomicU64; NAME_BYTES / 8];

/// Writes a name, cut to its room.
pub(crate) fn write_name(place: &Name, name: &str) {
    let mut bytes = [0; NAME_BYTES];
    let name = cut(name);
    bytes[..name.len()].copy_from_slice(name.as_bytes());
    for (word, bytes) in place.iter().zip(bytes.as_chunks::<8>().0) {
        word.store(u64::from_le_bytes(*bytes), Ordering::Relaxed);
    }
}

/// Reads a name; empty if none was written.
pub(crate) fn read_name(place: &Name) -> String {
    let words = place.iter().map(|word| word.load(Ordering::Relaxed));
    let bytes: Vec<u8> = words
        .flat_map(u64::to_le_bytes)
        .take_while(|&byte| byte != 0)
        .collect();
    wakepath_timeline::decoded(&bytes).into_owned()
}

/// The name within [`NAME_BYTES`], in whole characters.
pub(crate) fn cut(name: &str) -> &str {
    &name[..name.floor_char_boundary(NAME_BYTES)]
}

#[cfg(test)]
mod tests;
