//! Latencies of callbacks while they run, in bounded memory: of timers, and of callbacks that keep a period.

use crate::due::Grid;
use crate::graph::{Graph, Handle};
use crate::row::period_of;
use crate::{BEGINS, Begun, Callback, Kind};
use std::collections::{BTreeMap, VecDeque};
use wakepath_timeline::{KernelEvent, What};

/// Number of latest gaps used to detect a period.
const RECENT: usize = 64;

/// Takes calls, and has the latency of each beginning of a callback.
#[derive(Debug, Default)]
pub struct Live {
    graph: Graph,
    callbacks: BTreeMap<Handle, Followed>,
    /// Those that began for the first time.
    begun: Vec<Begun>,
}

#[derive(Debug)]
struct Followed {
    callback: Callback,
    grid: Option<Grid>,
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
        let call = match &event.what {
            What::Call(call) => call,
            What::Lost { .. } => {
                let all = self.callbacks.values_mut();
                all.for_each(|followed| followed.has_lost = true);
                return None;
            }
            _ => return None,
        };
        let process = process(event.current)?;
        let handle = |at: usize| call.numbers.get(at).map(|address| (process, *address));
        if &*call.function != BEGINS {
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
        let latency_ns = followed.begins(event.at_ns)?;
        Some((&followed.callback, latency_ns))
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
