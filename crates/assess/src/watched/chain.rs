//! How long a watched program's chains of threads take, from the first one's due time to the last one's end.

use serde::Serialize;
use std::fmt;
use wakepath_explain::watch::{Chain, Pass};
use wakepath_statistics::{Distribution, DistributionSummary, Quantile};
use wakepath_timeline::duration::{length, three_digits};
use wakepath_verdict::counted;

/// A chain of threads, each of which wakes the next. Times are nanoseconds.
#[derive(Debug, Serialize)]
pub struct ThreadChain {
    /// Their names. A timer wakes the first.
    pub threads: Vec<String>,
    /// Their numbers.
    pub thread_ids: Vec<u32>,
    /// Period of the first.
    pub period_ns: u64,
    /// Cycles of the first, from the first to the last that came to the end of the chain.
    pub begun: u64,
    /// Of these, those that came to the end, as far as events show.
    pub ended: u64,
    /// Of these, those in which other threads woke one of the chain, which waited for them, or worked for them too.
    pub with_others: u64,
    /// From the first one's due time until the last one slept again.
    pub latency_ns: Option<DistributionSummary>,
    /// Limit of that.
    pub limit_ns: u64,
    /// How many took longer.
    pub late: u64,
    /// The parts of the one that took longest. They add up.
    pub longest: Vec<ChainPart>,
}

/// One thread's part of a chain, in nanoseconds.
#[derive(Debug, Serialize)]
pub struct ChainPart {
    /// Its name.
    pub thread: String,
    /// From its wake-up until it ran; of the first one, from its due time.
    pub waited_ns: u64,
    /// From then until it woke the next one, or slept again.
    pub took_ns: u64,
}

impl ThreadChain {
    pub(super) fn new(chain: &Chain, limit_ns: Option<u64>, named: impl Fn(u32) -> String) -> Self {
        let threads: Vec<String> = chain.threads.iter().map(|id| named(*id)).collect();
        let limit_ns = limit_ns.unwrap_or(chain.period_ns);
        let longest = chain.passes.iter().max_by_key(|pass| latency_ns(pass));
        let count = |is: &dyn Fn(&Pass) -> bool| {
            let counted = chain.passes.iter().filter(|pass| is(pass));
            counted.count() as u64
        };
        let all = chain
            .passes
            .iter()
            .map(|pass| latency_ns(pass).cast_signed());
        Self {
            period_ns: chain.period_ns,
            begun: chain.begun,
            ended: chain.passes.len() as u64,
            with_others: count(&|pass| pass.with_others),
            latency_ns: Distribution::new(all.collect()).map(|of| of.summary()),
            limit_ns,
            late: count(&|pass| latency_ns(pass) > limit_ns),
            longest: longest.map_or_else(Vec::new, |pass| parts(pass, &threads)),
            thread_ids: chain.threads.clone(),
            threads,
        }
    }

    /// Its threads, as a reader sees them.
    pub fn name(&self) -> String {
        self.threads.join(" → ")
    }

    /// Facts that its figures don't show.
    pub fn remarks(&self) -> Vec<String> {
        let mut remarks = Vec::new();
        let longest_ns = self
            .longest
            .iter()
            .map(|of| of.waited_ns + of.took_ns)
            .sum();
        let parts: Vec<String> = self.longest.iter().map(ToString::to_string).collect();
        if !parts.is_empty() {
            remarks.push(format!(
                "the longest, {}: {}",
                time(longest_ns),
                parts.join("; ")
            ));
        }
        if self.with_others > 0 {
            remarks.push(format!(
                "in {} of {} other threads woke one of these, which waited for them, or worked for them too",
                self.with_others,
                counted(self.ended, "pass", "passes"),
            ));
        }
        let unseen = self.begun - self.ended;
        if unseen > 0 {
            remarks.push(format!(
                "{} of {} did not wake all of these: one was still busy, or had nothing to pass on",
                unseen,
                counted(self.begun, "cycle", "cycles"),
            ));
        }
        remarks
    }
}

/// In one sentence.
impl fmt::Display for ThreadChain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let first = self.threads.first().map_or("", String::as_str);
        let last = self.threads.last().map_or("", String::as_str);
        write!(
            f,
            "{}: from {first}'s due time to {last}'s end",
            self.name()
        )?;
        if let Some(summary) = &self.latency_ns {
            let median = summary.quantile(Quantile::P50).filter(|of| !of.is_maximum);
            if let Some(median) = median.and_then(|of| of.value) {
                write!(f, " median {},", three_digits(median))?;
            }
            write!(f, " max {}", three_digits(summary.max))?;
        }
        write!(
            f,
            "; {} of {} later than {}",
            self.late,
            self.ended,
            length(self.limit_ns)
        )?;
        for remark in self.remarks() {
            write!(f, "; {remark}")?;
        }
        Ok(())
    }
}

impl fmt::Display for ChainPart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} began after {} and took {}",
            self.thread,
            time(self.waited_ns),
            time(self.took_ns)
        )
    }
}

fn time(ns: u64) -> String {
    three_digits(ns.cast_signed())
}

fn latency_ns(pass: &Pass) -> u64 {
    pass.end_ns.saturating_sub(pass.due_ns)
}

fn parts(pass: &Pass, threads: &[String]) -> Vec<ChainPart> {
    let ends = pass.hops.iter().skip(1).map(|next| next.woken_ns);
    let hops = pass.hops.iter().zip(ends.chain([pass.end_ns]));
    let named = threads.iter().zip(hops);
    named
        .map(|(thread, (hop, end_ns))| ChainPart {
            thread: thread.clone(),
            waited_ns: hop.began_ns.saturating_sub(hop.woken_ns),
            took_ns: end_ns.saturating_sub(hop.began_ns.max(hop.woken_ns)),
        })
        .collect()
}
