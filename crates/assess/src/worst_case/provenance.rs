//! The first gate: how the values were measured. A tail is a statement about every value that the
//! machine makes in one state, so that values that are missing, or that come from two states, end it.

use super::series::Series;
use crate::judged::add_provenance;
use wakepath_archive::{Run, SegmentRecord, ThreadRecord};
use wakepath_extremes::{Gate, GateName};
use wakepath_verdict::{Caution, EarlyEnd, FactChange, Provenance, Reason, counted};

/// The gate of a thread's values.
pub(super) fn gate(
    run: &Run,
    parts: &[(&SegmentRecord, &ThreadRecord)],
    series: &Series,
    changes: Vec<FactChange>,
) -> Gate {
    let found = objections(run, parts, series, changes);
    let Some((_, cure)) = found.first() else {
        return Gate::passed(
            GateName::Provenance,
            "no sample lost, no period skipped, every load and policy proven, nothing changed on the \
             machine",
        );
    };
    let findings: Vec<&str> = found.iter().map(|(finding, _)| finding.as_str()).collect();
    Gate::failed(GateName::Provenance, findings.join("; "), *cure)
}

fn objections(
    run: &Run,
    parts: &[(&SegmentRecord, &ThreadRecord)],
    series: &Series,
    changes: Vec<FactChange>,
) -> Vec<(String, &'static str)> {
    let mut provenance = Provenance::default();
    for (segment, thread) in parts {
        add_provenance(&mut provenance, segment, thread);
    }
    let mut found = Vec::new();
    if let Some(time) = &run.manifest.virtual_time {
        let finding = format!(
            "virtual time: instructions of {} ns, no machine's latencies",
            time.ns_per_instruction
        );
        found.push((finding, "measure on the machine itself"));
    }
    if let Some(imported) = &run.manifest.imported
        && let Some(lack) = imported.lacks.first()
    {
        let finding = format!(
            "measured by another tool, which does not record {}",
            lack.text()
        );
        found.push((finding, "measure with wakepath check or run"));
    }
    if run.manifest.recovered.is_some() {
        let finding = "the run was recovered: what is missing of it is not known".to_owned();
        found.push((finding, "measure again"));
    }
    if provenance.lost > 0 {
        found.push((
            format!(
                "{} lost on the way to the recording",
                counted(provenance.lost, "sample", "samples")
            ),
            "measure again, with the recorder less disturbed",
        ));
    }
    if series.contradictions > 0 {
        found.push((
            format!(
                "{} contradict themselves",
                counted(series.contradictions, "sample", "samples")
            ),
            "measure again",
        ));
    }
    if series.skipped > 0 {
        found.push((
            format!(
                "{} skipped: what those cycles would have taken was not measured",
                counted(series.skipped, "period", "periods")
            ),
            "make the loop hold its rate first: a lower rate, another policy, less load",
        ));
    }
    if series.after_overrun > 0 {
        found.push((
            format!(
                "{} due while the one before still ran: consequences of overruns are another state",
                counted(series.after_overrun, "cycle was", "cycles were")
            ),
            "make the work fit into its period first",
        ));
    }
    for load in &provenance.unproven_loads {
        let finding = format!(
            "the load {} did not prove its work: {}",
            load.load, load.why
        );
        found.push((finding, "measure again with every load at work"));
    }
    for policy in &provenance.policies {
        if policy
            .effective
            .is_some_and(|effective| effective != policy.requested)
        {
            let reason = Reason::PolicyNotEffective {
                task: policy.task.clone(),
                requested: policy.requested,
                effective: policy.effective,
            };
            found.push((
                reason.to_string(),
                "measure again with the right to that policy",
            ));
        }
    }
    for end in provenance.early_ends {
        if end != EarlyEnd::Interrupted {
            let reason = Reason::EndedEarly { cause: end };
            found.push((reason.to_string(), "measure again, to the run's own end"));
        }
    }
    for change in changes {
        found.push((
            Caution::MachineChanged { change }.to_string(),
            "measure again on a machine that stays as it is: wakepath doctor says what moves it",
        ));
    }
    found
}
