//! The explanation of a recorded run: its traces and samples through the explainer, condition by
//! condition, as a stream.

mod beside;
mod covered;
mod error;
mod feather_trace;
mod feed;
mod files;
mod loops;
mod order;
mod sums;
mod terms;
mod under_way;

pub use beside::{tell_of, text_of};
pub(crate) use covered::Covered;
pub use error::ExplainError;
pub(crate) use feed::feed;
pub use files::{kept, places, write_beside};
pub use loops::SegmentLoops;
pub use order::Order;
pub use sums::urgency;
pub(crate) use terms::options;
pub use under_way::{UnderWay, WorstCycle};

use feather_trace::Recorded;
use sums::Sums;
use wakepath_archive::{EventKind, Run, Trace};
use wakepath_explain::{
    Activities, Explained, Explainer, Explanation, Options, OverheadTable, Overheads, Own,
    SwitchIns, by_weight,
};
use wakepath_timeline::CpuSet;

/// What reads along while a run is explained.
pub trait Along {
    /// The loops of the segment that comes next.
    fn segment(&mut self, _loops: &SegmentLoops<'_>) -> Result<(), ExplainError> {
        Ok(())
    }

    /// The next explained cycle of one of them, by its number among them.
    fn cycle(
        &mut self,
        _loops: &SegmentLoops<'_>,
        _number: usize,
        _cycle: &Explained,
    ) -> Result<(), ExplainError> {
        Ok(())
    }

    /// Activity of a CPU in a stretch of time.
    fn span(&mut self, _cpu: u16, _span_ns: (u64, u64), _name: &str) -> Result<(), ExplainError> {
        Ok(())
    }

    /// This number of further events has been read.
    fn read(&mut self, _events: u64) {}

    /// Whether spans are wanted: they cost time.
    fn wants_spans(&self) -> bool {
        false
    }
}

/// Events between two reports of progress.
const EVENTS_AT_A_TIME: u64 = 1 << 16;

/// Nobody reads along.
pub struct Nobody;

impl Along for Nobody {}

/// Events that a trace holds none of, each with what it would show.
fn not_in_the_trace(trace: &Trace) -> Vec<String> {
    use EventKind as Kind;
    let wanted: [(&[EventKind], &str); 6] = [
        (&[Kind::Waking], "sched_waking (who woke the loop)"),
        (
            &[Kind::TimerStart],
            "hrtimer_start (when its timer was to expire)",
        ),
        (
            &[Kind::TimerExpiry],
            "hrtimer_expire_entry and _exit (timers before its own)",
        ),
        (
            &[Kind::LocalTimer, Kind::DeviceInterrupt, Kind::Vector],
            "irq and irq_vectors (interrupts)",
        ),
        (&[Kind::SoftIrq], "softirq_entry and _exit (SoftIRQs)"),
        (&[Kind::Switch], "sched_switch (which thread ran)"),
    ];
    let is_missing =
        |kinds: &[EventKind]| !kinds.iter().any(|kind| trace.description().records(*kind));
    let missing = wanted.iter().filter(|(kinds, _)| is_missing(kinds));
    missing.map(|(_, shows)| (*shows).to_owned()).collect()
}

/// The events that are missing because loops may run on CPUs that are not recorded.
fn not_traced<'a>(loops: impl Iterator<Item = &'a u16>, recorded: &[u16]) -> Option<String> {
    let outside: CpuSet = loops
        .copied()
        .filter(|cpu| !recorded.contains(cpu))
        .collect();
    (!outside.is_empty()).then(|| format!("events of CPU {outside} (a loop may run there)"))
}

/// An explanation.
pub struct ExplainedRun {
    /// The causes.
    pub explanation: Explanation,
    /// Costs of the kernel's own work.
    pub overheads: OverheadTable,
}

