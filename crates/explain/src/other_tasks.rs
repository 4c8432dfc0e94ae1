//! The tasks of an event loop whose cycles are known: what its thread did before a late cycle may be a turn of another.

use crate::cause::Cause;
use crate::cycle::Explained;
use crate::loop_thread::LoopThread;
use crate::wait::Source;
use std::sync::Arc;

/// The other tasks of a loop's thread.
#[derive(Default)]
pub(crate) struct OtherTasks(Vec<Task>);

struct Task {
    name: Arc<str>,
    /// Beginnings and ends of its turns, by time, in nanoseconds.
    turns: Vec<(u64, u64)>,
}

impl OtherTasks {
    /// Of each loop.
    pub fn new(loops: &[LoopThread]) -> Vec<Self> {
        let others_of = |(at, of): (usize, &LoopThread)| {
            let others = loops.iter().enumerate();
            let others = others.filter(|(other, task)| {
                *other != at && task.thread == of.thread && task.until_next_wake_up
            });
            Self(others.map(|(_, task)| Task::new(task)).collect())
        };
        loops.iter().enumerate().map(others_of).collect()
    }

    /// Names the task whose turn most of a piece is that has no other name.
    pub fn name(&self, cycle: &mut Explained) {
        for piece in &mut cycle.latency {
            if piece.cause != Cause::OtherWork(Source::Own) {
                continue;
            }
            let overlaps = self.0.iter().map(|task| {
                let ns = task.overlap_ns(piece.from_ns, piece.to_ns);
                (ns, &task.name)
            });
            let longest = overlaps.max_by_key(|(ns, _)| *ns);
            if let Some((_, name)) = longest.filter(|(ns, _)| 2 * ns > piece.ns()) {
                piece.cause = Cause::OtherWork(Source::Task(name.clone()));
            }
        }
    }
}

impl Task {
    fn new(of: &LoopThread) -> Self {
        let turns = of
            .samples
            .iter()
            .map(|sample| (sample.wake_ns, sample.end_ns));
        Self {
            name: of.name.clone(),
            turns: turns.collect(),
        }
    }

    fn overlap_ns(&self, from_ns: u64, to_ns: u64) -> u64 {
        let first = self.turns.partition_point(|(_, end_ns)| *end_ns <= from_ns);
        let turns = self.turns[first..].iter();
        let within = turns.take_while(|(begin_ns, _)| *begin_ns < to_ns);
        within
            .map(|(begin, end)| (*end).min(to_ns).saturating_sub((*begin).max(from_ns)))
            .sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cycle::{Piece, Stretch, WokenBy};
    use wakepath_timeline::Sample;

    fn task(name: &str, thread: u32, turns: &[(u64, u64)]) -> LoopThread {
        let sample = |&(wake_ns, end_ns): &(u64, u64)| Sample {
            wake_ns,
            end_ns,
            ..Sample::default()
        };
        LoopThread {
            name: name.into(),
            thread,
            until_next_wake_up: true,
            samples: turns.iter().map(sample).collect(),
            ..LoopThread::default()
        }
    }

    /// How the first of these tasks names what its thread did in this time.
    fn named(loops: &[LoopThread], from_ns: u64, to_ns: u64) -> Source {
        let piece = Piece {
            from_ns,
            to_ns,
            stretch: Stretch::NotAsleep,
            cause: Cause::OtherWork(Source::Own),
        };
        let mut cycle = Explained {
            sample: Sample::default(),
            woken: WokenBy::NotAsleep,
            latency: vec![piece],
            execution: Vec::new(),
        };
        OtherTasks::new(loops)[0].name(&mut cycle);
        match cycle.latency.remove(0).cause {
            Cause::OtherWork(source) => source,
            other => panic!("{other}"),
        }
    }

    #[test]
    fn the_task_in_whose_turn_most_of_it_is_names_it() {
        let own = task("fast", 7, &[(0, 10), (100, 110)]);
        let slow = task("slow", 7, &[(20, 60), (120, 160)]);
        let rare = task("rare", 7, &[(62, 90)]);
        let loops = [own.clone(), slow, rare, task("elsewhere", 8, &[(0, 1_000)])];
        assert_eq!(named(&loops, 20, 60), Source::Task("slow".into()));
        assert_eq!(named(&loops, 30, 50), Source::Task("slow".into()));
        assert_eq!(named(&loops, 50, 90), Source::Task("rare".into()));
        assert_eq!(
            named(&loops, 155, 165),
            Source::Own,
            "half of it is not most"
        );
        assert_eq!(named(&loops, 95, 100), Source::Own);
        assert_eq!(named(&[own], 20, 60), Source::Own);
    }
}
