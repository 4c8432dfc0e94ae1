//! Whether Linux's real-time throttling would stop a set under fixed priorities that the analysis, which
//! has no such limit, accepts. A note next to the answer, not a verdict.

use wakepath_scenario::TaskSet;
use wakepath_schedulability::arithmetic::utilization;
use wakepath_timeline::duration::exact;
use wakepath_timeline::number::percent;

/// A sentence for each CPU whose real-time threads can ask for more than the kernel gives them over
/// time; for all CPUs together where tasks move. Nothing under deadlines, whose admission says it.
pub(super) fn notes(set: &TaskSet) -> Vec<String> {
    let Some(runtime_ns) = set
        .admission
        .runtime_ns
        .filter(|_| set.method.by_priority())
    else {
        return Vec::new();
    };
    let size = set.method.cluster_size(set.cpus);
    let limit = runtime_ns as f64 / set.admission.period_ns.max(1) as f64;
    let over = (0..set.cpus.max(1))
        .step_by(usize::from(size))
        .filter_map(|first| {
            let here = |cpu: Option<u16>| (first..first + size).contains(&cpu.unwrap_or(0));
            let own = set.tasks.iter().filter(|task| match &task.reservation {
                Some(reservation) => here(reservation.cpu),
                None => here(task.cpu),
            });
            let share = utilization(own).as_f64() / f64::from(size.min(set.cpus - first));
            (share > limit).then_some((first, share))
        });
    let place = |first| match set.method.cluster_size(set.cpus) {
        1 => format!("CPU {first}"),
        _ => "the CPUs".to_owned(),
    };
    over.map(|(first, share)| {
        format!(
            "the tasks can take {} of {}, but Linux stops real-time threads after {} of each {} \
             (kernel.sched_rt_runtime_us): the answer holds only if that is -1",
            percent(share),
            place(first),
            exact(runtime_ns),
            exact(set.admission.period_ns)
        )
    })
    .collect()
}
