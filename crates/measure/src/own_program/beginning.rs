//! A program's loops before their first cycle: whether all are there, are its own and have what they were to get,
//! or why they can't run.

use super::kin::Kin;
use super::loops::NO_MORE_COME;
use super::thread::{Refused, placed};
use super::watched::Watched;
use super::{At, LOOP, LOOPS_PATIENCE, OwnProgram, takes_any};
use std::sync::atomic::Ordering;
use std::time::Instant;
use wakepath_archive::Obstacle;
use wakepath_measured_loop::LoopReply;
use wakepath_rt::announcement::Announced;
use wakepath_rt::clock;
use wakepath_timeline::one_line;

impl OwnProgram {
    /// Lets the loops begin when all are there, or returns why they can't.
    pub(super) fn ready(&mut self) -> Option<LoopReply> {
        let announced: Vec<Option<Announced>> = (0..self.threads.len() as u32)
            .map(|ring| self.memory.announcement(ring).announced())
            .collect();
        let cannot = |reason: String| {
            Some(LoopReply::CannotRun {
                obstacle: Obstacle::Other,
                reason,
            })
        };
        if let Some(versions) = self.misunderstanding() {
            return cannot(versions);
        }
        if let Some(reason) = self.others_instead(&announced) {
            return cannot(reason);
        }
        if announced.iter().any(Option::is_none) {
            if self.started.elapsed() <= LOOPS_PATIENCE {
                return None;
            }
            let missing = self.threads.iter().zip(&announced);
            let missing = missing.filter(|(_, found)| found.is_none());
            let names: Vec<_> = missing.map(|(of, _)| format!("`{}`", of.name)).collect();
            return cannot(format!(
                "the program created no loop {} within {} s",
                names.join(", "),
                LOOPS_PATIENCE.as_secs()
            ));
        }
        let kin: Result<Vec<Kin>, _> = announced
            .iter()
            .flatten()
            .map(|of| Kin::new(self.child.id(), of))
            .collect();
        let kin = match kin {
            Ok(kin) => kin,
            Err(foreign) => return cannot(foreign.to_string()),
        };
        let mut threads = Vec::new();
        for (wanted, found) in self.threads.iter().zip(announced.into_iter().flatten()) {
            match placed(wanted, &found) {
                Ok(thread) => {
                    let began = thread.effective.clone();
                    self.watched.push(Watched::new(found, began));
                    threads.push(thread);
                }
                Err(Refused(obstacle, reason)) => {
                    return Some(LoopReply::CannotRun { obstacle, reason });
                }
            }
        }
        // If a thread has ended in the meantime, its number might belong to another.
        if let Some(foreign) = kin.iter().find_map(|of| of.still().err()) {
            return cannot(foreign.to_string());
        }
        let start_ns = clock::monotonic_ns() + self.lead_ns;
        let words = self.memory.words();
        words.start_ns.store(start_ns, Ordering::Relaxed);
        words.go.store(1, Ordering::Release);
        self.course = At::Running;
        Some(LoopReply::Ready { start_ns, threads })
    }

    /// Why it can't run: it has loops of other names than those that are asked for, or more than the one that is
    /// taken whatever its name.
    fn others_instead(&mut self, announced: &[Option<Announced>]) -> Option<String> {
        let others = self.memory.words().left_out();
        let is_any = takes_any(&self.threads);
        if others.is_empty() || (!is_any && announced.iter().all(Option::is_some)) {
            return None;
        }
        // The one that is asked for may be on its way.
        if self.left_out.get_or_insert_with(Instant::now).elapsed() < NO_MORE_COME {
            return None;
        }
        let there = announced.iter().flatten().map(|of| &of.name);
        let mut names: Vec<String> = there
            .chain(&others)
            .map(|name| format!("`{}`", one_line(name)))
            .collect();
        names.dedup();
        let names = names.join(", ");
        if is_any {
            return (!announced
                .iter()
                .any(|of| of.as_ref().is_some_and(|of| of.name == LOOP)))
            .then(|| {
                format!("the program has loops {names}: list those to record in [[tasks]], by name")
            });
        }
        let missing = self.threads.iter().zip(announced);
        let missing = missing.filter(|(_, found)| found.is_none());
        let missing: Vec<_> = missing.map(|(of, _)| format!("`{}`", of.name)).collect();
        Some(format!(
            "the program has no loop {}; it has {names}: name one of them in [[tasks]]",
            missing.join(", ")
        ))
    }
}
