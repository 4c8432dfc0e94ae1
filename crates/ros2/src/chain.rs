//! Chains from topic to topic: a message is published, taken, a callback is called with it and publishes the next one.
//! A message is known again by the date that its sender's middleware gave it, in the same process and in others.

use crate::late::Late;
use crate::row::Figures;
use crate::{Kind, Run, Seen};
use serde::{Deserialize, Serialize};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::str::FromStr;

/// So many hops at most: callbacks that publish what they take go round forever.
const MOST_HOPS: usize = 32;

/// Where a chain begins and ends.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Chain {
    /// The topic of its first message.
    pub from: String,
    /// The topic of its last message, or the node whose callback is its last.
    pub to: String,
}

/// Why a text names no chain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChainError;

impl FromStr for Chain {
    type Err = ChainError;

    fn from_str(text: &str) -> Result<Self, ChainError> {
        let (from, to) = text.split_once(':').ok_or(ChainError)?;
        let named = |name: &str| {
            let has_blank = name.contains(|c: char| c.is_whitespace() || c == ':');
            (!name.is_empty() && !has_blank).then(|| name.to_owned())
        };
        Ok(Self {
            from: named(from).ok_or(ChainError)?,
            to: named(to).ok_or(ChainError)?,
        })
    }
}

/// A chain as it was seen. Times are nanoseconds.
#[derive(Debug, Serialize, Deserialize)]
pub struct ChainFound {
    /// Which.
    #[serde(flatten)]
    pub chain: Chain,
    /// First messages that were published.
    pub begun: u64,
    /// Of them, those that came to the end.
    pub ended: u64,
    /// Of them, those that were under way when the recording ended.
    pub under_way: u64,
    /// From the first message's being published to the end of the last callback.
    pub latency_ns: Option<Figures>,
    /// Ends later than the limit, if there is one.
    pub above: Option<u64>,
    /// The hops of the chains that came to the end, in their order.
    pub hops: Vec<Hop>,
    /// Chains that did not come to the end.
    pub lost: Vec<Lost>,
    /// Whether a node, or a topic, of the end's name was seen.
    pub end_is_known: bool,
    /// The latest that came to the end after the limit.
    pub latest: Vec<LateEnd>,
}

/// A message that came to the end late, by the hop that took longest.
#[derive(Debug, Serialize, Deserialize)]
pub struct LateEnd {
    /// From the first message's being published to the end of the last callback, in nanoseconds.
    pub latency_ns: u64,
    /// The hop's callback.
    pub callback: String,
    /// From the callback's beginning until it published the next message; of the last hop, until it ended.
    pub worked_ns: u64,
    /// Its wait for the callback: due when the message was published.
    pub late: Late,
}

/// One hop: a message, and the callback that is called with it.
#[derive(Debug, Serialize, Deserialize)]
pub struct Hop {
    /// The callback.
    pub callback: String,
    /// From being published until the callback began.
    pub waiting_ns: Option<Figures>,
    /// From the callback's beginning until it published the next message; of the last hop, until it ended.
    pub working_ns: Option<Figures>,
}

/// Chains that ended early.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lost {
    /// The topic of their last message.
    pub topic: String,
    /// Why they ended there.
    pub by: LostBy,
    /// How many.
    pub count: u64,
}

/// Why a chain ended at a message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LostBy {
    /// A callback was called with it, and published nothing that leads on.
    NothingLeadsOn,
    /// So many newer ones came before a callback took the next that its queue did not hold it any longer.
    Overwritten {
        /// The callback.
        callback: String,
        /// Messages that its queue holds.
        depth: u64,
    },
    /// It was published before the first that the callback was called with.
    BeforeFirst {
        /// The callback.
        callback: String,
    },
    /// A callback took newer ones, but not this.
    Missed {
        /// The callback.
        callback: String,
    },
    /// No watched callback took it, nor a newer one.
    NotTaken,
    /// Events were lost while it was under way.
    Unrecorded,
}

