//! Calls, one after the other, as runs of callbacks and messages.

use crate::callback::ACTION;
use crate::executing::Executing;
use crate::graph::{Graph, Handle};
use crate::on_cpu::{self, OnCpu};
use crate::within::Within;
use crate::{BEGINS, Callback, FunctionOf, Kind, Run, Taken};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use wakepath_timeline::{Call, KernelEvent, What};

/// A message as its sender's middleware was handed it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Published {
    /// When, in nanoseconds on `CLOCK_MONOTONIC`.
    pub at_ns: u64,
    /// By which thread.
    pub thread: u32,
    /// In which process.
    pub process: u32,
    /// On which topic.
    pub topic: Arc<str>,
    /// Its date, by which a taker recognises it; below 0 within its process.
    pub stamp: i64,
    /// Its date in the middleware, if it also left its process.
    pub also: Option<i64>,
}

impl Published {
    /// All that takers recognise it by.
    pub fn stamps(&self) -> impl Iterator<Item = i64> {
        std::iter::once(self.stamp).chain(self.also)
    }
}

/// Everything that was seen.
#[derive(Debug, Default)]
pub struct Seen {
    /// Callbacks, each as it was first met.
    pub callbacks: Vec<Callback>,
    /// Runs, by their beginning.
    pub runs: Vec<Run>,
    /// Pairs of callbacks, the smaller number first, that ran at the same time: no callback group excludes it.
    pub together: BTreeSet<(usize, usize)>,
    /// Messages that were published, by when.
    pub published: Vec<Published>,
    /// Messages that were published by handles whose making was not seen.
    pub unnamed_messages: u64,
    /// Messages within a process that newer ones overwrote before they were taken.
    pub overwritten: BTreeSet<i64>,
    /// Whether there were clients or servers of actions, whose work no callback marks.
    pub has_unmarked: bool,
    /// Ends of callbacks whose beginning was not seen, and beginnings whose end was not.
    pub unpaired: u64,
    /// Stretches of time in which events of a CPU were lost, the earliest first; none touches another.
    pub lost: Vec<(u64, u64)>,
    /// When the first and the last call came, in nanoseconds on `CLOCK_MONOTONIC`.
    pub span_ns: Option<(u64, u64)>,
    /// The same of each process.
    pub spans: BTreeMap<u32, (u64, u64)>,
    /// Threads that only run an executor: their callbacks are all of their work.
    pub executing: BTreeSet<u32>,
}

impl Seen {
    /// Takes the functions of callbacks that were looked up.
    pub fn functions(&mut self, found: &[FunctionOf]) {
        let mut first_ns = vec![None; self.callbacks.len()];
        for run in &self.runs {
            first_ns[run.callback].get_or_insert(run.from_ns);
        }
        for (callback, first_ns) in self.callbacks.iter_mut().zip(first_ns) {
            let Some(first_ns) = first_ns else { continue };
            let handle = (callback.process, callback.handle);
            let own = found
                .iter()
                .filter(|of| of.callback == handle && of.at_ns <= first_ns);
            if let Some(last) = own.max_by_key(|of| of.at_ns) {
                callback.symbol = Some(last.name.clone());
            }
        }
    }

    /// Whether events were lost between two instants.
    pub fn has_lost(&self, from_ns: u64, to_ns: u64) -> bool {
        let first = self
            .lost
            .partition_point(|(_, until_ns)| *until_ns <= from_ns);
        self.lost
            .get(first)
            .is_some_and(|(since_ns, _)| *since_ns < to_ns)
    }
}

/// A callback under way.
#[derive(Debug, Clone, Copy)]
struct Open {
    number: usize,
    callback: Handle,
    cpu: u16,
    from_ns: u64,
    message: Option<i64>,
    /// Its thread when it began.
    then: on_cpu::OfThread,
}

