//! The account of due times: the fate of each, sample by sample, in bounded memory. Live view,
//! runs, services and imports all count with it. It judges single due times only.

use crate::judge::CLUSTER_GAP;
use crate::limits::Kept;
use crate::window::possible;
use crate::{Consistency, DueTally, Gap, Gaps, Inconsistency, JudgedWindow, Limits, Outage};
use std::ops::Range;
use wakepath_statistics::MissClusters;
use wakepath_timeline::{DueTimes, Sample, SampleFlags};

/// What becomes of a due time at which no cycle runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Skipped {
    /// It is missed.
    Missed,
    /// The next cycle serves it, and it is missed if that is too late: how a loop of 1 ms serves what
    /// is due every 200 ms.
    ServedByNext,
}

/// How a segment ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Until {
    /// At the end of its window: due times after the last cycle are skipped.
    WindowEnd,
    /// At its last cycle: someone stopped the loop, or it ended.
    LastCycle,
}

/// Fate of a due time, as the account finds out.
#[derive(Debug, Clone, Copy)]
pub enum Fate<'a> {
    /// A cycle ran.
    Ran {
        /// The cycle.
        sample: &'a Sample,
        /// Whether it missed its due time.
        missed: bool,
    },
    /// No cycle ran at one or several due times in a row.
    Skipped(Gap),
    /// Nobody knows what became of due times in a row: their samples are lost, or nothing shows
    /// them.
    Unknown(Gap),
}

/// The account of one or several segments and threads, one after the other.
#[derive(Debug, Clone)]
pub struct Account {
    limits: Limits,
    skipped: Skipped,
    clusters: MissClusters,
    /// All but the misses, since the last [`Self::take`].
    tally: DueTally,
    open: Option<Open>,
}

/// The segment under way.
#[derive(Debug, Clone)]
struct Open {
    window: JudgedWindow,
    consistency: Consistency,
    /// The next cycle of which nothing is known yet.
    next: u64,
    /// When the cycle before ended; at first, the start of the window. `None` after lost samples.
    before_ns: Option<u64>,
    has_overrun: bool,
    lost: Lost,
}

/// Samples that are known to be lost and not yet seen as a gap.
#[derive(Debug, Clone, Copy)]
enum Lost {
    /// This many.
    Some(u64),
    /// All until the next sample, and this many perhaps after it.
    AllUntilNext(u64),
}

impl Account {
    /// An empty account of due times that are missed beyond these limits, or skipped.
    pub fn new(limits: Limits) -> Self {
        Self::with(limits, Skipped::Missed)
    }

    /// An empty account that takes skipped due times this way.
    pub fn with(limits: Limits, skipped: Skipped) -> Self {
        Self {
            limits,
            skipped,
            clusters: MissClusters::new(CLUSTER_GAP),
            tally: DueTally::default(),
            open: None,
        }
    }

    /// Begins a segment of a thread. A loop without a known end has `u64::MAX` for it.
    pub fn begin(&mut self, window: JudgedWindow) {
        self.tally.skips_unknown |= window.gaps == Gaps::Unseen;
        self.open = Some(Open {
            consistency: Consistency::new(window.due, window.first_judged_cycle),
            next: window.first_judged_cycle,
            before_ns: Some(window.due.due_ns(window.first_judged_cycle)),
            has_overrun: false,
            lost: Lost::Some(window.lost),
            window,
        });
    }

    /// Whether a segment is under way.
    pub fn is_open(&self) -> bool {
        self.open.is_some()
    }

    /// The due times of the segment under way are these from here on, and gaps between its samples
    /// mean this; its cycles keep their numbers.
    pub fn is_due(&mut self, due: DueTimes, gaps: Gaps) {
        if let Some(open) = &mut self.open {
            self.tally.skips_unknown |= gaps == Gaps::Unseen;
            (open.window.due, open.window.gaps) = (due, gaps);
            open.consistency.is_due(due);
        }
    }

    /// So many more samples were lost since the last one.
    pub fn lose(&mut self, samples: u64) {
        if let Some(open) = &mut self.open {
            open.lost = match open.lost {
                Lost::Some(before) => Lost::Some(before.saturating_add(samples)),
                Lost::AllUntilNext(after) => Lost::AllUntilNext(after.saturating_add(samples)),
            };
        }
    }

