//! A loop's side of the recorder's memory: finds, joins, begins and ends.
//!
//! It doesn't know cycles or due times.

#![allow(unsafe_code)] // The writer's promise to be the only one, and an inherited descriptor.

use super::owner::Owner;
use super::{AS_THEY_COME, LEAD_NS, LOOK, VARIABLE, Wakes};
use crate::announcement::{Announced, Left};
use crate::ring::Writer;
use crate::said::{self, Formats};
use crate::sections::{Section, Timed};
use crate::shared::{LoopLine, SharedMemory};
use crate::{PageFaults, ahead, clock};
use rustix::fd::BorrowedFd;
use rustix::io::FdFlags;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicPtr, Ordering};

/// Its side of the recorder's memory.
pub(super) struct Recorded {
    pub(super) memory: &'static SharedMemory,
    /// Data that the loop touches in each cycle.
    pub(super) line: &'static LoopLine,
    pub(super) ring: u32,
    pub(super) writer: Writer<'static>,
    pub(super) first_judged_cycle: u64,
    pub(super) end_cycle: u64,
    /// Due times that were passed over before the cycle under way.
    pub(super) skipped: u64,
    pub(super) faults: PageFaults,
    pub(super) timed: Timed,
    pub(super) said: said::Writer<'static>,
    pub(super) formats: Formats,
    /// The process that created the loop: a child that it forks has a copy, which is not the loop.
    pub(super) owner: Owner,
    /// The segment that the loop is of: the memory of the next one is another program's.
    pub(super) generation: u32,
    /// Whether it has already reported that it runs in a forked child.
    pub(super) is_given_up: bool,
    /// The cycle under way, or the last one.
    pub(super) cycle: u64,
    pub(super) has_ended: bool,
}

impl Recorded {
    /// Whether this process is still allowed to write the loop's part of the shared memory.
    #[inline]
    pub(super) fn is_ours(&self) -> bool {
        self.owner.is_here() && self.line.generation.load(Ordering::Relaxed) == self.generation
    }

    /// Asks for the memory that this cycle will write.
    #[inline]
    pub(super) fn ask_ahead(&self) {
        self.owner.ask_ahead();
        ahead::ask_for(self.line);
        self.said.ask_ahead();
        self.timed.ask_ahead();
        self.formats.ask_ahead();
        self.writer.ask_ahead();
    }

    /// Tells the recorder not to wait for a loop that a forked child continued.
    #[cold]
    pub(super) fn give_up(&mut self) {
        let words = self.memory.words();
        if !std::mem::replace(&mut self.is_given_up, true) && words.generation() == self.generation
        {
            words.in_a_child.fetch_add(1, Ordering::AcqRel);
        }
    }

    /// Ends the warm-up: later counts and times are evaluated.
    pub(super) fn end_the_warm_up(&mut self) {
        self.faults = PageFaults::of_this_thread();
        self.timed.forget();
    }

    #[inline]
    pub(super) fn said_section(&mut self, section: Section, from_ns: u64, to_ns: u64) {
        let number = u16::from(section.0);
        self.said.section((number, self.cycle, from_ns, to_ns));
    }

    #[cold]
    pub(super) fn leave_out_a_format(&mut self) {
        let announcement = self.memory.announcement(self.ring);
        announcement.formats_beyond.fetch_add(1, Ordering::Relaxed);
    }

    /// A loop with its own clock sleeps to its first due time; a driven one begins when the others
    /// do.
    pub(super) fn await_start(&self, start_ns: u64) {
        let words = self.memory.words();
        while clock::monotonic_ns() < start_ns && words.stop.load(Ordering::Acquire) == 0 {
            std::thread::sleep(LOOK);
        }
    }

    pub(super) fn end(&mut self, left: Left) {
        if self.is_ours() && !std::mem::replace(&mut self.has_ended, true) {
            let faults = PageFaults::of_this_thread().since(self.faults);
            self.memory.announcement(self.ring).end(left, faults);
        }
    }
}

/// The memory of the recorder that this process started; never freed, for loops have references into it.
static STARTED: AtomicPtr<Started> = AtomicPtr::new(std::ptr::null_mut());

struct Started {
    memory: SharedMemory,
    /// A child that it forks is another process, which the recorder does not wait for.
    process: u32,
}

/// Loops that this process makes from now on are recorded into this memory.
pub(crate) fn record_into(memory: SharedMemory) {
    let process = std::process::id();
    let started = Box::leak(Box::new(Started { memory, process }));
    STARTED.store(started, Ordering::Release);
}

