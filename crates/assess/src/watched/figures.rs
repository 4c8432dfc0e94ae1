//! Findings about each watched thread: figures of the periodic ones, and why the others are not
//! judged.

use super::not_judged::{SeenThread, told};
use super::{
    Finding, NotJudged, ThreadChain, WatchedSection, WokenBy, gaps, shows_each_cycle, with_passed,
};
use serde::Serialize;
use wakepath_explain::watch::{BegunBy, Row, Task, ThreadActivity};
use wakepath_statistics::{Distribution, DistributionSummary};
use wakepath_timeline::{AllowedCpus, Policy, Sample};
use wakepath_verdict::{Account, DueTally, Fate, Gaps, JudgedWindow, Limits};

/// Everything that was seen.
#[derive(Debug, Serialize)]
pub struct Figures {
    /// How long was recorded, in nanoseconds.
    pub watched_ns: u64,
    /// CPUs whose events were recorded.
    pub cpus: Vec<u16>,
    /// Events recorded.
    pub events: u64,
    /// Events lost.
    pub events_lost: u64,
    /// Where cycles lie that the program marks: `between pilot:begin and pilot:end`.
    pub cycle: Option<String>,
    /// Runs of sections between marks that are left out for want of room.
    pub sections_beyond: u64,
    /// Periodic threads, shortest period first, and those without a period that are recorded all the same.
    pub threads: Vec<Watched>,
    /// Chains of threads, each of which wakes the next.
    pub chains: Vec<ThreadChain>,
    /// The others, most time on a CPU first.
    pub not_judged: Vec<NotJudged>,
}

/// A thread, or one of the tasks of a thread with several timers. Times are nanoseconds.
#[derive(Debug, Serialize)]
pub struct Watched {
    /// Its name in the run: its own, with a number if several have it.
    pub name: String,
    /// The same without that number.
    pub own_name: String,
    /// Its number.
    pub thread_id: u32,
    /// Number of its process.
    pub process: u32,
    /// Policy in effect.
    pub policy: Policy,
    /// Its declared policy, if given.
    pub declared: Option<Policy>,
    /// Other policies that it was seen with.
    pub earlier_policies: Vec<Policy>,
    /// CPUs that it may use.
    pub cpus: Vec<u16>,
    /// The same by time.
    pub allowed: Vec<AllowedCpus>,
    /// Its period.
    pub period_ns: u64,
    /// Whether it sleeps until instants a whole number of periods apart, instead of for a time.
    pub exact: bool,
    /// Whether its due times lie a whole number of periods apart at all, be it but nearly.
    pub has_row: bool,
    /// Whether due times are those that it programmed; otherwise the beginning of its timer's callback,
    /// or where something else begins its turns, that wake-up.
    pub programmed: bool,
    /// The threads any of which runs the program's next cycle, itself included; none if it has cycles of its own.
    pub pool: Vec<u32>,
    /// Which of the thread's timers begins its cycles, from 0, where several begin cycles of their own.
    pub timer: Option<usize>,
    /// Whether it is a timer of ROS 2, whose callbacks are the cycles.
    pub is_callback: bool,
    /// Whether its turns come with a period; otherwise `period_ns` is only the median between two.
    pub is_periodic: bool,
    /// Time that it asks for each time, if it sleeps for a time.
    pub sleeps_ns: Option<u64>,
    /// Between two due times: a tenth of the intervals are shorter than the first, a tenth longer than the second.
    pub apart_ns: (u64, u64),
    /// What its own way of waiting does.
    pub findings: Vec<Finding>,
    /// The trigger of its cycles if no timer is: the most frequent waker.
    pub woken_by: Option<WokenBy>,
    /// Whether each of its cycles begins with an event, even one before which it did not sleep; also of a thread that
    /// runs none without a sleep.
    pub shows_each_cycle: bool,
    /// Whether its cycles lie between marks that its program passes.
    pub marked: bool,
    /// Cycles before which it was not woken: their latency is not known, and counts as nothing.
    pub unwoken: u64,
    /// Its sections between marks.
    pub sections: Vec<WatchedSection>,
    /// Runs of sections that begin in no cycle.
    pub outside: u64,
    /// Begins of sections without an end, and ends without a begin.
    pub unpaired: u64,
    /// Mean time between two of its cycles: the rate of a thread that does not sleep until due
    /// times.
    pub mean_interval_ns: Option<u64>,
    /// How far intervals between wake-ups are from whole periods.
    pub jitter_ns: Option<DistributionSummary>,
    /// Switch-in − due time; skipped ones with what they suffered, as everywhere.
    pub latency_ns: Option<DistributionSummary>,
    /// End of its work − due time.
    pub response_ns: Option<DistributionSummary>,
    /// Time on a CPU in each activation.
    pub run_ns: Option<DistributionSummary>,
    /// Activations.
    pub activations: u64,
    /// Due times at which it did not run; unknown if it sleeps for a time, or events are lost.
    pub skipped: Option<u64>,
    /// Due times that passed while it ran: a loop that catches up serves them late, without a wake-up that an event
    /// would show. Of a thread whose skipped ones are unknown, all without an activation.
    pub unseen: u64,
    /// Due times that passed while it ran, and whose cycles it then ran: its CPU time shows them.
    pub ran_unseen: u64,
    /// Activations in which it was taken off its CPU although it could have run on, and how often
    /// in all.
    pub preempted: (u64, u64),
    /// Wake-ups within activations, by something else than its timer.
    pub other_wake_ups: u64,
    /// Wake-ups that came from a CPU that is not traced.
    pub unseen_wake_ups: u64,
    /// Switch-ins that the kernel did not record: the latency of those is uncertain.
    pub untold_switches: u64,
    /// By how much at most, in nanoseconds: the time between the last event before such a switch and the first after
    /// it.
    pub untold_switch_ns: u64,
    /// Activations left out: events missing, or off the period grid.
    pub left_out: u64,
    /// Whether it ran with other priorities than its policy's, as a lock with inheritance gives.
    pub other_priorities: u64,
    /// Whether it came while it was watched.
    pub is_new: bool,
    /// Whether it ended during the watch.
    pub ended: bool,
    /// Its activations.
    #[serde(skip)]
    pub row: Row,
}

