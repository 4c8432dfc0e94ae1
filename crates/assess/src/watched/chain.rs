//! How long a watched program's chains of threads take, from the first one's due time to the last one's end.

use serde::{Deserialize, Serialize};
use std::fmt;
use wakepath_explain::CauseFigures;
use wakepath_explain::watch::{Chain, Pass};
use wakepath_statistics::{Distribution, DistributionSummary};
use wakepath_timeline::duration::three_digits;
use wakepath_verdict::{count, counted, fraction};

/// A chain of threads, each of which wakes the next. Times are nanoseconds.
#[derive(Debug, Serialize, Deserialize)]
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
    /// Whether those that waited behind others are among them.
    pub with_queued: bool,
    /// Of those that ended, the ones whose end lies between two instants.
    pub inexact: u64,
    /// Of these, those in which other threads woke one of the chain, which waited for them, or worked for them too.
    pub with_others: u64,
    /// From the first one's due time until the last one was done: slept again, or took the next one. At most, of the
    /// inexact ones.
    pub latency_ns: Option<DistributionSummary>,
    /// The same; at least, of the inexact ones.
    pub least_latency_ns: Option<DistributionSummary>,
    /// Limit of that.
    pub limit_ns: u64,
    /// How many took longer; at least, if the ends of some are inexact.
    pub late: u64,
    /// How many took longer at most.
    pub late_at_most: u64,
    /// Late ones whose parts are seen. The others were done in the same turns.
    pub late_seen: u64,
    /// For how long one of these or several at once were on their way, in nanoseconds.
    pub late_ns: u64,
    /// Causes of the time in these, beyond the threads' usual work, those with most time first.
    pub causes: Vec<ChainCause>,
    /// The parts of the one that took longest. They add up.
    pub longest: Vec<ChainPart>,
}

/// The part of one cause in a chain's late passes. Times are nanoseconds.
#[derive(Debug, Serialize, Deserialize)]
pub struct ChainCause {
    /// The thread that it held up.
    pub thread: String,
    /// Kind of cause, for scripts, as in an explanation.
    pub kind: String,
    /// The cause, as a person reads it.
    pub cause: String,
    /// Late passes whose parts are seen, in which it had one.
    pub passes: u64,
    /// Its time in them.
    pub ns: u64,
    /// Its largest time in one of them.
    pub worst_ns: u64,
    /// The fix, if something fits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remedy: Option<String>,
}

/// One thread's part of a chain, in nanoseconds.
#[derive(Debug, Serialize, Deserialize)]
pub struct ChainPart {
    /// Its name.
    pub thread: String,
    /// From its wake-up until it ran; of the first one, from its due time.
    pub waited_ns: u64,
    /// From then until it woke the next one, or slept again.
    pub took_ns: u64,
}

/// Causes that a sentence names.
const NAMED: usize = 3;
/// Those after the first are named if they took at least the hundredth part of the late passes.
const LEAST_SHARE: u64 = 100;

