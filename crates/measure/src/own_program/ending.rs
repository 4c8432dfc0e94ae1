//! A program's loops after their last cycle: how each of them ended, by its own word or without one.

use super::OwnProgram;
use super::thread::modules;
use super::watched::Watched;
use super::within::within;
use std::time::{Duration, Instant};
use wakepath_archive::ThreadEnd;
use wakepath_measured_loop::ThreadEndReport;
use wakepath_rt::PageFaults;
use wakepath_rt::announcement::{Left, State};

/// So long may a program that gave a loop up take to print why and to exit.
const TIME_TO_TELL_WHY: Duration = Duration::from_secs(1);

impl OwnProgram {
    /// How all loops ended, once they have; of a program that is no longer there, how those ended that did. A
    /// program may be several processes, and one of them killed: that is nothing of the others' loops.
    pub(super) fn ends(&mut self, program_has_ended: bool) -> Option<Vec<ThreadEndReport>> {
        let rings = 0..self.threads.len() as u32;
        let announcements = rings.map(|ring| self.memory.announcement(ring));
        let ends: Vec<_> = announcements
            .map(|of| (of.state() == State::Ended).then(|| (of.left(), modules(of.sections()))))
            .collect();
        let is_over = |number: usize| ends[number].is_some() || self.was_replaced(number);
        let over = (0..ends.len()).filter(|&number| is_over(number)).count();
        if over == 0 || (!program_has_ended && over < ends.len()) {
            return None;
        }
        if !program_has_ended && self.may_tell_why() {
            return None;
        }
        let last_line = program_has_ended.then(|| self.last_line()).flatten();
        let printed = last_line.map_or_else(String::new, |line| format!("; its last line: {line}"));
        // A last time: its thread is as it was in its last cycle, if its program is still there.
        self.watched.iter_mut().for_each(Watched::look);
        let report = |(number, ended): (usize, Option<_>)| {
            let Some(((left, page_faults), modules)) = ended else {
                let (end, why): (fn(String) -> ThreadEnd, _) = if self.was_replaced(number) {
                    (
                        ThreadEnd::failed,
                        "its program executed another program (exec) while the loop ran; the new program is not \
                         recorded",
                    )
                } else {
                    (
                        ThreadEnd::died,
                        "the program ended before this loop reported its end: its process died or was killed",
                    )
                };
                let announcement = self.memory.announcement(number as u32);
                let within = within(&self.memory.running_sections(number as u32));
                let within = within.map_or_else(String::new, |within| format!(", {within}"));
                return ThreadEndReport {
                    why: end(format!("{why}{within}{printed}")),
                    page_faults: PageFaults::default(),
                    counted: None,
                    on_a_core: None,
                    modules: modules(announcement.sections()),
                };
            };
            ThreadEndReport {
                why: match left {
                    Left::AllCycles | Left::Stopped if self.changed(number).is_some() => {
                        ThreadEnd::failed(self.changed(number).unwrap_or_default())
                    }
                    Left::AllCycles => ThreadEnd::AllCycles,
                    Left::Stopped => ThreadEnd::Stopped,
                    Left::Overrun => ThreadEnd::Overrun,
                    Left::GivenUp => ThreadEnd::failed(format!(
                        "its program ended the loop before its last cycle{printed}"
                    )),
                    Left::Unsaid => ThreadEnd::failed("the loop reported no reason for its end"),
                },
                page_faults,
                counted: None,
                on_a_core: None,
                modules,
            }
        };
        Some(ends.into_iter().enumerate().map(report).collect())
    }

    /// Whether the program gave a loop up a moment ago: it may be about to print why, and to exit.
    fn may_tell_why(&mut self) -> bool {
        let rings = 0..self.threads.len() as u32;
        let mut lefts = rings.map(|ring| self.memory.announcement(ring).left().0);
        if !lefts.any(|left| left == Left::GivenUp) {
            return false;
        }
        self.given_up.get_or_insert_with(Instant::now).elapsed() < TIME_TO_TELL_WHY
    }

    /// The last line that the program printed, once it has ended.
    fn last_line(&mut self) -> Option<String> {
        self.output.end();
        self.output.last_line()
    }

    /// Whether another program has taken the place of the loop's.
    fn was_replaced(&self, number: usize) -> bool {
        self.watched.get(number).is_some_and(|of| of.was_replaced)
    }

    /// The program's change of a loop's thread since the start.
    fn changed(&self, number: usize) -> Option<&str> {
        self.watched.get(number)?.changed.as_deref()
    }
}