impl Watched {
    /// The figures of a thread's periodic tasks; otherwise why it is not judged.
    pub(super) fn all_of(seen: &SeenThread<'_>) -> Result<Vec<Self>, NotJudged> {
        let tasks = seen.activity.tasks();
        let tasks =
            tasks.map_err(|why| seen.not_judged(told(why, seen.activity, seen.watched_ns)))?;
        let watched = tasks.into_iter().map(|task| Self::new(seen, task));
        watched.collect()
    }

    /// The figures of a thread without a period; `None` for one that took fewer turns than this.
    pub(super) fn irregular(seen: &SeenThread<'_>, least: usize) -> Option<Self> {
        let task = seen.activity.irregular()?;
        let is_enough = task.turns.len() >= least;
        is_enough.then(|| Self::new(seen, task).ok()).flatten()
    }

    fn new(seen: &SeenThread<'_>, task: Task) -> Result<Self, NotJudged> {
        let SeenThread {
            number,
            thread,
            activity,
            is_executor,
            declared,
            events_missing,
            ..
        } = *seen;
        let rhythm = task.rhythm;
        if task.turns.is_empty() {
            let others = activity.pool.as_ref().map_or(0, |of| of.threads.len());
            let why =
                format!("of the cycles of the {others} threads that take turns none ran in it");
            return Err(seen.not_judged(why));
        }
        seen.can_be_judged(rhythm.period_ns)?;
        let policy = seen.policy()?;
        let row = task.row();
        let has_row = rhythm.anchor_ns.is_some();
        let samples = &row.samples;
        let jitter = row
            .jitter_ns()
            .into_iter()
            .map(|ns| ns.cast_signed())
            .collect();
        let mean_interval = |last: &Sample| {
            let all_ns = last.due_ns.checked_sub(row.due.start_ns)?;
            all_ns.checked_div(samples.len() as u64 - 1)
        };
        let cut_by_loss = match rhythm.begun_by {
            BegunBy::Timer => activity.cut_by_loss,
            BegunBy::Other => activity.handed_cut_by_loss,
            BegunBy::Marks => activity.marked_cut_by_loss,
        };
        let by = |what| rhythm.begun_by == what;
        let woken_by = if by(BegunBy::Other) {
            WokenBy::new(activity)
        } else {
            None
        };
        let mut findings = Finding::new(&task, &row, woken_by.as_ref(), (activity, is_executor));
        findings.retain(|of| !(events_missing && of.needs_all_events()));
        let left_out = |of: &Finding| matches!(of, Finding::LeftOut { .. });
        let shows_each_cycle = shows_each_cycle(rhythm.begun_by, task.is_by_lasting_timers())
            || findings.iter().any(left_out);
        // Another thread of a pool may have served a due time.
        let gaps = if events_missing || activity.pool.is_some() {
            Gaps::Unseen
        } else {
            with_passed(gaps(rhythm, shows_each_cycle), &findings)
        };
        let (tally, latencies) = due_times_of(&row, gaps);
        let switches = samples.iter().map(|s| u64::from(s.involuntary_switches));
        Ok(Self {
            name: thread.name.clone(),
            own_name: thread.name.clone(),
            thread_id: number,
            process: thread.process,
            policy,
            declared,
            earlier_policies: thread.earlier_policies.clone(),
            cpus: thread.cpus.clone(),
            allowed: thread.allowed.clone(),
            period_ns: rhythm.period_ns,
            exact: has_row && rhythm.beside_ns == 0,
            has_row,
            programmed: rhythm.programmed,
            findings,
            woken_by,
            pool: activity
                .pool_of(&task)
                .map_or_else(Vec::new, |of| of.threads.to_vec()),
            timer: task.timer,
            is_callback: false,
            is_periodic: rhythm.is_periodic,
            sleeps_ns: rhythm.sleeps_ns,
            apart_ns: apart_ns(&row),
            marked: by(BegunBy::Marks),
            shows_each_cycle,
            unwoken: task.unwoken,
            sections: Vec::new(),
            outside: 0,
            unpaired: 0,
            mean_interval_ns: samples.last().and_then(mean_interval),
            jitter_ns: Distribution::new(jitter).map(|of| of.summary()),
            latency_ns: latencies.map(|of| of.summary()),
            response_ns: summary(&row.even(), Sample::response_ns),
            run_ns: summary(samples, |sample| sample.cpu_time_ns.into()),
            activations: samples.len() as u64,
            skipped: (!tally.skips_unknown).then_some(tally.skipped),
            unseen: tally.unseen,
            ran_unseen: tally.ran_unseen,
            preempted: (
                switches.clone().filter(|&n| n > 0).count() as u64,
                switches.sum(),
            ),
            other_wake_ups: activity.other_wake_ups,
            unseen_wake_ups: activity.unseen_wake_ups,
            untold_switches: activity.untold_switches,
            untold_switch_ns: activity.untold_switch_ns,
            left_out: row.left_out + cut_by_loss,
            other_priorities: other_priorities(activity, policy),
            is_new: thread.is_new,
            ended: thread.ended,
            row,
        })
    }
}

