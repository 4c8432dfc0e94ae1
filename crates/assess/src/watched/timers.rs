//! Timers of ROS 2 in a watched program as its tasks, by the rule that imports use too. The threads that only run an
//! executor are then no tasks of their own: that they wait for a message is no cause of anything.

use super::figures::{apart_ns, due_times_of, summary};
use super::not_judged::SeenThread;
use super::{Finding, NotJudged, Watched};
use std::collections::{BTreeMap, BTreeSet};
use wakepath_archive::watch::Session;
use wakepath_archive::{ArchiveError, Trace};
use wakepath_explain::watch::Row;
use wakepath_ros2::{DueBy, Recorder, TimerTask, TimerTasks};
use wakepath_timeline::SampleFlags;
use wakepath_verdict::Gaps;

/// Timers of a watch, and what is to be known of their threads.
#[derive(Default)]
pub(super) struct Timers {
    tasks: Vec<TimerTask>,
    /// Threads that only run an executor.
    executing: BTreeSet<u32>,
    has_lost: bool,
}

impl Timers {
    /// Out of the trace.
    ///
    /// # Errors
    /// When it can't be read.
    pub(super) fn new(session: &Session, trace: &Trace) -> Result<Self, ArchiveError> {
        let process = |thread: u32| session.threads.get(&thread).map(|of| of.process);
        let mut recorder = Recorder::default();
        for event in trace.events()? {
            recorder.event(&event?, process);
        }
        let seen = recorder.finish();
        Ok(Self {
            tasks: TimerTasks::new(&seen).tasks,
            has_lost: !seen.lost.is_empty(),
            executing: seen.executing,
        })
    }

    /// Whether a thread's callbacks are all that there is to judge of it. A user's own marks of its cycles are judged
    /// all the same.
    pub(super) fn are_all_of(&self, thread: &SeenThread<'_>) -> bool {
        self.executing.contains(&thread.number) && thread.activity.marked.is_empty()
    }

    /// Each timer's figures, or why it is not judged. `findings` of the executors' threads are those of their timers.
    pub(super) fn watched(
        self,
        seen: &[SeenThread<'_>],
        findings: &BTreeMap<u32, Vec<Finding>>,
    ) -> Vec<Result<Watched, NotJudged>> {
        let has_lost = self.has_lost;
        let of_task = |task: TimerTask| {
            let first = task.threads.first()?;
            let thread = seen.iter().find(|of| of.number == *first)?;
            let findings = findings.get(first).cloned().unwrap_or_default();
            Some(Watched::of_timer(task, thread, (findings, has_lost)))
        };
        self.tasks.into_iter().filter_map(of_task).collect()
    }
}

impl Watched {
    fn of_timer(
        task: TimerTask,
        seen: &SeenThread<'_>,
        (findings, has_lost): (Vec<Finding>, bool),
    ) -> Result<Self, NotJudged> {
        let thread = seen.thread;
        let policy = seen.policy()?;
        seen.can_be_judged(task.due.period_ns)?;
        let row = Row {
            due: task.due,
            samples: task.samples,
            is_near: false,
            left_out: 0,
        };
        let gaps = if has_lost {
            Gaps::Unseen
        } else {
            Gaps::Skipped
        };
        let (tally, latencies) = due_times_of(&row, gaps);
        let samples = &row.samples;
        let has_cpu_time = samples
            .iter()
            .all(|of| of.flags.contains(SampleFlags::HAS_CPU_TIME));
        let preempted = samples.iter().map(|of| u64::from(of.involuntary_switches));
        Ok(Self {
            name: task.name.clone(),
            own_name: task.name,
            thread_id: seen.number,
            process: thread.process,
            policy,
            declared: seen.declared,
            earlier_policies: thread.earlier_policies.clone(),
            cpus: thread.cpus.clone(),
            allowed: thread.allowed.clone(),
            period_ns: task.due.period_ns,
            exact: true,
            has_row: true,
            programmed: task.due_by == DueBy::Making,
            pool: if task.threads.len() > 1 {
                task.threads
            } else {
                Vec::new()
            },
            timer: None,
            is_callback: true,
            is_periodic: true,
            sleeps_ns: None,
            apart_ns: apart_ns(&row),
            findings,
            woken_by: None,
            shows_each_cycle: !has_lost,
            marked: true,
            unwoken: 0,
            sections: Vec::new(),
            outside: 0,
            unpaired: 0,
            mean_interval_ns: None,
            jitter_ns: None,
            latency_ns: latencies.map(|of| of.summary()),
            response_ns: summary(samples, |of| of.response_ns()),
            run_ns: if has_cpu_time {
                summary(samples, |of| of.cpu_time_ns.into())
            } else {
                None
            },
            activations: samples.len() as u64,
            skipped: (!tally.skips_unknown).then_some(tally.skipped),
            unseen: tally.unseen,
            ran_unseen: tally.ran_unseen,
            preempted: (
                preempted.clone().filter(|&times| times > 0).count() as u64,
                preempted.sum(),
            ),
            other_wake_ups: 0,
            unseen_wake_ups: 0,
            untold_switches: 0,
            untold_switch_ns: 0,
            left_out: 0,
            other_priorities: 0,
            is_new: thread.is_new,
            ended: thread.ended,
            row,
        })
    }
}
