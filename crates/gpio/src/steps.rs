//! A square wave: a loop changes the line at its due times, and a second thread takes the edges.
//!
//! The second thread keeps the kernel's buffer of edges from overflowing. Nothing is judged.

use crate::GpioError;
use crate::edges::{Edges, ROOM};
use crate::output::Output;
use crate::protocol::{Order, StepOrder};
use crate::record::{DrivenEdge, Edge, PinStep};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::Builder;
use std::time::Duration;
use wakepath_rt::{Cycles, PrepareError, WaitError, clock, guard};
use wakepath_timeline::DueTimes;

/// From the moment the loop is ready to the first due time.
const LEAD_NS: u64 = 20_000_000;
/// Longest wait for an edge after the last change; the slowest chip's interrupt arrives within it.
const SETTLE: Duration = Duration::from_millis(100);
/// Interval at which the thread that takes the edges checks for the end of the wave.
const LOOK: Duration = Duration::from_millis(20);

/// Why a wave could not be driven.
#[derive(Debug, thiserror::Error)]
pub(crate) enum StepError {
    #[error(transparent)]
    Line(#[from] GpioError),
    #[error("{0}")]
    Preparation(#[from] PrepareError),
    #[error("{0}")]
    Wait(#[from] WaitError),
    #[error("{0}")]
    Guard(#[from] guard::GuardError),
    #[error("the guard stopped the loop: it took the CPU without sleeping")]
    GuardTripped,
    #[error("a thread of the loop can't be started: {0}")]
    NotStarted(#[source] std::io::Error),
    #[error("a thread of the loop panicked")]
    Panicked,
}

/// A pair of wired lines, and their state.
#[derive(Debug)]
pub(crate) struct Pair {
    output: Output,
    edges: Edges,
    /// The kernel's number of the last edge.
    last: u32,
    high: bool,
}

impl Pair {
    /// Has both lines, and drives the first once to see that the second is wired to it.
    pub fn request(order: &Order) -> Result<Self, GpioError> {
        if order.drive == order.read {
            let line = order.drive.clone();
            return Err(GpioError::SameLine { line });
        }
        let output = Output::request(&order.drive)?;
        let edges = Edges::request(&order.read)?;
        let mut seen = Vec::with_capacity(ROOM as usize);
        // Discards edges caused by requesting the line.
        edges.take(LOOK, &mut seen)?;
        let before = seen.len();
        for high in [true, false] {
            output.set(high).map_err(|error| output.failed(error))?;
            edges.take(SETTLE, &mut seen)?;
        }
        match seen.last() {
            Some(last) if seen.len() > before => Ok(Self {
                last: last.number,
                output,
                edges,
                high: false,
            }),
            _ => Err(GpioError::NotWired {
                driven: order.drive.clone(),
                read: order.read.clone(),
            }),
        }
    }

    /// Drives a wave.
    pub fn step(&mut self, order: &Order, step: StepOrder) -> Result<PinStep, StepError> {
        let ended = AtomicBool::new(false);
        let (output, edges, high) = (&self.output, &self.edges, self.high);
        let (driven, seen) = std::thread::scope(|scope| {
            let taking = Builder::new()
                .spawn_scoped(scope, || take(edges, order, step, &ended))
                .map_err(StepError::NotStarted)?;
            let driving = Builder::new().spawn_scoped(scope, || {
                let driven = drive(output, order, step, high);
                ended.store(true, Ordering::Release);
                driven
            });
            let driven = driving
                .map_err(StepError::NotStarted)
                .and_then(|driving| driving.join().map_err(|_| StepError::Panicked));
            // Whatever became of the loop, its reader must not wait for it.
            ended.store(true, Ordering::Release);
            let taken = taking.join().map_err(|_| StepError::Panicked);
            Ok::<_, StepError>((driven??, taken??))
        })?;
        let (start_ns, driven) = driven;
        self.high ^= driven.len() % 2 == 1;
        let before = self.last;
        if let Some(last) = seen.last() {
            self.last = last.number;
        }
        Ok(PinStep {
            half_period_ns: step.half_period_ns,
            due: step.edges,
            start_ns,
            driven,
            before,
            edges: seen,
        })
    }

    /// Leaves the line low.
    pub fn end(&self) -> Result<(), GpioError> {
        let low = self.output.set(false);
        low.map_err(|error| self.output.failed(error))
    }
}

/// The loop: one change of the line for each due time that it serves.
fn drive(
    output: &Output,
    order: &Order,
    step: StepOrder,
    mut high: bool,
) -> Result<(u64, Vec<DrivenEdge>), StepError> {
    order.preparation.apply()?;
    guard::watch_this_thread()?;
    let mut driven = Vec::with_capacity(usize::try_from(step.edges).unwrap_or(usize::MAX));
    let start_ns = clock::monotonic_ns() + LEAD_NS;
    let due = DueTimes {
        start_ns,
        period_ns: step.half_period_ns,
    };
    let mut cycles = Cycles::new(due)?;
    while cycles.next_cycle() < step.edges {
        let Some(activation) = cycles.wait() else {
            break;
        };
        high = !high;
        let set = output.set(high);
        let sample = cycles.finish(activation);
        set.map_err(|error| output.failed(error))?;
        driven.push(DrivenEdge {
            cycle: sample.cycle,
            begun_ns: sample.wake_ns,
            ended_ns: sample.end_ns,
        });
        if guard::has_tripped() {
            return Err(StepError::GuardTripped);
        }
    }
    Ok((start_ns, driven))
}

/// Takes edges until the wave has ended, and a while longer.
fn take(
    edges: &Edges,
    order: &Order,
    step: StepOrder,
    ended: &AtomicBool,
) -> Result<Vec<Edge>, StepError> {
    order.reader.apply()?;
    guard::watch_this_thread()?;
    let room = usize::try_from(step.edges).unwrap_or(0) + ROOM as usize;
    let mut seen = Vec::with_capacity(room);
    while !ended.load(Ordering::Acquire) {
        edges.take(LOOK, &mut seen)?;
    }
    loop {
        let before = seen.len();
        edges.take(SETTLE, &mut seen)?;
        // A line that is never still is another fault, and shows as edges that nobody drove.
        if seen.len() == before || seen.len() >= room {
            return Ok(seen);
        }
    }
}
