//! The recorder of a program in the field: from its rings to the disk until the program ends. It ends with the program
//! and with nothing else, and starts none.

mod coming;
mod rooms;
mod said;
mod tracing;

use crate::begin::{ServiceError, lock};
use crate::history::{Entry, HistoryWriter, now_ns};
use crate::incidents::Incidents;
use crate::one_loop::{OneLoop, Places};
use crate::program::boot;
use crate::replay::{self, Open, Reached};
use crate::room::SEGMENTS;
use crate::segments::{Segments, Strange};
use crate::terms::{Live, Settings, Terms};
use crate::worst::Worst;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::time::Timespec;
use std::io;
use std::os::fd::AsFd;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};
use wakepath_archive::ThreadEnd;
use wakepath_directory::{Directory, Trust};
use wakepath_measure::within;
use wakepath_rt::announcement::{Left, State};
use wakepath_rt::clock;
use wakepath_rt::image::Image;
use wakepath_rt::shared::SharedMemory;

/// Between two looks at the rings.
const TAKE_EVERY_NS: i64 = 50_000_000;
const REPORT_EVERY: Duration = Duration::from_millis(250);
/// Most recording time that a kill of the recorder can lose.
const FLUSH_EVERY: Duration = Duration::from_millis(500);
/// Most recording time that a power cut can lose.
const SYNC_EVERY: Duration = Duration::from_secs(5);
/// Segments that the room is shared between.
const SEGMENTS_KEPT: u64 = 16;
/// Largest segment.
const MOST_SEGMENT_BYTES: u64 = 64 << 20;

/// Records until the program ends. The program is given by its number and a descriptor that is
/// readable once it has ended (pidfd_open(2)). Calls `ready` when recording is set up.
///
/// # Errors
/// If recording can't begin. If the disk fails later, it prints an error and tries again.
pub fn record(
    memory: &SharedMemory,
    directory: &Directory,
    (program, process): (u32, impl AsFd),
    settings: &Settings,
    (terms, live): (&dyn Terms, &mut dyn Live),
    ready: impl FnOnce(),
) -> Result<(), ServiceError> {
    let path = directory.path().to_owned();
    let failed = |source| ServiceError::Io {
        path: path.clone(),
        source,
    };
    let _lock = lock(directory)?;
    let segments = if directory.holds(SEGMENTS) {
        directory.path_of(SEGMENTS)
    } else {
        directory.make_below(SEGMENTS).map_err(failed)?
    };
    let segments = Directory::to_write(&segments, Trust::Own)?;
    let segments = Segments::new(directory, segments).map_err(failed)?;
    let worst = Worst::open(directory.path(), settings.worst);
    let mut recorder = Recorder {
        memory,
        directory,
        segments,
        strange: Strange::default(),
        program,
        settings,
        terms,
        live,
        history: HistoryWriter::new(directory),
        worst,
        incidents: None,
        loops: (0..memory.threads()).map(|_| Slot::Free).collect(),
        reached: Reached::new(),
        noted: Vec::new(),
        is_noted_since_sync: false,
        unrecorded: 0,
        complained: None,
        image: None,
    };
    recorder.begin().map_err(failed)?;
    recorder.begin_traces();
    ready();
    recorder.until_the_end(&process);
    Ok(())
}

enum Slot<'a> {
    /// No loop has the ring.
    Free,
    /// A loop that is recorded.
    Taken(Box<OneLoop<'a>>),
    /// A loop that can't be recorded.
    Refused,
}

struct Recorder<'a> {
    memory: &'a SharedMemory,
    directory: &'a Directory,
    segments: Segments,
    strange: Strange,
    program: u32,
    settings: &'a Settings,
    terms: &'a dyn Terms,
    live: &'a mut dyn Live,
    history: HistoryWriter,
    worst: Worst,
    /// Recording of the kernel's events.
    incidents: Option<Incidents>,
    loops: Vec<Slot<'a>>,
    reached: Reached,
    /// State of the open segments on disk.
    noted: Vec<Open>,
    is_noted_since_sync: bool,
    unrecorded: u32,
    complained: Option<String>,
    /// The program's executable when its first loop appeared.
    image: Option<Image>,
}

impl<'a> Recorder<'a> {
    fn begin(&mut self) -> io::Result<()> {
        let Self {
            directory,
            segments,
            ..
        } = self;
        self.reached = replay::replay(
            directory,
            segments.directory(),
            &mut self.history,
            &mut self.worst,
        )?;
        let at_ns = now_ns();
        self.history.append(&if self.settings.resumes {
            Entry::Resumed { at_ns }
        } else {
            Entry::Started {
                at_ns,
                command: self.settings.command.clone(),
                process: self.program,
                boot: boot(),
                version: self.settings.version.clone(),
            }
        })?;
        self.say_what_nobody_goes_on_with();
        self.history.sync()?;
        replay::forget_all_but(self.directory, &self.reached)?;
        self.make_room()?;
        self.directory.sync()
    }