impl ThreadChain {
    /// `limit_ns`: beyond it a pass is late. `late`: what took time in these.
    pub(super) fn new(
        chain: &Chain,
        limit_ns: u64,
        late: Vec<(usize, CauseFigures)>,
        named: impl Fn(u32) -> String,
    ) -> Self {
        let threads: Vec<String> = chain.threads.iter().map(|id| named(*id)).collect();
        let whole = chain.passes.iter().filter(|pass| !pass.is_merged);
        let longest = whole.max_by_key(|pass| pass.latency_ns());
        let is_late = |pass: &&Pass| pass.latency_ns() > limit_ns;
        let seen = chain
            .passes
            .iter()
            .filter(|pass| is_late(pass) && !pass.is_merged);
        let causes = late.into_iter().map(|(thread, of)| ChainCause {
            thread: threads[thread].clone(),
            remedy: of.remedy,
            kind: of.kind,
            cause: of.cause,
            passes: of.late_cycles,
            ns: of.late_ns,
            worst_ns: of.late_worst_ns,
        });
        let number_of = |is: &dyn Fn(&Pass) -> bool| {
            let counted = chain.passes.iter().filter(|pass| is(pass));
            counted.count() as u64
        };
        let summary = |of: &dyn Fn(&Pass) -> u64| {
            let all = chain.passes.iter().map(|pass| of(pass).cast_signed());
            Distribution::new(all.collect()).map(|of| of.summary())
        };
        Self {
            period_ns: chain.period_ns,
            begun: chain.begun,
            ended: chain.passes.len() as u64,
            with_others: number_of(&|pass| pass.with_others),
            with_queued: chain.with_queued,
            inexact: number_of(&|pass| pass.earliest_end_ns < pass.end_ns),
            latency_ns: summary(&Pass::latency_ns),
            least_latency_ns: summary(&Pass::least_latency_ns),
            limit_ns,
            late: number_of(&|pass| pass.least_latency_ns() > limit_ns),
            late_at_most: number_of(&|pass| is_late(&pass)),
            late_seen: seen.clone().count() as u64,
            late_ns: time_in(seen),
            causes: causes.collect(),
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
        remarks.extend(self.longest_in_words());
        remarks.extend(self.why_late());
        if self.with_others > 0 {
            remarks.push(format!(
                "in {} of {} other threads woke one of these, which waited for them, or worked for them too",
                self.with_others,
                counted(self.ended, "pass", "passes"),
            ));
        }
        if self.inexact > 0 {
            remarks.push(format!(
                "the end of {} is not seen, as a thread worked off several at once: each ended after the next one had \
                 come, or was dropped for it, and at the latest when the thread slept again",
                counted(self.inexact, "pass", "passes"),
            ));
        }
        let unseen = self.begun - self.ended;
        if unseen > 0 {
            let why = match self.with_queued {
                true => "did not come to the end: they had nothing to pass on, or it was dropped",
                false => {
                    "did not wake all of these: they had nothing to pass on, or it waited behind an earlier one; then it \
                     is not counted here, and the earlier one ends with it"
                }
            };
            remarks.push(format!(
                "{} of {} {why}",
                count(unseen),
                counted(self.begun, "cycle", "cycles")
            ));
        }
        remarks
    }

    /// The parts of the longest pass, or of the longest whose parts are seen.
    fn longest_in_words(&self) -> Option<String> {
        let parts: Vec<String> = self.longest.iter().map(ToString::to_string).collect();
        let ns = self.longest.iter().map(|of| of.waited_ns + of.took_ns);
        let ns = ns.sum::<u64>().cast_signed();
        let max_ns = self.latency_ns.as_ref()?.max;
        let longest = match ns == max_ns {
            true => format!("the longest, {}", self.latency_in_words(|of| Some(of.max))?),
            false => format!("the longest whose parts are seen, {}", three_digits(ns)),
        };
        (!parts.is_empty()).then(|| format!("{longest}: {}", parts.join("; ")))
    }

    /// How many were late; at least, if there may be others among those that were not seen to end.
    pub fn late_in_words(&self) -> String {
        let late = count(self.late);
        match self.with_queued || self.begun == self.ended {
            true if self.late == self.late_at_most => late,
            true => format!("{late} … {}", count(self.late_at_most)),
            false => format!("≥ {late}"),
        }
    }

    /// A figure of its latencies, such as "≤ 12.5 ms" if it is one of an inexact pass.
    pub fn latency_in_words(
        &self,
        figure: impl Fn(&DistributionSummary) -> Option<i64>,
    ) -> Option<String> {
        let figure =
            |of: &Option<DistributionSummary>| of.as_ref().and_then(&figure).map(three_digits);
        let most = figure(&self.latency_ns)?;
        match figure(&self.least_latency_ns).is_some_and(|least| least != most) {
            true => Some(format!("≤ {most}")),
            false => Some(most),
        }
    }
}

impl ThreadChain {
    /// What took most time in the late ones, and what can be done about the first.
    pub fn why_late(&self) -> Option<String> {
        let first = self.causes.first()?;
        let worth_it = |of: &&ChainCause| of.ns * LEAST_SHARE >= self.late_ns;
        let others = self.causes[1..].iter().filter(worth_it).take(NAMED - 1);
        let named: Vec<String> = [first]
            .into_iter()
            .chain(others)
            .map(|of| self.share(of))
            .collect();
        let fix = match (&first.remedy, named.len()) {
            (None, _) => String::new(),
            (Some(fix), 1) => format!(" → {fix}"),
            (Some(fix), _) => format!(" → for the first: {fix}"),
        };
        let passes = match self.late_seen {
            1 => "late pass".to_owned(),
            late => format!("{} late passes", count(late)),
        };
        let which = match self.late_seen < self.late {
            true => " whose parts are seen",
            false => "",
        };
        let took = time(self.late_ns);
        Some(format!(
            "the {passes}{which} took {took}, of that {}{fix}",
            named.join("; ")
        ))
    }

