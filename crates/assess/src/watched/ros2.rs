//! What ROS 2 did in a watched program, out of its trace: figures of each callback, late runs with what held their
//! executor, chains.

use serde::{Deserialize, Serialize};
use wakepath_archive::watch::Session;
use wakepath_archive::{ArchiveError, Trace};
use wakepath_ros2::{
    Accounts, Chain, ChainFound, Executor, Executors, FunctionOf, Late, Recorder, Row, Window,
    first_above, rows,
};
use wakepath_timeline::KernelEvent;

/// A chain less long before the end of the recording is taken for under way.
const PATIENCE_NS: u64 = 500_000_000;

/// Threads that waited for each other and are followed, each with a look at the whole trace.
const MOST_WAKERS: usize = 3;

/// The request.
#[derive(Debug, Clone, Default)]
pub struct Ros2Wish {
    /// Chains to find.
    pub chains: Vec<Chain>,
    /// Latency above which the end of one is late, in nanoseconds.
    pub limit_ns: Option<u64>,
    /// Late runs of each callback, and late ends of each chain, that are explained.
    pub worst: usize,
    /// Latency of a callback whose first passing is explained, in nanoseconds.
    pub above_ns: Option<u64>,
    /// Latency of a subscription above which a message is late, in nanoseconds.
    pub latency_ns: Option<u64>,
}

/// Gives each event in its order to what it is called with.
pub type EachEvent<'a, E> = &'a dyn Fn(&mut dyn FnMut(&KernelEvent)) -> Result<(), E>;

/// Callbacks and chains.
#[derive(Debug, Serialize, Deserialize)]
pub struct Ros2Figures {
    /// Callbacks that ran, timers by their periods first.
    pub callbacks: Vec<Row>,
    /// Executors, by the threads that ran them.
    pub executors: Vec<Executor>,
    /// The chains that were asked for.
    pub chains: Vec<ChainFound>,
    /// Latency above which the end of one is late, in nanoseconds.
    pub limit_ns: Option<u64>,
    /// Latency of a subscription above which a message is late, in nanoseconds.
    pub latency_ns: Option<u64>,
    /// The first run of a callback that was later than the limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_above: Option<FirstAbove>,
    /// When the first call came, in nanoseconds on `CLOCK_MONOTONIC`.
    pub began_ns: u64,
    /// Beginnings of callbacks without an end, and ends without a beginning.
    pub unpaired: u64,
    /// Messages by publishers that were made before the recording.
    pub unnamed_messages: u64,
    /// Time in which events were lost, in nanoseconds: what ran then is not in the figures.
    pub lost_ns: u64,
}

/// A run of a callback that was later than a limit.
#[derive(Debug, Serialize, Deserialize)]
pub struct FirstAbove {
    /// Its callback.
    pub callback: String,
    /// The run.
    #[serde(flatten)]
    pub late: Late,
}

impl Ros2Figures {
    /// Activity of the watched threads; `None` if no call of theirs was recorded.
    ///
    /// # Errors
    /// When the trace can't be read.
    pub fn new(
        session: &Session,
        trace: &Trace,
        wish: &Ros2Wish,
    ) -> Result<Option<Self>, ArchiveError> {
        let process = |thread: u32| session.threads.get(&thread).map(|of| of.process);
        let each = |take: &mut dyn FnMut(&KernelEvent)| {
            for event in trace.events()? {
                take(&event?);
            }
            Ok(())
        };
        let functions = session.functions.iter().map(|of| FunctionOf {
            callback: (of.process, of.handle),
            at_ns: of.at_ns,
            name: of.name.clone(),
        });
        let functions: Vec<FunctionOf> = functions.collect();
        Self::of_events(&each, &process, &functions, wish)
    }

    /// Activity of the threads of these processes, whose callbacks have these functions; `each` gives all events in their
    /// order.
    ///
    /// # Errors
    /// Those of `each`.
    pub fn of_events<E>(
        each: EachEvent<'_, E>,
        process: &dyn Fn(u32) -> Option<u32>,
        functions: &[FunctionOf],
        wish: &Ros2Wish,
    ) -> Result<Option<Self>, E> {
        let mut recorder = Recorder::default();
        each(&mut |event| recorder.event(event, process))?;
        let mut seen = recorder.finish();
        seen.functions(functions);
        let Some((began_ns, _)) = seen.span_ns else {
            return Ok(None);
        };
        let mut callbacks = rows(&seen, wish.worst, wish.latency_ns);
        let first_above = wish
            .above_ns
            .and_then(|above_ns| first_above(&seen, above_ns));
        let mut first_above = first_above.map(|(number, late)| FirstAbove {
            callback: seen.callbacks[number].to_string(),
            late,
        });
        let chains = wish.chains.iter();
        let chains = chains.map(|chain| chain.find(&seen, wish.limit_ns, wish.worst, PATIENCE_NS));
        let mut chains: Vec<ChainFound> = chains.collect();
        let mut late: Vec<&mut Late> = {
            let callbacks = callbacks.iter_mut().flat_map(|row| &mut row.worst);
            let ends = chains.iter_mut().flat_map(|chain| &mut chain.latest);
            let first = first_above.as_mut().map(|of| &mut of.late);
            let ends = ends.map(|end| &mut end.late);
            callbacks.chain(ends).chain(first).collect()
        };
        let mut accounts = Accounts::new(late.iter().flat_map(|late| late.windows()));
        let mut executors = Executors::new(&seen);
        each(&mut |event| {
            accounts.event(event);
            executors.event(event);
        })?;
        let mut accounts = accounts.finish().into_iter();
        for late in &mut late {
            late.accounted(&seen, &mut accounts);
        }
        for _ in 0..MOST_WAKERS {
            let windows = late.iter_mut().flat_map(|late| late.wakers());
            let windows: Vec<Window> = windows.collect();
            if windows.is_empty() {
                break;
            }
            let mut accounts = Accounts::new(windows);
            each(&mut |event| accounts.event(event))?;
            let mut accounts = accounts.finish().into_iter();
            for late in &mut late {
                late.wakers_accounted(&seen, &mut accounts);
            }
        }
        Ok(Some(Self {
            callbacks,
            executors: executors.finish(&seen),
            chains,
            limit_ns: wish.limit_ns,
            latency_ns: wish.latency_ns,
            first_above,
            began_ns,
            unpaired: seen.unpaired,
            unnamed_messages: seen.unnamed_messages,
            lost_ns: seen
                .lost
                .iter()
                .map(|(from_ns, to_ns)| to_ns - from_ns)
                .sum(),
        }))
    }
}
