//! Selects the cycles to examine: the named ones, else the worst of each condition.

use super::error::AgainError;
use crate::window::Loop;
use wakepath_archive::{Run, SegmentRecord};
use wakepath_timeline::{Sample, SampleFlags};

type Result<T> = std::result::Result<T, AgainError>;

/// Requested cycles.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CyclesAsked {
    /// These, each as SEGMENT:CYCLE.
    Named(Vec<String>),
    /// This number of the worst of each condition.
    Worst(usize),
    /// All of those under a real-time policy.
    RealTime,
    /// All of them.
    All,
}

/// A thread of a segment, as tables call it.
pub struct Thread {
    /// Condition.
    pub condition: String,
    /// Phase.
    pub phase: String,
    /// Segment.
    pub segment: u32,
    /// Number of the thread in it.
    pub thread: u16,
    traced: bool,
    is_real_time: bool,
}

/// The loops of a run with their wanted cycles.
pub struct Wanted {
    /// For the follower.
    pub loops: Vec<Loop>,
    /// Whose they are, in the same order.
    pub threads: Vec<Thread>,
}

impl Wanted {
    /// Reads the samples and chooses.
    pub fn new(run: &Run, asked: &CyclesAsked) -> Result<Self> {
        let mut all = Self {
            loops: Vec::new(),
            threads: Vec::new(),
        };
        for segment in &run.manifest.segments {
            all.add(run, segment)?;
        }
        match asked {
            CyclesAsked::Worst(count) => all.choose_worst(*count),
            CyclesAsked::Named(names) => {
                for name in names {
                    all.choose(name)?;
                }
            }
            CyclesAsked::RealTime => all.choose_all(|thread| thread.is_real_time),
            CyclesAsked::All => all.choose_all(|_| true),
        }
        for of in &mut all.loops {
            of.wanted.sort_unstable();
        }
        if all.loops.iter().all(|of| of.wanted.is_empty()) {
            return Err(AgainError::NoneLate {
                run: run.directory().to_owned(),
            });
        }
        Ok(all)
    }

    fn add(&mut self, run: &Run, segment: &SegmentRecord) -> Result<()> {
        for thread in &segment.threads {
            self.loops.push(Loop {
                samples: run.samples(segment.segment, thread.thread)?,
                wanted: Vec::new(),
            });
            let condition = match segment.threads.len() {
                1 => segment.condition.clone(),
                _ => format!("{}, {}", segment.condition, thread.name),
            };
            self.threads.push(Thread {
                condition,
                phase: segment.phase.clone(),
                segment: segment.segment,
                thread: thread.thread,
                traced: segment.traced,
                is_real_time: thread.requested.is_real_time(),
            });
        }
        Ok(())
    }

    /// A cycle as SEGMENT:CYCLE.
    fn choose(&mut self, name: &str) -> Result<()> {
        let wrong = || AgainError::CycleName { name: name.into() };
        let (segment, cycle) = name.split_once(':').ok_or_else(wrong)?;
        let segment: u32 = segment.parse().map_err(|_| wrong())?;
        let cycle: u64 = cycle.parse().map_err(|_| wrong())?;
        let mut found = false;
        for (of, thread) in self.loops.iter_mut().zip(&self.threads) {
            let index = of.samples.iter().position(|sample| sample.cycle == cycle);
            if let (Some(index), true) = (index, thread.segment == segment) {
                let sample = &of.samples[index];
                if sample.latency_ns() <= 0 {
                    return Err(AgainError::NotLate { name: name.into() });
                }
                of.wanted.push(index);
                found = true;
            }
        }
        if found {
            Ok(())
        } else {
            Err(AgainError::NoCycle {
                name: name.into(),
                last_segment: self.threads.last().map_or(0, |thread| thread.segment),
            })
        }
    }

    /// For each loop the latencies of its samples in instructions.
    pub(super) fn latencies(&self, ns_per_instruction: u64) -> Vec<Vec<u64>> {
        let latency = |sample: &Sample| {
            let ns = u64::try_from(sample.latency_ns()).unwrap_or(0);
            ns / ns_per_instruction
        };
        let loops = self.loops.iter();
        loops
            .map(|of| of.samples.iter().map(latency).collect())
            .collect()
    }

    /// All cycles of these threads, except that their traces would show the tracing too.
    fn choose_all(&mut self, which: impl Fn(&Thread) -> bool) {
        for (of, thread) in self.loops.iter_mut().zip(&self.threads) {
            if which(thread) && !thread.traced {
                of.wanted = (0..of.samples.len()).collect();
            }
        }
    }

    fn choose_worst(&mut self, count: usize) {
        let mut conditions: Vec<(&str, &str)> = Vec::new();
        for thread in &self.threads {
            let condition = (thread.phase.as_str(), thread.condition.as_str());
            if !conditions.contains(&condition) {
                conditions.push(condition);
            }
        }
        let mut chosen = Vec::new();
        for condition in conditions {
            let mine = |thread: &Thread| {
                // A traced run contains the tracing too.
                (thread.phase.as_str(), thread.condition.as_str()) == condition && !thread.traced
            };
            let loops = self.loops.iter().zip(&self.threads).enumerate();
            let mut late: Vec<(i64, usize, usize)> = loops
                .filter(|(_, (_, thread))| mine(thread))
                .flat_map(|(number, (of, _))| {
                    let woken = of.samples.iter().enumerate().filter(|(_, s)| was_woken(s));
                    woken.map(move |(index, sample)| (sample.latency_ns(), number, index))
                })
                .collect();
            late.sort_by_key(|(latency, ..)| std::cmp::Reverse(*latency));
            chosen.extend(late.into_iter().take(count));
        }
        for (_, number, index) in chosen {
            self.loops[number].wanted.push(index);
        }
    }
}

/// Whether a cycle counts, and began with a wake-up.
pub(super) fn was_woken(sample: &Sample) -> bool {
    let already_past = sample.flags.contains(SampleFlags::DUE_ALREADY_PAST);
    !sample.is_warm_up() && !already_past && sample.latency_ns() > 0
}