/// The messages and runs that belong together.
struct Links<'a> {
    seen: &'a Seen,
    /// Runs that were called with a message.
    takers: BTreeMap<(i64, &'a str), Vec<&'a Run>>,
    /// Messages that a thread published, by when.
    by_thread: BTreeMap<u32, Vec<usize>>,
    /// The first and the last message that each callback was called with.
    span: BTreeMap<usize, (usize, usize)>,
}

/// How far a message came.
enum Came {
    /// To the end: the hops' runs with their messages, last first.
    ToEnd(Vec<(usize, Run)>),
    /// To this message.
    To(usize),
}

impl<'a> Links<'a> {
    fn new(seen: &'a Seen) -> Self {
        let mut takers: BTreeMap<(i64, &str), Vec<&Run>> = BTreeMap::new();
        for run in &seen.runs {
            if let (Some(stamp), Kind::Subscription { topic, .. }) =
                (run.message, &seen.callbacks[run.callback].kind)
            {
                takers.entry((stamp, topic.as_str())).or_default().push(run);
            }
        }
        let mut by_thread: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
        for (number, of) in seen.published.iter().enumerate() {
            by_thread.entry(of.thread).or_default().push(number);
        }
        let mut links = Self {
            seen,
            takers,
            by_thread,
            span: BTreeMap::new(),
        };
        for at in 0..seen.published.len() {
            let callbacks: Vec<usize> = links.takers(at).map(|run| run.callback).collect();
            for callback in callbacks {
                links.span.entry(callback).or_insert((at, at)).1 = at;
            }
        }
        links
    }

    /// The runs that were called with a message.
    fn takers(&self, message: usize) -> impl Iterator<Item = &'a Run> + use<'a, '_> {
        let of = &self.seen.published[message];
        let runs = of
            .stamps()
            .filter_map(|stamp| self.takers.get(&(stamp, &*of.topic)));
        runs.flatten().copied()
    }

    /// Why a chain ended at a message, where these callbacks lead on.
    fn lost(&self, message: usize, leading: &BTreeSet<usize>, patience_ns: u64) -> LostBy {
        let of = &self.seen.published[message];
        let is_of = |number: &usize| {
            let kind = &self.seen.callbacks[*number].kind;
            matches!(kind, Kind::Subscription { topic, .. } if **topic == *of.topic)
        };
        let leading: Vec<usize> = leading.iter().copied().filter(is_of).collect();
        let next_ns = |number: &usize| self.next_newer(*number, message);
        let until_ns = leading.iter().filter_map(next_ns).max();
        let until_ns = until_ns.unwrap_or(of.at_ns.saturating_add(patience_ns));
        if self.seen.has_lost(of.at_ns, until_ns) {
            return LostBy::Unrecorded;
        }
        let leads = |run: &Run| leading.is_empty() || leading.contains(&run.callback);
        if self.takers(message).any(leads) {
            return LostBy::NothingLeadsOn;
        }
        let callbacks = if leading.is_empty() {
            (0..self.seen.callbacks.len()).filter(is_of).collect()
        } else {
            leading
        };
        let missed = callbacks.into_iter().filter_map(|number| {
            let next_ns = self.next_newer(number, message)?;
            let callback = self.seen.callbacks[number].to_string();
            let newer = self.seen.published[message + 1..].iter();
            let newer = newer.take_while(|one| one.at_ns < next_ns);
            let newer = newer.filter(|one| one.topic == of.topic).count() as u64;
            let was_overwritten = of
                .stamps()
                .any(|stamp| self.seen.overwritten.contains(&stamp));
            let is_before_first = self.span.get(&number).is_some_and(|of| of.0 > message);
            Some(match self.seen.callbacks[number].kind {
                _ if is_before_first && !was_overwritten => LostBy::BeforeFirst { callback },
                Kind::Subscription { depth, .. }
                    if was_overwritten || (depth > 0 && newer >= depth) =>
                {
                    LostBy::Overwritten { callback, depth }
                }
                _ => LostBy::Missed { callback },
            })
        });
        missed.into_iter().next().unwrap_or(LostBy::NotTaken)
    }

    /// When a callback began with a message that was published after this one.
    fn next_newer(&self, callback: usize, message: usize) -> Option<u64> {
        let span = self.span.get(&callback);
        if span.is_none_or(|(_, last)| *last <= message) {
            return None;
        }
        let topic = &self.seen.published[message].topic;
        let newer = self.seen.published[message + 1..].iter().enumerate();
        let newer = newer.filter(|(_, one)| one.topic == *topic);
        let mut runs = newer.flat_map(|(at, _)| self.takers(message + 1 + at));
        let first = runs.find(|run| run.callback == callback);
        first.map(|run| run.from_ns)
    }

    /// The messages that a run published.
    fn within(&self, run: &Run) -> &[usize] {
        let all = self
            .by_thread
            .get(&run.thread)
            .map_or(&[][..], Vec::as_slice);
        let at = |number: &usize| self.seen.published[*number].at_ns;
        let from = all.partition_point(|number| at(number) < run.from_ns);
        let to = all.partition_point(|number| at(number) <= run.to_ns);
        &all[from..to.max(from)]
    }

    /// Follows a message to the chain's end, along the first callbacks that lead there.
    fn follow(&self, message: usize, to: &str, met: &mut BTreeSet<usize>) -> Came {
        let of = &self.seen.published[message];
        let mut furthest = Came::To(message);
        if !met.insert(message) || met.len() > MOST_HOPS {
            return furthest;
        }
        for run in self.takers(message) {
            let node = self.seen.callbacks[run.callback].node.as_deref();
            let is_end = *of.topic == *to || node.map(plain) == Some(plain(to));
            if is_end {
                return Came::ToEnd(vec![(message, *run)]);
            }
            for &next in self.within(run) {
                match self.follow(next, to, met) {
                    Came::ToEnd(mut hops) => {
                        hops.push((message, *run));
                        return Came::ToEnd(hops);
                    }
                    further @ Came::To(..) => furthest = further,
                }
            }
        }
        furthest
    }
}