/// Explains a run.
///
/// # Errors
/// When it can't be read, or holds no kernel events at all.
pub fn explain(
    run: &Run,
    order: &Order,
    along: &mut dyn Along,
) -> Result<ExplainedRun, ExplainError> {
    let mut sums = Sums::new(run, order)?;
    let mut overheads: Vec<(String, Overheads)> = Vec::new();
    let (mut events, mut lost, mut untold, mut traced) = (0, 0, 0, 0);
    let mut untold_switch_ins = SwitchIns::default();
    let mut own_by_name = false;
    let mut not_in_trace = Vec::new();
    let imported = run.manifest.imported.as_ref();
    let imported = imported.is_some_and(|imported| !imported.is_watched());
    let recorded = Recorded::read(run)?;
    let places = files::places(run.directory())?;
    for record in &run.manifest.segments {
        let Some(trace) = Trace::open(run.directory(), record.segment)? else {
            continue;
        };
        traced += 1;
        let loops = SegmentLoops::read(run, record, &trace)?;
        along.segment(&loops)?;
        let options = terms::options(
            &run.manifest.facts,
            run.manifest.virtual_time.as_ref(),
            record.trace.as_ref(),
            &trace,
            &loops.threads(),
            places.clone(),
        );
        // What another tool traced has no processes of wakepath's.
        if imported {
            not_in_trace = not_in_the_trace(&trace)
        } else {
            own_by_name |= matches!(options.own, Own::Named(_))
        }
        if run.manifest.imported.is_none() {
            let cpus = record.threads.iter().flat_map(|of| &of.cpus);
            let outside = not_traced(cpus, &trace.description().cpus);
            not_in_trace.extend(outside.filter(|it| !not_in_trace.contains(it)));
        }
        let explainer = one_segment(&loops, &trace, options, &mut sums, along)?;
        events += explainer.events();
        // perf may drop events without saying where: then only their counts tell.
        let counted = trace
            .end()
            .map_or(0, |end| end.cpus.iter().map(|cpu| cpu.lost).sum());
        lost += explainer.lost().max(counted);
        untold += explainer.untold_switches();
        untold_switch_ins.add(explainer.untold_switch_ins());
        // LITMUS^RT reports the costs of its own work; its scheduler has none of Linux's
        // tracepoints.
        if !recorded.holds(record.segment) {
            add(&mut overheads, &record.phase, explainer.overheads());
        }
        sums.end_segment(&loops, &explainer);
    }
    if traced == 0 {
        return Err(ExplainError::NoEvents {
            directory: run.directory().display().to_string(),
            imported,
        });
    }
    let mut explanation = Explanation {
        version: Explanation::VERSION,
        events,
        events_lost: lost,
        switches_untold: untold,
        untold_switch_ins,
        own_by_name,
        not_in_trace,
        conditions: by_weight(sums.conditions()),
    };
    beside::tell(run, &mut explanation)?;
    Ok(ExplainedRun {
        explanation,
        overheads: recorded.table(overheads),
    })
}

/// Adds what a segment tells to what is known of its phase.
fn add(overheads: &mut Vec<(String, Overheads)>, phase: &str, own: &Overheads) {
    match overheads.iter_mut().find(|(name, _)| name == phase) {
        Some((_, known)) => known.merge(own),
        None => {
            let mut known = Overheads::default();
            known.merge(own);
            overheads.push((phase.to_owned(), known));
        }
    }
}

/// What takes explained cycles. Of one type, so that the explainer is compiled once.
pub(crate) type Out<'a> = &'a mut dyn FnMut(usize, &Explained);

fn one_segment(
    loops: &SegmentLoops<'_>,
    trace: &Trace,
    options: Options,
    sums: &mut Sums,
    along: &mut dyn Along,
) -> Result<Explainer, ExplainError> {
    let mut explainer = Explainer::new(loops.to_explain(), options);
    let mut activities = along.wants_spans().then(Activities::default);
    let mut spans: Vec<(u16, (u64, u64), String)> = Vec::new();
    let mut gaps = loops.gaps();
    let mut read_along = Ok(());
    // One by one: those of a loop a second behind would fill the memory.
    let mut add = |along: &mut dyn Along, number: usize, cycle: &Explained| {
        sums.add(loops, number, cycle);
        if read_along.is_ok() {
            read_along = along.cycle(loops, number, cycle);
        }
    };
    for (number, event) in (1..).zip(trace.events()?) {
        let event = event?;
        if number % EVENTS_AT_A_TIME == 0 {
            along.read(EVENTS_AT_A_TIME);
        }
        if let Some(until_ns) = gaps.before(event.at_ns) {
            explainer.gap(until_ns);
            if let Some(activities) = &mut activities {
                activities.gap(until_ns);
            }
        }
        let out: Out<'_> = &mut |number, cycle| add(along, number, cycle);
        explainer.event(&event, out);
        if let Some(activities) = &mut activities {
            activities.event(&event, |cpu, from, to, name| {
                spans.push((cpu, (from, to), name.to_owned()));
            });
        }
        for (cpu, span_ns, name) in spans.drain(..) {
            along.span(cpu, span_ns, &name)?;
        }
    }
    let out: Out<'_> = &mut |number, cycle| add(along, number, cycle);
    explainer.finish(out);
    read_along?;
    Ok(explainer)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cpus_on_which_a_loop_runs_unseen_are_named() {
        assert_eq!(not_traced([0, 1].iter(), &[0, 1, 2]), None);
        let outside = not_traced([1, 2, 0, 2].iter(), &[1]);
        assert_eq!(outside.unwrap(), "events of CPU 0,2 (a loop may run there)");
    }
}
