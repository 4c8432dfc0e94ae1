//! Latencies of callbacks while they run, in bounded memory: of timers, of callbacks that keep a period, and of
//! subscriptions to messages that came from a middleware.

use crate::due::Grid;
use crate::executing::Executing;
use crate::graph::{Graph, Handle};
use crate::recorder::topic_of;
use crate::row::period_of;
use crate::{BEGINS, Begun, Callback, Kind};
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use wakepath_timeline::{Call, KernelEvent, What};

/// Number of latest gaps used to detect a period.
const RECENT: usize = 64;
/// Number of latest messages that may still be taken.
const MESSAGES: usize = 4096;

/// Takes calls, and has the latency of each beginning of a callback.
#[derive(Debug, Default)]
pub struct Live {
    graph: Graph,
    callbacks: BTreeMap<Handle, Followed>,
    messages: Messages,
    executing: Executing,
    /// Those that began for the first time.
    begun: Vec<Begun>,
}

/// A message: its date, and its topic.
type Message = (i64, Arc<str>);

/// Messages under way.
#[derive(Debug, Default)]
struct Messages {
    /// When each was published, in nanoseconds.
    published: BTreeMap<Message, u64>,
    /// The same messages, the latest first.
    order: VecDeque<Message>,
    /// The one that a thread took last, and no callback was called with yet.
    taken: BTreeMap<u32, Message>,
}

impl Messages {
    /// Takes a call of a thread of this process.
    fn call(&mut self, graph: &Graph, process: u32, event: &KernelEvent, call: &Call) {
        let of = call.numbers.first().map(|address| (process, *address));
        let (Some(of), Some(stamp)) = (of, call.numbers.get(1)) else {
            return;
        };
        let message = |topic| (stamp.cast_signed(), topic);
        match &*call.function {
            "rmw_publish" => {
                let publisher = graph.publisher(of);
                let topic = publisher.and_then(|of| graph.published_topic(of));
                let Some(topic) = topic.or_else(|| topic_of(call)) else {
                    return;
                };
                self.published
                    .insert(message(Arc::clone(&topic)), event.at_ns);
                self.order.push_front(message(topic));
                if self.order.len() > MESSAGES
                    && let Some(oldest) = self.order.pop_back()
                {
                    self.published.remove(&oldest);
                }
            }
            "rmw_take" if call.numbers.get(2).is_some_and(|taken| *taken > 0) => {
                let topic = graph.taken_topic(of).or_else(|| topic_of(call));
                let taken = topic.map(|topic| (event.current, message(topic)));
                self.taken.extend(taken);
            }
            _ => {}
        }
    }

    /// How long the message waited with which a callback of this kind begins in a thread, unless it is from before
    /// `since_ns`.
    fn waited(&mut self, thread: u32, kind: &Kind, (since_ns, at_ns): (u64, u64)) -> Option<u64> {
        let message = self.taken.remove(&thread)?;
        let is_own = matches!(kind, Kind::Subscription { topic, .. } if **topic == *message.1);
        let published_ns = self.published.get(&message).filter(|_| is_own)?;
        (*published_ns >= since_ns).then(|| at_ns.saturating_sub(*published_ns))
    }
}

#[derive(Debug)]
struct Followed {
    callback: Callback,
    grid: Option<Grid>,
    /// When it began for the first time, in nanoseconds.
    first_ns: Option<u64>,
    last_ns: Option<u64>,
    gaps: VecDeque<u64>,
    /// Whether events were lost since it began.
    has_lost: bool,
}

impl Live {
    /// Takes an event: a call of a thread of this process, or that events were lost. If a callback begins and its due time is known or
    /// can be estimated: the callback, and how long after it was due it began, in nanoseconds.
    pub fn event(
        &mut self,
        event: &KernelEvent,
        process: impl Fn(u32) -> Option<u32>,
    ) -> Option<(&Callback, u64)> {
        self.executing.event(event);
        let call = match &event.what {
            What::Call(call) => call,
            What::Lost { .. } => {
                self.messages.taken.clear();
                let all = self.callbacks.values_mut();
                all.for_each(|followed| followed.has_lost = true);
                return None;
            }
            _ => return None,
        };
        let process = process(event.current)?;
        let handle = |at: usize| call.numbers.get(at).map(|address| (process, *address));
        if &*call.function == "callback_end" {
            self.executing.ends(event.current, 0);
            return None;
        }
        if &*call.function != BEGINS {
            self.messages.call(&self.graph, process, event, call);
            let known = self.graph.take(process, event, call);
            if known && call.function.ends_with("_callback_added") {
                self.callbacks.remove(&handle(1)?);
            }
            return None;
        }
        let callback = handle(0)?;
        let graph = &self.graph;
        let begun = &mut self.begun;
        let followed = self.callbacks.entry(callback).or_insert_with(|| {
            begun.push(Begun {
                callback,
                at_ns: event.at_ns,
                words: graph.words(callback, &call.numbers),
            });
            Followed::new(graph.callback(callback))
        });
        let (thread, kind) = (event.current, &followed.callback.kind);
        self.executing.begins(thread, &followed.callback);
        let times = (*followed.first_ns.get_or_insert(event.at_ns), event.at_ns);
        let waited_ns = self.messages.waited(thread, kind, times);
        let latency_ns = followed.begins(event.at_ns).or(waited_ns)?;
        Some((&followed.callback, latency_ns))
    }

    /// Whether a thread only runs an executor: its callbacks are all of its work.
    pub fn is_executing(&self, thread: u32) -> bool {
        self.executing.is(thread)
    }

    /// The callbacks that began for the first time since this was last asked.
    pub fn take_begun(&mut self) -> Vec<Begun> {
        std::mem::take(&mut self.begun)
    }
}

impl Followed {
    fn new(callback: Callback) -> Self {
        let grid = match callback.kind {
            Kind::Timer { period_ns, made_ns } => Grid::new(made_ns, period_ns),
            _ => None,
        };
        Self {
            callback,
            grid,
            first_ns: None,
            last_ns: None,
            gaps: VecDeque::new(),
            has_lost: false,
        }
    }

    /// How long after it was due it begins.
    fn begins(&mut self, at_ns: u64) -> Option<u64> {
        if matches!(
            self.callback.kind,
            Kind::Subscription { .. } | Kind::Service { .. } | Kind::Handled { .. }
        ) {
            return None;
        }
        if std::mem::take(&mut self.has_lost) {
            self.last_ns = None;
            if let Some(grid) = &mut self.grid {
                grid.forgets(at_ns);
            }
        }
        let gap_ns = self.last_ns.map(|last_ns| at_ns.saturating_sub(last_ns));
        self.last_ns = Some(at_ns);
        if let Some(grid) = &mut self.grid {
            let due_ns = grid.due(at_ns);
            if due_ns.is_none() || !grid.fits() {
                self.grid = None;
            } else {
                return due_ns.map(|due_ns| at_ns.saturating_sub(due_ns));
            }
        }
        let gap_ns = gap_ns?;
        // As it was before this run.
        let period_ns = period_of(&self.callback.kind, self.gaps.iter().rev().copied());
        self.gaps.truncate(RECENT - 1);
        self.gaps.push_front(gap_ns);
        Some(gap_ns.saturating_sub(period_ns?))
    }
}