    fn until_the_end(mut self, process: &impl AsFd) {
        let (mut reported, mut flushed, mut synced) =
            (Instant::now(), Instant::now(), Instant::now());
        loop {
            let is_over = has_ended(process) || self.is_another();
            self.look(is_over);
            if is_over {
                return self.end();
            }
            if reported.elapsed() >= REPORT_EVERY {
                reported = Instant::now();
                for slot in &mut self.loops {
                    if let Slot::Taken(of) = slot {
                        let figures = of.live();
                        self.live.is_at(&of.found.name, &figures);
                    }
                }
            }
            let waits = synced.elapsed() >= SYNC_EVERY;
            if waits || flushed.elapsed() >= FLUSH_EVERY {
                flushed = Instant::now();
                self.flush(waits);
                if waits {
                    synced = Instant::now();
                }
            }
        }
    }

    fn flush(&mut self, waits: bool) {
        for slot in &mut self.loops {
            if let Slot::Taken(of) = slot {
                of.flush(waits);
            }
        }
        let outcome = self.history.flush();
        self.check(outcome);
        self.note_doubted(waits);
        if waits {
            let outcome = self.history.sync();
            self.check(outcome);
            let outcome = self.worst.write(self.directory);
            self.check(outcome);
        }
        self.complaints();
    }

    /// Whether the program that created the loops has replaced itself by another one without them.
    fn is_another(&mut self) -> bool {
        let is_another = self.image.is_some_and(|of| of.was_replaced(self.program));
        if is_another {
            self.say("the program executed another program (exec), which is not recorded".into());
        }
        is_another
    }

    /// Checks each ring for new loops, samples and ended loops.
    fn look(&mut self, is_over: bool) {
        let (mut turned, memory) = (false, self.memory);
        for ring in 0..memory.threads() {
            let state = memory.announcement(ring).state();
            if matches!(self.loops[ring as usize], Slot::Free)
                && !matches!(state, State::Free | State::Claimed)
            {
                self.loops[ring as usize] = self.come(ring);
            }
            let mut slot = std::mem::replace(&mut self.loops[ring as usize], Slot::Free);
            let mut is_free = false;
            if let Slot::Taken(of) = &mut slot {
                // Read before the samples: nothing follows the announcement of the end.
                let has_ended = of.state() == State::Ended;
                let mut places = self.places();
                turned |= of.take(&mut places);
                if of.damaged {
                    of.end(
                        ThreadEnd::failed("something wrote over its ring"),
                        &mut places,
                    );
                    let name = of.found.name.clone();
                    let doubted = of.doubted().collect();
                    self.say_doubted(&name, doubted);
                    self.ended(
                        name,
                        "something wrote over its ring: nothing after is recorded",
                        true,
                    );
                    slot = Slot::Refused;
                    turned = true;
                } else if has_ended || is_over {
                    let within = within(&memory.running_sections(ring));
                    let (how, died) = match memory.announcement(ring).left().0 {
                        _ if !has_ended => ("its program ended while the loop ran", true),
                        Left::GivenUp => ("its program gave it up", false),
                        Left::Overrun => ("it stopped at an overrun (overrun = \"stop\")", false),
                        _ => ("it was asked to stop", false),
                    };
                    let how =
                        &within.map_or_else(|| how.to_owned(), |within| format!("{how}, {within}"));
                    let why = match (died, memory.announcement(ring).left().0) {
                        (true, _) => ThreadEnd::failed(how.as_str()),
                        (false, Left::Overrun) => ThreadEnd::Overrun,
                        (false, _) => ThreadEnd::Stopped,
                    };
                    of.end(why, &mut places);
                    let name = of.found.name.clone();
                    let doubted = of.doubted().collect();
                    self.say_doubted(&name, doubted);
                    self.ended(name, how, died);
                    turned = true;
                    is_free = true;
                }
            }
            if is_free && !is_over {
                memory.give_to_another(ring);
                slot = Slot::Free;
            }
            self.loops[ring as usize] = slot;
        }
        if turned {
            self.turned();
        }
        self.keep_traces();
        let unrecorded = self.memory.words().unrecorded.load(Ordering::Acquire);
        if unrecorded > self.unrecorded {
            self.unrecorded = unrecorded;
            self.say(format!(
                "{unrecorded} loops are not recorded: a program may have {} at once",
                self.memory.threads()
            ));
        }
    }

    fn places(&mut self) -> Places<'_> {
        let segment_bytes = self.segment_bytes();
        Places {
            segments: &self.segments,
            history: &mut self.history,
            worst: &mut self.worst,
            terms: self.terms,
            segment_bytes,
            offset_ns: i128::from(now_ns()) - i128::from(clock::monotonic_ns()),
        }
    }

    fn segment_bytes(&self) -> u64 {
        (self.settings.keep_bytes / SEGMENTS_KEPT).min(MOST_SEGMENT_BYTES)
    }

    fn end(mut self) {
        let outcome = self.history.append(&Entry::Ended { at_ns: now_ns() });
        self.check(outcome);
        let outcome = self.worst.write(self.directory);
        self.check(outcome);
        let outcome = replay::note(self.directory, &[]);
        self.check(outcome);
        let outcome = self.history.sync().and_then(|()| self.directory.sync());
        self.check(outcome);
    }
}

/// Waits a while, or until the process has ended.
fn has_ended(process: &impl AsFd) -> bool {
    let timeout = Timespec {
        tv_sec: 0,
        tv_nsec: TAKE_EVERY_NS as _,
    };
    let mut descriptors = [PollFd::new(process, PollFlags::IN)];
    matches!(poll(&mut descriptors, Some(&timeout)), Ok(ready) if ready > 0)
}