/// Takes calls, and tells in the end what they came to.
#[derive(Debug, Default)]
pub struct Recorder {
    graph: Graph,
    seen: Seen,
    /// The callback at an address, as made last.
    numbers: BTreeMap<Handle, usize>,
    /// Callbacks under way on each thread, the outermost first.
    open: BTreeMap<u32, Vec<Open>>,
    /// The message that a thread took last, and no callback was called with yet.
    taken: BTreeMap<u32, (Option<Arc<str>>, i64)>,
    within: Within,
    /// With which handle of rcl a thread is taking something.
    taking: BTreeMap<u32, Handle>,
    /// Callbacks of which nothing is known, each time that they began with a message of this topic taken before.
    after_taking: Vec<(usize, Arc<str>)>,
    executing: Executing,
    on_cpu: OnCpu,
    /// When each CPU's last event was.
    last_ns: BTreeMap<u16, u64>,
}

impl Recorder {
    /// Takes an event: a call of a thread of this process, or that events were lost.
    pub fn event(&mut self, event: &KernelEvent, process: impl Fn(u32) -> Option<u32>) {
        let before_ns = self.last_ns.insert(event.cpu, event.at_ns);
        self.executing.event(event);
        self.on_cpu.event(event);
        if let What::Lost { .. } = event.what {
            self.loses(before_ns.unwrap_or(0), event.at_ns);
            return;
        }
        let What::Call(call) = &event.what else {
            return;
        };
        let (thread, at_ns) = (event.current, event.at_ns);
        let Some(process) = process(thread) else {
            return;
        };
        let first = self.seen.span_ns.map_or(at_ns, |(first, _)| first);
        self.seen.span_ns = Some((first, at_ns));
        let span = self.seen.spans.entry(process).or_insert((at_ns, at_ns));
        span.1 = at_ns;
        let handle = |at: usize| call.numbers.get(at).map(|address| (process, *address));
        let number = |at: usize| call.numbers.get(at).copied();
        match &*call.function {
            BEGINS => {
                if let Some(callback) = handle(0) {
                    self.begin(callback, event);
                }
            }
            "callback_end" => {
                if let Some(callback) = handle(0) {
                    self.end(callback, thread, at_ns);
                }
            }
            "manager_read" | "manager_update" | "manager_write" | "controller_update" => {
                let part = handle(0).and_then(|of| self.graph.part(&call.function, of));
                if let Some(part) = part {
                    self.begin(part, event);
                }
            }
            "manager_read_returns"
            | "manager_update_returns"
            | "manager_write_returns"
            | "controller_update_returns" => {
                // A return has no object: it is that of the innermost call.
                let open = self.open.get(&thread).and_then(|open| open.last());
                let kind = |of: &Open| &self.seen.callbacks[of.number].kind;
                let open = open.filter(|of| matches!(kind(of), Kind::Control { .. }));
                if let Some(part) = open.map(|of| of.callback) {
                    self.end(part, thread, at_ns);
                }
            }
            "take_request_with_info" | "take_response_with_info" => {
                self.taking.extend(handle(0).map(|of| (thread, of)));
            }
            "take_request_with_info_returns" => {
                let of = self.taking.remove(&thread).filter(|_| number(0) == Some(0));
                self.takes(Taken::Request, of, event);
            }
            "take_response_with_info_returns" => {
                let of = self.taking.remove(&thread).filter(|_| number(0) == Some(0));
                self.takes(Taken::Answer, of, event);
            }
            "rmw_take_request" | "rmw_take_response" => {
                let taken = match &*call.function {
                    "rmw_take_request" => Taken::Request,
                    _ => Taken::Answer,
                };
                let of = handle(0).filter(|_| number(1) == Some(1));
                let of = of.and_then(|of| self.graph.end(taken, of));
                self.takes(taken, of, event);
            }
            "rmw_take" => {
                // Without a message there is nothing to call a callback with.
                if let (Some(of), Some(stamp), Some(1..)) = (handle(0), number(1), number(2)) {
                    let topic = self.graph.taken_topic(of).or_else(|| topic_of(call));
                    self.taken.insert(thread, (topic, stamp.cast_signed()));
                    self.takes(Taken::Message, Some(of), event);
                }
            }
            "rclcpp_intra_publish" => {
                let Some(publisher) = handle(0) else {
                    return;
                };
                let Some(topic) = self.graph.published_topic(publisher) else {
                    self.seen.unnamed_messages += 1;
                    return;
                };
                let at = self.seen.published.len();
                let of = Arc::clone(&topic);
                let stamp = self.within.publish(thread, publisher, of, at);
                self.published(event, process, topic, stamp);
            }
            "rclcpp_ring_buffer_enqueue" => {
                if let (Some(buffer), Some(place), Some(is_full)) =
                    (handle(0), number(1), number(2))
                {
                    self.within.put(thread, buffer, place, is_full != 0);
                }
            }
            "rclcpp_ring_buffer_dequeue" => {
                if let (Some(buffer), Some(place)) = (handle(0), number(1)) {
                    let taken = self.within.take(buffer, place);
                    let taken = taken.map(|(topic, stamp)| (Some(topic), stamp));
                    self.taken.extend(taken.map(|taken| (thread, taken)));
                }
            }
            "rmw_publish" => {
                let (Some(of), Some(stamp)) = (handle(0), number(1)) else {
                    return;
                };
                let publisher = self.graph.publisher(of);
                let topic = publisher.and_then(|of| self.graph.published_topic(of));
                let Some(topic) = topic.or_else(|| topic_of(call)) else {
                    self.seen.unnamed_messages += 1;
                    return;
                };
                let stamp = stamp.cast_signed();
                match publisher.and_then(|of| self.within.also(thread, of)) {
                    Some(at) => self.seen.published[at].also = Some(stamp),
                    None => self.published(event, process, topic, stamp),
                }
            }
            function => {
                let known = self.graph.take(process, event, call);
                // A reused address is another callback.
                let made = match function {
                    "rcl_client_init" | "rcl_service_init" | "controller_init" => handle(0),
                    _ if function.ends_with("_callback_added") => handle(1),
                    _ => None,
                };
                if let Some(made) = made.filter(|_| known) {
                    self.numbers.remove(&made);
                }
            }
        }
    }