/// A figure of all samples.
pub(super) fn summary(
    samples: &[Sample],
    figure: fn(&Sample) -> i64,
) -> Option<DistributionSummary> {
    Distribution::new(samples.iter().map(figure).collect()).map(|of| of.summary())
}

/// Between two due times: a tenth of the intervals are shorter, a tenth longer.
pub(super) fn apart_ns(row: &Row) -> (u64, u64) {
    let between = row.samples.windows(2);
    let between = between.map(|two| two[1].due_ns.saturating_sub(two[0].due_ns));
    let mut intervals: Vec<u64> = between.collect();
    intervals.sort_unstable();
    let at = |tenths: usize| {
        let last = intervals.len().saturating_sub(1);
        intervals.get(last * tenths / 10).copied().unwrap_or(0)
    };
    (at(1), at(9))
}

/// Its due times by the account of the recorded run, and their latencies.
pub(super) fn due_times_of(row: &Row, gaps: Gaps) -> (DueTally, Option<Distribution>) {
    let mut account = Account::new(Limits::default());
    let mut latencies = Vec::new();
    let window = JudgedWindow {
        due: row.due,
        first_judged_cycle: 0,
        end_cycle: row.samples.last().map_or(0, |last| last.cycle + 1),
        thread: 0,
        lost: 0,
        gaps,
    };
    // The tally remembers a contradiction, and the run's verdict tells it.
    let _ = account.add_segment(window, &row.even(), |fate| match fate {
        Fate::Ran { sample, .. } => latencies.push(sample.latency_ns()),
        Fate::Skipped(gap) => latencies.extend(gap.suffered_ns()),
        Fate::Unknown(_) => {}
    });
    (account.tally(), Distribution::new(latencies))
}

/// Switch-ins with another priority than the policy's (`include/linux/sched/prio.h`).
fn other_priorities(activity: &ThreadActivity, policy: Policy) -> u64 {
    let own = match policy {
        Policy::Deadline { .. } => -1,
        // Linux's events show what Linux has of it.
        Policy::Fifo { priority }
        | Policy::RoundRobin { priority }
        | Policy::EvlFifo { priority }
        | Policy::CobaltFifo { priority } => 99 - i32::from(priority),
        Policy::Other { nice } | Policy::Batch { nice } => 120 + i32::from(nice),
        // LITMUS^RT's threads keep what they had as OTHER.
        Policy::Idle
        | Policy::LitmusPFp { .. }
        | Policy::LitmusPsnEdf { .. }
        | Policy::LitmusGsnEdf { .. }
        | Policy::LitmusCEdf { .. } => 120,
    };
    let others = activity
        .priorities
        .iter()
        .filter(|(priority, _)| **priority != own);
    others.map(|(_, count)| count).sum()
}