    /// Everything from the next cycle to the next sample is lost: nobody watched. So many samples
    /// were lost until now, some of them perhaps after that sample.
    pub fn lose_all_until_next(&mut self, samples: u64) {
        if let Some(open) = &mut self.open {
            open.lost = Lost::AllUntilNext(samples);
            open.before_ns = None;
        }
    }

    /// Takes in the next sample of the segment, warm-up included, and hands on what it shows. Samples
    /// past the window are not judged; the first of them says how late the skipped due times before
    /// it were.
    ///
    /// # Errors
    /// How the sample contradicts itself or those before it. The tally remembers the first
    /// contradiction; such a sample is not counted.
    pub fn add(
        &mut self,
        sample: &Sample,
        mut each: impl FnMut(Fate<'_>),
    ) -> Result<(), Inconsistency> {
        let Some(mut open) = self.open.take() else {
            return Ok(());
        };
        self.tally.samples += 1;
        let outcome = self.sample(&mut open, sample, &mut each);
        if let Err(inconsistency) = outcome {
            self.tally.inconsistency.get_or_insert(inconsistency);
        }
        self.open = Some(open);
        outcome
    }

    fn sample(
        &mut self,
        open: &mut Open,
        sample: &Sample,
        each: &mut dyn FnMut(Fate<'_>),
    ) -> Result<(), Inconsistency> {
        let JudgedWindow {
            first_judged_cycle: first,
            end_cycle: end,
            due,
            ..
        } = open.window;
        if sample.cycle >= first {
            possible(open.next, sample.cycle.min(end).max(open.next))?;
        }
        open.consistency.next(sample)?;
        if sample.cycle < first {
            return Ok(());
        }
        let gap = open.next..sample.cycle.min(end);
        self.gap(open, gap, (sample.wake_ns, sample.end_ns), each);
        if let Lost::AllUntilNext(after) = open.lost {
            open.lost = Lost::Some(after);
        }
        if sample.cycle >= end {
            open.next = end;
            return Ok(());
        }
        let missed = self.ran(sample);
        open.has_overrun = self
            .tally
            .overruns
            .add(sample.execution_ns(), due.period_ns);
        self.outage(open.before_ns, sample.end_ns);
        open.before_ns = open.before_ns.max(Some(sample.end_ns));
        open.next = sample.cycle + 1;
        self.tally.window_ns = self.tally.window_ns.saturating_add(due.period_ns);
        self.tally.threads.insert(open.window.thread);
        each(Fate::Ran { sample, missed });
        Ok(())
    }

    /// Ends the segment: what comes next has nothing to do with what was before.
    pub fn end(&mut self, until: Until, mut each: impl FnMut(Fate<'_>)) {
        let Some(mut open) = self.open.take() else {
            return;
        };
        let JudgedWindow {
            first_judged_cycle: first,
            due,
            ..
        } = open.window;
        let end = match until {
            Until::WindowEnd => open.window.end_cycle,
            Until::LastCycle => open.next,
        };
        let end_ns = due.due_ns(end);
        let skipped = self.tally.skipped;
        let gap = open.next..end;
        self.gap(&mut open, gap, (end_ns, end_ns), &mut each);
        self.tally.skipped_at_end += self.tally.skipped - skipped;
        if end > first {
            self.outage(open.before_ns, end_ns);
            self.tally.threads.insert(open.window.thread);
        }
        let (Lost::Some(rest) | Lost::AllUntilNext(rest)) = open.lost;
        self.tally.lost_elsewhere = self.tally.lost_elsewhere.saturating_add(rest);
        self.clusters.end_series();
    }

    /// A whole segment of a thread: all its samples in order, warm-up included.
    ///
    /// # Errors
    /// The first contradiction; everything before it is counted, and the segment stays open.
    pub fn add_segment(
        &mut self,
        window: JudgedWindow,
        samples: &[Sample],
        mut each: impl FnMut(Fate<'_>),
    ) -> Result<(), Inconsistency> {
        window.check()?;
        self.begin(window);
        for sample in samples {
            self.add(sample, &mut each)?;
        }
        self.end(Until::WindowEnd, each);
        Ok(())
    }

    /// Notes a contradiction in a segment whose samples are not counted.
    pub(crate) fn is_contradicted(&mut self, samples: usize, inconsistency: Inconsistency) {
        self.tally.samples = self.tally.samples.saturating_add(samples as u64);
        self.tally.inconsistency.get_or_insert(inconsistency);
    }

    fn gap(
        &mut self,
        open: &mut Open,
        cycles: Range<u64>,
        (until_ns, ended_ns): (u64, u64),
        each: &mut dyn FnMut(Fate<'_>),
    ) {
        if cycles.is_empty() {
            return;
        }
        let due = open.window.due;
        let gap = Gap {
            first_cycle: cycles.start,
            count: cycles.end - cycles.start,
            due_ns: due.due_ns(cycles.start),
            period_ns: due.period_ns,
            until_ns,
        };
        self.tally.threads.insert(open.window.thread);
        let window_ns = gap.count.saturating_mul(due.period_ns);
        self.tally.window_ns = self.tally.window_ns.saturating_add(window_ns);
        let lost = match &mut open.lost {
            Lost::AllUntilNext(_) => gap.count,
            Lost::Some(known) => {
                let lost = gap.count.min(*known);
                *known -= lost;
                lost
            }
        };
        let (lost, skipped) = gap.split(lost);
        let ended_before_ns = open.before_ns;
        if lost.count > 0 {
            self.tally.lost += lost.count;
            self.clusters.end_series();
            // The lost cycles ended some time.
            open.before_ns = None;
            each(Fate::Unknown(lost));
        }
        let (unseen, skipped) = skipped.split(skipped.unseen(open.window.gaps, ended_before_ns));
        if unseen.count > 0 {
            match open.window.gaps {
                Gaps::RanAfterwards => self.tally.ran_unseen += unseen.count,
                _ => self.tally.unseen += unseen.count,
            }
            self.clusters.end_series();
            if open.window.gaps == Gaps::Unseen {
                open.before_ns = None;
            }
            each(Fate::Unknown(unseen));
        }
        if skipped.count == 0 {
            return;
        }
        self.tally.skipped += skipped.count;
        if open.has_overrun {
            self.tally.overruns.skipped += skipped.count;
        }
        let largest = self.tally.largest_suffered_ns;
        self.tally.largest_suffered_ns = largest.max(Some(skipped.longest_ns()));
        match self.skipped {
            Skipped::Missed => self.clusters.push_missed(skipped.count),
            Skipped::ServedByNext => {
                let work_ns = ended_ns.saturating_sub(until_ns).cast_signed();
                for waited_ns in skipped.suffered_ns() {
                    let response_ns = waited_ns.saturating_add(work_ns);
                    count(
                        &mut self.clusters,
                        self.limits.kept_by(waited_ns, response_ns),
                    );
                }
            }
        }
        each(Fate::Skipped(skipped));
    }

    fn ran(&mut self, sample: &Sample) -> bool {
        let missed = self.limits.are_missed_by(sample);
        let has = |flag| u64::from(sample.flags.contains(flag));
        let tally = &mut self.tally;
        tally.executed += 1;
        tally.executed_late += u64::from(missed);
        tally.late_after_overrun += has(SampleFlags::DUE_ALREADY_PAST);
        tally.work_faults += has(SampleFlags::WORK_FAULT);
        tally.mode_switches += has(SampleFlags::MODE_SWITCH);
        let latency_ns = Some(sample.latency_ns());
        tally.largest_latency_ns = tally.largest_latency_ns.max(latency_ns);
        tally.largest_suffered_ns = tally.largest_suffered_ns.max(latency_ns);
        let response_ns = Some(sample.response_ns());
        tally.largest_response_ns = tally.largest_response_ns.max(response_ns);
        let kept = if missed {
            Kept::Missed
        } else {
            self.limits
                .kept_by(sample.latency_ns(), sample.response_ns())
        };
        count(&mut self.clusters, kept);
        missed
    }

    fn outage(&mut self, from_ns: Option<u64>, to_ns: u64) {
        if let Some(from_ns) = from_ns {
            let length_ns = to_ns.saturating_sub(from_ns);
            self.tally.saw(Outage { length_ns, from_ns });
        }
    }

    /// The tally since the last [`Self::take`], or of everything without one.
    pub fn tally(&self) -> DueTally {
        DueTally {
            misses: self.clusters.tally(),
            ..self.tally.clone()
        }
    }

    /// The tally since the last call. Merged in their order, all of them equal the tally without a
    /// call.
    pub fn take(&mut self) -> DueTally {
        DueTally {
            misses: self.clusters.take(),
            ..std::mem::take(&mut self.tally)
        }
    }
}

fn count(clusters: &mut MissClusters, kept: Kept) {
    match kept {
        Kept::Met => clusters.push(false),
        Kept::Near(used) => clusters.push_near_miss(used),
        Kept::Missed => clusters.push(true),
    }
}