    /// Events are missing: open callbacks may have ended, and taken messages may have been handled.
    fn loses(&mut self, since_ns: u64, until_ns: u64) {
        self.seen.lost.push((since_ns, until_ns));
        let open = std::mem::take(&mut self.open);
        self.seen.unpaired += open.values().map(Vec::len).sum::<usize>() as u64;
        self.taken.clear();
        self.taking.clear();
        self.within.loses();
    }

    fn published(&mut self, event: &KernelEvent, process: u32, topic: Arc<str>, stamp: i64) {
        self.seen.published.push(Published {
            at_ns: event.at_ns,
            thread: event.current,
            process,
            topic,
            stamp,
            also: None,
        });
    }

    /// A thread took something. If it is handled without a callback that is marked, that is a run of unknown length.
    fn takes(&mut self, taken: Taken, handle: Option<Handle>, event: &KernelEvent) {
        let known = handle.and_then(|handle| Some((handle, self.graph.handled(taken, handle)?)));
        let Some((handle, callback)) = known else {
            return;
        };
        let number = *self.numbers.entry(handle).or_insert_with(|| {
            self.seen.callbacks.push(callback);
            self.seen.callbacks.len() - 1
        });
        self.executing.takes(event.current);
        self.seen.runs.push(Run {
            callback: number,
            thread: event.current,
            cpu: event.cpu,
            from_ns: event.at_ns,
            to_ns: event.at_ns,
            message: None,
            on_cpu: None,
        });
    }

    fn begin(&mut self, callback: Handle, event: &KernelEvent) {
        let thread = event.current;
        let number = *self.numbers.entry(callback).or_insert_with(|| {
            self.seen.callbacks.push(self.graph.callback(callback));
            self.seen.callbacks.len() - 1
        });
        let message = self.taken.remove(&thread);
        let message = message.and_then(|(topic, stamp)| {
            let is_of = match &self.seen.callbacks[number].kind {
                Kind::Subscription { topic: own, .. } => topic.is_some_and(|topic| **own == *topic),
                Kind::Unknown => {
                    let topic = topic.filter(|topic| !topic.contains(ACTION))?;
                    self.after_taking.push((number, topic));
                    true
                }
                _ => false,
            };
            is_of.then_some(stamp)
        });
        self.executing.begins(thread, &self.seen.callbacks[number]);
        let then = self.on_cpu.running(thread, event.at_ns);
        let open = self.open.entry(thread).or_default();
        open.push(Open {
            then,
            number,
            callback,
            cpu: event.cpu,
            from_ns: event.at_ns,
            message,
        });
    }