fn started() -> Option<&'static SharedMemory> {
    // SAFETY: null, or the leaked value from above.
    let started = unsafe { STARTED.load(Ordering::Acquire).as_ref() }?;
    (started.process == std::process::id()).then_some(&started.memory)
}

/// Whether loops created from now on are recorded.
pub(crate) fn is_recorder_there() -> bool {
    recorder().is_some()
}

/// The memory of the recorder that this program started, or that started this program, if one did and is still at
/// that segment. Its descriptor
/// is closed to the programs that this one starts from then on: another program's loops are not this one's.
pub(super) fn recorder() -> Option<&'static SharedMemory> {
    static MEMORY: OnceLock<Option<(SharedMemory, u32)>> = OnceLock::new();
    if let Some(memory) = started() {
        return Some(memory);
    }
    let joined = MEMORY.get_or_init(|| {
        let number = std::env::var(VARIABLE).ok()?.parse::<i32>().ok()?;
        if number < 0 {
            return None;
        }
        // SAFETY: only fcntl sees it, which answers for a number that is not open.
        let inherited = unsafe { BorrowedFd::borrow_raw(number) };
        // Not reopened through /proc, which might be missing or unreadable for the program.
        let file = rustix::io::fcntl_dupfd_cloexec(inherited, 0).ok()?;
        // It can be another file, if a program in between has closed the recorder's; or that of a
        // recorder of another version, which has learned that by now and reports it.
        let memory = SharedMemory::join(file).ok()?;
        // If it stayed open, a child's loop would request a ring and find none left.
        let _ = rustix::io::fcntl_setfd(inherited, FdFlags::CLOEXEC);
        let generation = memory.words().generation();
        Some((memory, generation))
    });
    let (memory, generation) = joined.as_ref()?;
    // A program whose segment is over, and that has left its process group, is creating a loop.
    (memory.words().generation() == *generation).then_some(memory)
}

/// Reports that the loop is ready, waits for the start and returns its first due time. A loop
/// created after the others have begun is not recorded.
pub(super) fn begin(
    memory: &'static SharedMemory,
    ring: u32,
    name: &str,
    period_ns: u64,
    wakes: Wakes,
) -> (u64, Option<Recorded>) {
    let announcement = memory.announcement(ring);
    let words = memory.words();
    let (generation, owner) = (words.generation(), Owner::here());
    let as_they_come = words.go.load(Ordering::Acquire) == AS_THEY_COME;
    let begun = !as_they_come && words.go.load(Ordering::Acquire) != 0;
    announcement.announce(&Announced {
        name: name.into(),
        thread_id: rustix::thread::gettid()
            .as_raw_nonzero()
            .get()
            .unsigned_abs(),
        period_ns,
        timer_slack_ns: crate::timer_slack::current_ns().unwrap_or(0),
        foreign_clock: wakes == Wakes::ByAnother,
        overrun: wakes.overrun(),
        on_a_core: crate::cores::policy_of_this_thread(),
    });
    while words.go.load(Ordering::Acquire) == 0
        && words.stop.load(Ordering::Acquire) == 0
        && words.generation() == generation
    {
        std::thread::sleep(LOOK);
    }
    let start_ns = if as_they_come {
        clock::monotonic_ns() + LEAD_NS
    } else {
        words.start_ns.load(Ordering::Relaxed)
    };
    let end_cycle = announcement.end_cycle();
    let is_stopped = words.stop.load(Ordering::Acquire) != 0;
    let is_over = words.generation() != generation;
    if !is_stopped && !is_over && (begun || end_cycle == 0) {
        words.leave_out(name);
        announcement.end(Left::Unsaid, PageFaults::default());
        return (clock::monotonic_ns() + LEAD_NS, None);
    }
    if !is_over {
        announcement.run();
    }
    let recorded = Recorded {
        memory,
        line: memory.loop_line(ring),
        ring,
        // SAFETY: the ring was claimed for this loop, which is the only one to write there; the
        // recorder resets it only when no program of the user's is there, and one that is nevertheless
        // there sees the other generation and lets it be.
        writer: unsafe { memory.writer(ring) },
        first_judged_cycle: announcement.first_judged_cycle(),
        end_cycle,
        skipped: 0,
        faults: PageFaults::of_this_thread(),
        timed: Timed::new(
            &announcement.sections,
            &memory.loop_line(ring).running_sections,
        ),
        said: memory.said_writer(ring),
        formats: Formats::new(&announcement.formats.0),
        owner,
        generation,
        is_given_up: false,
        cycle: 0,
        has_ended: false,
    };
    (start_ns, Some(recorded))
}
