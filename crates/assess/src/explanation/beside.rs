//! A recorded loop's own records about its late cycles, next to their causes: sections with the
//! threads that ran in them, lines and values. It explains no cycle.

use super::ExplainError;
use std::collections::{BTreeMap, HashMap};
use wakepath_archive::{LineSaid, LoopLine, Run, SegmentTold, read_lines};
use wakepath_explain::{Explanation, LateCycle, LateLine, LateSection};

/// Lines of one cycle that are shown.
const MOST_LINES: usize = 32;

/// Adds all late cycles of an explanation. The longest cycles stay only where something is known of their
/// sections: otherwise they say nothing that the late ones don't.
pub(super) fn tell(run: &Run, explanation: &mut Explanation) -> Result<(), ExplainError> {
    let mut segments = Segments::default();
    for condition in &mut explanation.conditions {
        let thread = condition.thread.clone();
        for cycle in condition.worst.iter_mut().chain(&mut condition.longest) {
            segments.sections(run, &thread, cycle)?;
        }
        if condition
            .longest
            .iter()
            .all(|cycle| cycle.sections.is_empty())
        {
            condition.longest.clear();
        }
    }
    let conditions = explanation.conditions.iter_mut();
    let cycles = conditions.flat_map(|condition| {
        let thread = condition.thread.clone();
        let both = condition.worst.iter_mut().chain(&mut condition.longest);
        both.map(move |cycle| (thread.clone(), cycle))
    });
    lines(run, cycles)
}

/// Adds single cycles, each of a thread of this name.
///
/// # Errors
/// When what the loops said can't be read.
pub fn tell_of<'a>(
    run: &Run,
    cycles: impl IntoIterator<Item = (&'a str, &'a mut LateCycle)>,
) -> Result<(), ExplainError> {
    let mut segments = Segments::default();
    let mut told = Vec::new();
    for (thread, cycle) in cycles {
        segments.sections(run, thread, cycle)?;
        told.push((thread.to_owned(), cycle));
    }
    lines(run, told)
}

/// The files of segments that were looked at.
#[derive(Default)]
struct Segments(BTreeMap<u32, Option<SegmentTold>>);

impl Segments {
    fn sections(
        &mut self,
        run: &Run,
        thread: &str,
        cycle: &mut LateCycle,
    ) -> Result<(), ExplainError> {
        let told = match self.0.entry(cycle.segment) {
            std::collections::btree_map::Entry::Occupied(known) => known.into_mut(),
            std::collections::btree_map::Entry::Vacant(place) => {
                place.insert(SegmentTold::read(run.directory(), cycle.segment)?)
            }
        };
        let (Some(told), Some((number, budgets))) = (told, budgets(run, thread, cycle.segment))
        else {
            return Ok(());
        };
        let Some(of) = told.threads.get(&number) else {
            return Ok(());
        };
        let sections = of.spans_of(cycle.cycle).iter().map(|span| {
            let name = of.name(span.section);
            let budget_ns = budgets.get(&*name).copied();
            LateSection::new(cycle, name, (span.from_ns, span.to_ns), budget_ns)
        });
        let mut sections: Vec<LateSection> = sections.collect();
        // The outer before the inner.
        sections.sort_by_cached_key(|of| (of.from_ns, std::cmp::Reverse(of.ns)));
        cycle.sections = sections;
        Ok(())
    }
}

/// The thread's number in a segment, and the budgets of its sections.
fn budgets<'r>(run: &'r Run, thread: &str, segment: u32) -> Option<(u16, HashMap<&'r str, u64>)> {
    let mut segments = run.manifest.segments.iter();
    let record = segments.find(|of| of.segment == segment)?;
    let of = record.threads.iter().find(|of| of.name == thread)?;
    let budgets = of.modules.iter();
    let budgets = budgets.filter_map(|module| Some((&*module.name, module.budget_ns?)));
    Some((of.thread, budgets.collect()))
}

fn lines<'a>(
    run: &Run,
    cycles: impl IntoIterator<Item = (String, &'a mut LateCycle)>,
) -> Result<(), ExplainError> {
    let mut wanted: HashMap<(u32, u16, u64), Vec<&mut LateCycle>> = HashMap::new();
    for (thread, cycle) in cycles {
        if let Some((number, _)) = budgets(run, &thread, cycle.segment) {
            let key = (cycle.segment, number, cycle.cycle);
            wanted.entry(key).or_default().push(cycle);
        }
    }
    read_lines(run.directory(), |line| {
        let key = (line.segment, line.thread, line.cycle);
        for cycle in wanted.get_mut(&key).into_iter().flatten() {
            if cycle.said.len() < MOST_LINES {
                cycle.said.push(LateLine {
                    from_ns: line.at_ns.saturating_sub(cycle.due_ns),
                    text: text_of(&line),
                });
            }
        }
    })?;
    Ok(())
}

/// A line as it is shown: a value as `height = 1.5`.
pub fn text_of(line: &LoopLine) -> String {
    match &line.said {
        LineSaid::Text(text) => text.clone(),
        LineSaid::Value { name, is } => format!("{name} = {is}"),
    }
}