    fn end(&mut self, callback: Handle, thread: u32, at_ns: u64) {
        let open = self.open.entry(thread).or_default();
        let Some(at) = open.iter().rposition(|of| of.callback == callback) else {
            self.seen.unpaired += 1;
            return;
        };
        // What began within it and was not seen to end has ended.
        self.seen.unpaired += (open.len() - at - 1) as u64;
        let Open {
            number,
            cpu,
            from_ns,
            message,
            then,
            ..
        } = open[at];
        open.truncate(at);
        self.executing.ends(thread, at);
        let on_cpu = self.on_cpu.since((thread, then), (from_ns, at_ns));
        self.seen.runs.push(Run {
            callback: number,
            thread,
            cpu,
            from_ns,
            to_ns: at_ns.max(from_ns),
            message,
            on_cpu,
        });
    }

    /// A callback that begins each time after a message of one topic was taken is that topic's.
    fn subscribed(&mut self) {
        let mut topics: BTreeMap<usize, (BTreeSet<Arc<str>>, usize)> = BTreeMap::new();
        for (number, topic) in std::mem::take(&mut self.after_taking) {
            let of = topics.entry(number).or_default();
            of.0.insert(topic);
            of.1 += 1;
        }
        let mut runs = vec![0; self.seen.callbacks.len()];
        self.seen
            .runs
            .iter()
            .for_each(|run| runs[run.callback] += 1);
        for (number, (topics, taken)) in topics {
            let callback = &mut self.seen.callbacks[number];
            match topics.first() {
                Some(topic) if topics.len() == 1 && taken >= runs[number] => {
                    callback.kind = Kind::Subscription {
                        topic: topic.to_string(),
                        depth: 0,
                    };
                }
                _ => {
                    let own = self
                        .seen
                        .runs
                        .iter_mut()
                        .filter(|run| run.callback == number);
                    own.for_each(|run| run.message = None);
                }
            }
        }
    }

    /// Ends the recording and returns everything seen.
    pub fn finish(mut self) -> Seen {
        let open = self.open.values().map(Vec::len).sum::<usize>();
        self.seen.unpaired += open as u64;
        self.seen
            .runs
            .sort_by_cached_key(|run| (run.from_ns, run.to_ns));
        self.subscribed();
        self.seen.lost = merged(std::mem::take(&mut self.seen.lost));
        self.seen.together = together(&self.seen);
        self.seen.executing = self.executing.all();
        self.seen.published.sort_by_cached_key(|of| of.at_ns);
        self.seen.overwritten = self.within.overwritten;
        self.seen.has_unmarked = self.graph.has_unmarked();
        self.seen
    }
}

/// The topic of a message in a process that was there before.
pub(crate) fn topic_of(call: &Call) -> Option<Arc<str>> {
    let topic = call.texts.first().filter(|topic| topic.starts_with('/'));
    topic.map(Arc::clone)
}

/// Stretches of time, those that touch as one.
fn merged(mut stretches: Vec<(u64, u64)>) -> Vec<(u64, u64)> {
    stretches.sort_unstable();
    let mut merged: Vec<(u64, u64)> = Vec::new();
    for (since_ns, until_ns) in stretches {
        match merged.last_mut() {
            Some(last) if last.1 >= since_ns => last.1 = last.1.max(until_ns),
            _ => merged.push((since_ns, until_ns)),
        }
    }
    merged
}

/// The pairs of callbacks that ran at the same time on two threads of a process.
fn together(seen: &Seen) -> BTreeSet<(usize, usize)> {
    let process = |run: &Run| seen.callbacks[run.callback].process;
    let (mut pairs, mut open) = (BTreeSet::new(), Vec::<&Run>::new());
    for run in &seen.runs {
        open.retain(|of| of.to_ns > run.from_ns);
        let others = open.iter().map(|of| **of);
        let others = others.filter(|of| of.thread != run.thread && process(of) == process(run));
        let pair = |of: Run| {
            let (one, other) = (of.callback, run.callback);
            (one.min(other), one.max(other))
        };
        pairs.extend(others.map(pair));
        open.push(run);
    }
    pairs
}
