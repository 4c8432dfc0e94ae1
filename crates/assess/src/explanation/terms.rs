//! Facts about a segment for the explainer, besides its loops: wakepath's own threads, and the
//! drivers' figures for the CPUs' idle states.

use wakepath_archive::{FactsTaken, OwnRole, SegmentTraced, Trace, VirtualTime};
use wakepath_explain::{Budgets, IdleExits, Options, Own, OwnThread, Places, Quota};
use wakepath_machine::{Facts, GroupBudget, GroupThrottling, IdleGroup, Reading};
use wakepath_timeline::Budget;

/// The terms of one segment of a run, on a machine of these facts and in this time.
pub fn options(
    facts: &[FactsTaken],
    virtual_time: Option<&VirtualTime>,
    traced: Option<&SegmentTraced>,
    trace: &Trace,
    loops: &[Option<u32>],
    places: Places,
) -> Options {
    let members = trace.end().into_iter().flat_map(|end| &end.members);
    Options {
        usual: None,
        own: own(traced, loops),
        idle_exits: idle_exits(facts),
        // Several take turns, each while the others are stopped.
        never_still: virtual_time.is_some_and(|time| time.cpus == 1),
        always_ticks: always_ticks(facts),
        budgets: budgets(facts),
        places,
        members: members.map(|of| (of.thread, of.process)).collect(),
    }
}

/// Whether these facts say that no CPU runs without the tick.
fn always_ticks(taken: &[FactsTaken]) -> bool {
    let read = |taken: &FactsTaken| Facts::of_json(&taken.facts).ok();
    let first = taken.first().and_then(read);
    first.is_some_and(|facts| match &facts.varying.cpu_time.nohz_full {
        Reading::Known { value, .. } => value.is_empty(),
        Reading::Absent { .. } => true,
        _ => false,
    })
}

/// The budgets of the loops' control group, from the first facts to the last.
fn budgets(taken: &[FactsTaken]) -> Budgets {
    let read = |taken: Option<&FactsTaken>| Facts::of_json(&taken?.facts).ok();
    let (Some(first), Some(last)) = (read(taken.first()), read(taken.last())) else {
        return Budgets::default();
    };
    let throttled = last.varying.cgroup.throttled_since(&first.varying.cgroup);
    let most = throttled.into_iter().max_by_key(|of| of.since_made.times);
    let granted_ns = |of: &GroupThrottling| {
        let mut quotas = last.varying.cgroup.quotas.iter();
        let quota = quotas.find(|quota| quota.file == of.file)?;
        Some(quota.runtime_us.saturating_mul(1_000))
    };
    Budgets {
        quota: most.map(|of| Quota {
            is_usual: of.since_made.times * 2 >= of.since_made.periods,
            granted_ns: granted_ns(&of),
            budget: of.budget(),
        }),
        real_time: real_time(&last),
    }
}

/// The budget that stops FIFO and RR threads first; `None` if there is none or more than one that it could be.
fn real_time(facts: &Facts) -> Option<Budget> {
    let machine = &facts.varying.real_time;
    let machine_us = machine.runtime_us.known().copied();
    let has_limit = machine_us.is_none_or(|us| us >= 0);
    let share = |group: &GroupBudget| {
        let (&runtime, &period) = (group.runtime_us.known()?, group.period_us.known()?);
        (runtime >= 0 && period > 0).then(|| runtime as f64 / period as f64)
    };
    // The group at the top has the machine's own limit.
    let groups = facts.varying.cgroup.real_time.iter();
    let limited = groups.filter(|group| group.group != "/" && has_limit);
    let shares = limited.filter_map(|group| Some((share(group)?, group)));
    if let Some((_, group)) = shares.min_by(|a, b| a.0.total_cmp(&b.0)) {
        return Some(Budget::GroupRealTime {
            group: group.group.clone(),
            file: group.runtime_us.path().to_owned(),
        });
    }
    let release = facts.fixed.kernel.release_numbers()?;
    let has_server = (release.major, release.minor) >= (6, 12);
    match (has_server, facts.fixed.config.is_set("RT_GROUP_SCHED")) {
        (false, _) if machine_us? >= 0 => Some(Budget::MachineRealTime),
        (true, Some(false)) => Some(Budget::FairServer),
        _ => None,
    }
}

/// Its recorded processes; without a record, whatever is called wakepath.
fn own(traced: Option<&SegmentTraced>, loops: &[Option<u32>]) -> Own {
    let recorded = traced.and_then(|traced| traced.own.as_ref());
    let Some(processes) = recorded else {
        return Own::Named("wakepath".into());
    };
    let mut threads = Vec::new();
    for process in processes {
        for thread in &process.threads {
            let number = thread.thread;
            // What else runs in the loop's process is the controller's, and not ours.
            let is_controller = process.role == OwnRole::Loop && number != process.process;
            let is_loop = is_controller || loops.contains(&Some(number));
            threads.push(OwnThread {
                is_tool: process.role.is_tool() && !is_loop,
                thread: number,
                from_ns: thread.from_ns,
                to_ns: thread.to_ns.unwrap_or(u64::MAX),
            });
        }
    }
    Own::Threads(threads)
}

/// The drivers' figures from the first facts that have them.
fn idle_exits(facts: &[FactsTaken]) -> IdleExits {
    let groups = facts.iter().find_map(|taken| {
        let facts = Facts::of_json(&taken.facts).ok()?;
        facts.varying.idle.groups.known().cloned()
    });
    let figures = |group: &IdleGroup| {
        let numbered = (0..).zip(&group.states);
        let states: Vec<(u32, u64)> = numbered
            .map(|(state, of)| (state, of.latency_us.saturating_mul(1000)))
            .collect();
        let cpus = group.cpus.numbers().to_vec();
        cpus.into_iter().flat_map(move |cpu| {
            let states = states.clone().into_iter();
            states.map(move |(state, ns)| ((cpu, state), ns))
        })
    };
    IdleExits::new(groups.iter().flatten().flat_map(figures))
}