    fn share(&self, of: &ChainCause) -> String {
        let share = fraction(of.ns as f64 / self.late_ns.max(1) as f64);
        format!("{} ({share}) in {}: {}", time(of.ns), of.thread, of.cause)
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

/// Time in which passes were on their way, those at the same time counted once. They come in the order of their due times.
fn time_in<'a>(passes: impl Iterator<Item = &'a Pass>) -> u64 {
    let (time_ns, _) = passes.fold((0, 0), |(time_ns, until_ns), pass| {
        let from_ns = pass.due_ns.max(until_ns);
        let more_ns = pass.end_ns.saturating_sub(from_ns);
        (time_ns + more_ns, until_ns.max(pass.end_ns))
    });
    time_ns
}

fn time(ns: u64) -> String {
    three_digits(ns.cast_signed())
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

#[cfg(test)]
mod tests {
    use super::*;

    fn cause(thread: &str, cause: &str, ns: u64, remedy: Option<&str>) -> ChainCause {
        ChainCause {
            kind: "user-code".into(),
            thread: thread.into(),
            cause: cause.into(),
            passes: 1,
            ns,
            worst_ns: ns,
            remedy: remedy.map(Into::into),
        }
    }

    fn why(late: u64, causes: Vec<ChainCause>) -> Option<String> {
        let chain = ThreadChain {
            threads: vec!["sensor".into(), "filter".into()],
            thread_ids: vec![1, 2],
            period_ns: 10_000_000,
            begun: 100,
            ended: 100,
            with_others: 0,
            with_queued: true,
            inexact: 0,
            latency_ns: None,
            least_latency_ns: None,
            limit_ns: 10_000_000,
            late,
            late_at_most: late,
            late_seen: late,
            late_ns: 20_000_000,
            causes,
            longest: Vec::new(),
        };
        chain.why_late()
    }

    #[test]
    fn passes_that_are_on_their_way_at_once_take_their_time_once() {
        let passes = [(0, 30), (10, 40), (20, 35), (100, 110)].map(|(due_ns, end_ns)| Pass {
            due_ns,
            end_ns,
            earliest_end_ns: end_ns,
            hops: Vec::new(),
            with_others: false,
            is_merged: false,
        });
        assert_eq!(time_in(passes.iter()), 50);
    }

    #[test]
    fn causes_of_late_passes_are_named_by_their_share_with_what_helps_against_the_first() {
        let fix = "run it elsewhere";
        let causes = || {
            vec![
                cause("filter", "thread hog, more urgent", 15_000_000, Some(fix)),
                cause("sensor", "page faults", 4_000_000, None),
                cause("filter", "interrupt eth0", 100_000, None),
            ]
        };
        let both = "the 2 late passes took 20.0 ms, of that 15.0 ms (75 %) in filter: thread hog, more urgent; \
                    4.00 ms (20 %) in sensor: page faults → for the first: run it elsewhere";
        assert_eq!(why(2, causes()).unwrap(), both);
        let mut one = causes();
        one.remove(1);
        let alone = "the late pass took 20.0 ms, of that 15.0 ms (75 %) in filter: thread hog, more urgent → run it \
                     elsewhere";
        assert_eq!(why(1, one).unwrap(), alone);
        assert_eq!(why(0, Vec::new()), None);
    }
}