/// How long a hop's callback worked until it passed the message on, or ended.
fn worked(seen: &Seen, way: &[(usize, Run)], hop: usize) -> u64 {
    let run = way[hop].1;
    let next = way.get(hop + 1);
    let next_ns = next.map(|(next, _)| seen.published[*next].at_ns);
    next_ns.unwrap_or(run.to_ns).saturating_sub(run.from_ns)
}

/// A node in the root namespace is named with or without it.
fn plain(name: &str) -> &str {
    name.trim_start_matches('/')
}

impl Chain {
    /// Whether a node or a topic of the end's name was seen.
    fn ends_at_known(&self, seen: &Seen) -> bool {
        let is_callbacks = seen.callbacks.iter().any(|of| {
            let is_topic =
                matches!(&of.kind, Kind::Subscription { topic, .. } if *topic == self.to);
            is_topic || of.node.as_deref().map(plain) == Some(plain(&self.to))
        });
        is_callbacks || seen.published.iter().any(|of| *of.topic == *self.to)
    }

    /// The chain's observed times; ends later than `limit_ns` are counted, and the `worst` of them explained. A message
    /// whose chain was in progress for less than `patience_ns` before the recording ended is not lost.
    pub fn find(
        &self,
        seen: &Seen,
        limit_ns: Option<u64>,
        worst: usize,
        patience_ns: u64,
    ) -> ChainFound {
        let links = Links::new(seen);
        let ended_ns = seen.span_ns.map_or(0, |(_, last)| last);
        let mut found = ChainFound {
            chain: self.clone(),
            begun: 0,
            ended: 0,
            under_way: 0,
            latency_ns: None,
            above: limit_ns.map(|_| 0),
            hops: Vec::new(),
            lost: Vec::new(),
            end_is_known: self.ends_at_known(seen),
            latest: Vec::new(),
        };
        let mut late: Vec<(u64, Run, u64, u64)> = Vec::new();
        let mut latencies = Vec::new();
        // By the callbacks along the way: several ways may lead from the one to the other.
        let mut hops: Vec<(usize, Vec<u64>, Vec<u64>)> = Vec::new();
        let mut early = Vec::new();
        for (number, message) in seen.published.iter().enumerate() {
            if *message.topic != *self.from {
                continue;
            }
            found.begun += 1;
            match links.follow(number, &self.to, &mut BTreeSet::new()) {
                Came::ToEnd(mut way) => {
                    way.reverse();
                    found.ended += 1;
                    let last = way.last().map_or(message.at_ns, |(_, run)| run.to_ns);
                    let latency = last - message.at_ns;
                    if limit_ns.is_some_and(|limit| latency > limit) {
                        found.above = found.above.map(|above| above + 1);
                        let hops = way.iter().enumerate().map(|(hop, (from, run))| {
                            let due_ns = seen.published[*from].at_ns;
                            let worked_ns = worked(seen, &way, hop);
                            let waited_ns = run.from_ns.saturating_sub(due_ns);
                            (waited_ns.max(worked_ns), *run, due_ns, worked_ns)
                        });
                        let longest = hops.max_by_key(|(ns, ..)| *ns);
                        let longest = longest
                            .map(|(_, run, due_ns, worked_ns)| (latency, run, due_ns, worked_ns));
                        late.extend(longest);
                    }
                    latencies.push(latency);
                    for (hop, (from, run)) in way.iter().enumerate() {
                        let published = seen.published[*from].at_ns;
                        let at = hops
                            .iter()
                            .position(|(callback, ..)| *callback == run.callback);
                        let at = at.unwrap_or_else(|| {
                            hops.push((run.callback, Vec::new(), Vec::new()));
                            hops.len() - 1
                        });
                        hops[at].1.push(run.from_ns.saturating_sub(published));
                        hops[at].2.push(worked(seen, &way, hop));
                    }
                }
                Came::To(last) => early.push((last, message.at_ns + patience_ns > ended_ns)),
            }
        }
        let leading: BTreeSet<usize> = hops.iter().map(|(callback, ..)| *callback).collect();
        for (last, is_recent) in early {
            let by = links.lost(last, &leading, patience_ns);
            // It may still be taken, or what leads on be published.
            if is_recent && matches!(by, LostBy::NotTaken | LostBy::NothingLeadsOn) {
                found.under_way += 1;
                continue;
            }
            let topic = &seen.published[last].topic;
            let known = found.lost.iter_mut();
            let mut known = known.filter(|of| *of.topic == **topic && of.by == by);
            match known.next() {
                Some(of) => of.count += 1,
                None => found.lost.push(Lost {
                    topic: topic.to_string(),
                    by,
                    count: 1,
                }),
            }
        }
        found.latency_ns = Figures::new(latencies);
        late.sort_by_cached_key(|(latency_ns, run, ..)| (Reverse(*latency_ns), run.from_ns));
        late.truncate(worst);
        let latest = late
            .into_iter()
            .map(|(latency_ns, run, due_ns, worked_ns)| LateEnd {
                latency_ns,
                worked_ns,
                callback: seen.callbacks[run.callback].to_string(),
                late: Late::new(seen, 0, &run, due_ns),
            });
        found.latest = latest.collect();
        let hop = |(callback, waiting, working): (usize, Vec<u64>, Vec<u64>)| Hop {
            callback: seen.callbacks[callback].to_string(),
            waiting_ns: Figures::new(waiting),
            working_ns: Figures::new(working),
        };
        found.hops = hops.into_iter().map(hop).collect();
        found
    }
}
