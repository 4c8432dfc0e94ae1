//! The campaign: each proved cell with a number of random sets, each simulated in several ways.

use super::Dice;
use super::jobs::Manner;
use super::ledger::{Counts, Ledger};
use super::machine::Done;
use super::sets::{Set, drawn};
use super::setting::machine;
use std::fmt::Write;
use std::time::{Duration, Instant};
use wakepath_schedulability::matrix::{Cell, Feature, Queue, pair};
use wakepath_schedulability::{
    Analysis, Arrivals, EndToEnd, Method, NotAnalysed, Outcome, Task, end_to_end, prove,
};

/// What SCHED_DEADLINE admits by itself: 95 % of each CPU.
fn admitted(set: &Set, analysis: &Analysis) -> bool {
    let asked = analysis.tasks.iter().map(|task| task.parameters);
    let shares = asked.map(|asked| {
        asked.map_or(0.0, |asked| {
            let fits = asked.runtime_ns <= asked.deadline_ns
                && asked.deadline_ns <= asked.period_ns
                && asked.runtime_ns >= 1024
                && asked.period_ns >= 100_000;
            if fits {
                asked.runtime_ns as f64 / asked.period_ns as f64
            } else {
                f64::INFINITY
            }
        })
    });
    shares.sum::<f64>() <= 0.95 * f64::from(set.cpus)
}

/// The longest time from the first task's due time to the end of the first job that has its value, by
/// tasks that read when they are released.
fn longest_chain(set: &Set, chain: &[usize], done: &[Vec<Done>]) -> u64 {
    let mut longest = 0;
    // Before all of them have begun, a value waits for the first job of the next task.
    let begun = chain.iter().filter_map(|&place| done[place].first());
    let begun = begun.map(|job| job.due).max().unwrap_or(0);
    for first in done[chain[0]].iter().filter(|job| job.due >= begun) {
        let mut end = Some(first.end);
        for two in chain.windows(2) {
            let released = set.tasks[two[1]].after.as_ref() == Some(&set.tasks[two[0]].name);
            let reads = |job: &&Done| match (released, end) {
                // The very job that the end releases.
                (true, Some(_)) => job.due == first.due,
                (false, Some(end)) => job.released >= end,
                (_, None) => false,
            };
            end = done[two[1]].iter().find(reads).map(|job| job.end);
        }
        longest = longest.max(end.map_or(0, |end| end - first.due));
    }
    longest
}

fn play(
    set: &Set,
    analysis: &Analysis,
    chains: &[Option<EndToEnd>],
    manners: u64,
    dice: &mut Dice,
    counts: &mut Counts,
) {
    let longest = set.tasks.iter().map(Task::period_ns).max().unwrap_or(1);
    let servers = set
        .tasks
        .iter()
        .filter_map(|task| task.reservation.as_ref());
    let longest = longest.max(servers.map(|own| own.period_ns).max().unwrap_or(0));
    let jitter = set.tasks.iter().map(|task| task.jitter_ns).max();
    let mut seen = vec![0; set.tasks.len()];
    for number in 0..manners {
        let manner = Manner {
            together: number == 0 || number % 8 == 7,
            periodic: !set.chains.is_empty() || dice.chance(30),
            timer: set.known.costs.event_ns,
            origin: jitter.unwrap_or(0) + longest,
        };
        let until = manner.origin + longest * dice.between(3, 8);
        let machine = machine(set, analysis, manner, until, dice);
        let done = machine.play(until, dice);
        for (place, jobs) in done.iter().enumerate() {
            let answer = &analysis.tasks[place];
            for job in jobs {
                let response = job.end - job.due;
                counts.jobs += 1;
                seen[place] = response.max(seen[place]);
                if let Some(bound) = answer.bound.response_ns {
                    assert!(
                        response <= bound,
                        "task {place}: bound {bound}, played {response}, due {}: {set:#?} {machine:#?}",
                        job.due
                    );
                }
                assert!(
                    !answer.schedulable || response <= set.tasks[place].deadline_ns,
                    "task {place}: proved, played {response}: {set:#?} {machine:#?}"
                );
                if let Some(late) = answer.tardiness_ns {
                    assert!(
                        response <= set.tasks[place].deadline_ns + late,
                        "task {place}: late by {late} at most, played {response}: {set:#?}"
                    );
                }
            }
            // A job that never ends shows nothing late.
            let due = machine.threads[place]
                .jobs
                .get(jobs.len())
                .map(|job| job.due);
            if let (Some(due), true) = (due, answer.schedulable) {
                assert!(
                    due + set.tasks[place].deadline_ns + 2 >= until,
                    "task {place}: proved, due {due} and not done by {until}: {set:#?} {machine:#?}"
                );
            }
        }
        for (chain, found) in set.chains.iter().zip(chains) {
            if let Some(found) = found {
                let longest = longest_chain(set, &chain.tasks, &done);
                assert!(
                    longest <= found.latency_ns,
                    "{chain:?}: bound {}, played {longest}: {set:#?}",
                    found.latency_ns
                );
            }
        }
    }
    for (answer, seen) in analysis.tasks.iter().zip(seen) {
        if let Some(bound) = answer.bound.response_ns {
            counts.bounds += 1;
            counts.reached += u64::from(bound == seen);
        }
    }
}

/// Plays sets of a cell, after those counted already, until there are `sets`.
fn cell(queue: Queue, features: [Feature; 2], sets: u64, manners: u64, counts: &mut Counts) {
    let number = |feature: Feature| Feature::ALL.iter().position(|own| *own == feature);
    let [one, other] = features.map(|feature| number(feature).unwrap_or(0) as u64);
    let row = Queue::ALL.iter().position(|own| *own == queue).unwrap_or(0) as u64;
    while counts.sets < sets && counts.drawn < 20 * sets {
        let cell = 1_000_000_007 * (row + 10 * one + 1000 * other);
        let mut dice = Dice::new(1 + counts.drawn + cell);
        counts.drawn += 1;
        let set = drawn(queue, features, &mut dice);
        let analysis = match prove(&set.question()) {
            Ok(analysis) => analysis,
            // A deadline too short, two jobs at once: drawn again. A refusal is no proof.
            Err(NotAnalysed::Refused(refusal)) => panic!("{refusal}: {set:#?}"),
            Err(_) => continue,
        };
        if matches!(set.method, Method::Deadline(_)) && !admitted(&set, &analysis) {
            continue;
        }
        let chains: Result<Vec<_>, _> = set
            .chains
            .iter()
            .map(|chain| end_to_end(&set.tasks, &analysis, chain))
            .collect();
        let Ok(chains) = chains else { continue };
        let mut bounded = analysis.tasks.iter();
        if !bounded.any(|task| {
            task.schedulable || task.bound.response_ns.is_some() || task.tardiness_ns.is_some()
        }) {
            continue;
        }
        counts.sets += 1;
        counts.proved += u64::from(analysis.outcome == Outcome::Schedulable);
        play(&set, &analysis, &chains, manners, &mut dice, counts);
    }
}

/// Cells that are proved, each once.
fn proved_cells(queue: Queue) -> Vec<[Feature; 2]> {
    let mut cells = Vec::new();
    for (place, one) in Feature::ALL.into_iter().enumerate() {
        for other in Feature::ALL.into_iter().skip(place) {
            if pair(queue, one, other) == Cell::Proved {
                cells.push([one, other]);
            }
        }
    }
    cells
}

fn number(variable: &str) -> Option<u64> {
    let text = std::env::var(variable).ok()?;
    Some(text.parse().expect("a number"))
}

/// All cells get the same number of sets before any gets more, so that a campaign that ends early
/// shows as much of each.
const ROUND: u64 = 1000;

/// Plays `sets` of each cell, or until the time has come.
fn campaign(queue: Queue, sets: u64, manners: u64, mut ledger: Ledger, until: Option<Instant>) {
    let only = std::env::var("WAKEPATH_CELL").ok();
    let cells = proved_cells(queue).into_iter().map(|features| {
        let [one, other] = features.map(Feature::name);
        let name = if one == other {
            one.to_owned()
        } else {
            format!("{one} + {other}")
        };
        (name, features)
    });
    let cells = cells.filter(|(name, _)| only.as_ref().is_none_or(|only| only == name));
    let cells: Vec<_> = cells.collect();
    let in_time = || until.is_none_or(|until| Instant::now() < until);
    let rounds = (1..=sets.div_ceil(ROUND)).map(|round| sets.min(ROUND * round));
    let each = rounds.flat_map(|sets| cells.iter().map(move |cell| (sets, cell)));
    for (sets, (name, features)) in each.take_while(|_| in_time()) {
        let counts = ledger.cells.entry(name.clone()).or_default();
        if counts.sets < sets && counts.drawn < 20 * sets {
            cell(queue, *features, sets, manners, counts);
            assert!(counts.sets >= sets.min(20), "{name}: {counts:?}");
            ledger.keep();
        }
    }
    let (mut text, mut all, mut fewest) = (String::new(), Counts::default(), sets);
    for (name, _) in &cells {
        let counts = ledger.cells.get(name).copied().unwrap_or_default();
        all.add(&counts);
        if counts.drawn < 20 * sets {
            fewest = fewest.min(counts.sets);
        }
        let reached = 100.0 * counts.reached as f64 / counts.bounds.max(1) as f64;
        let _ = writeln!(
            text,
            "  {name}: {} sets, {} proved, {} jobs, {reached:.1} % of bounds reached",
            counts.sets, counts.proved, counts.jobs
        );
    }
    println!(
        "played: {}: {} cells, {} sets, {fewest} or more of each, {} of them proved, {} jobs, no job after \
         its bound\n{text}",
        queue.name(),
        cells.len(),
        all.sets,
        all.proved,
        all.jobs
    );
    if fewest < sets {
        // This line counts the test as skipped.
        println!(
            "not run: {}: {fewest} of {sets} sets of each cell in the time given, none late; run it again \
             to resume",
            queue.name()
        );
    }
}

/// A few sets of each cell: seconds.
fn shortly(queue: Queue) {
    campaign(queue, 25, 4, Ledger::none(), None);
}

/// As many as the environment says, or 20 000.
fn deeply(queue: Queue) {
    let sets = number("WAKEPATH_SETS").unwrap_or(20_000);
    let minutes = number("WAKEPATH_PLAYED_MINUTES");
    let until = minutes.map(|minutes| Instant::now() + Duration::from_secs(60 * minutes));
    campaign(queue, sets, 4, Ledger::open(queue.name()), until);
}

macro_rules! cells {
    ($($queue:ident $short:ident $long:ident)*) => {$(
        #[test]
        fn $short() {
            shortly(Queue::$queue);
        }

        #[test]
        #[ignore = "takes many minutes: `cargo xtask test --deep`"]
        fn $long() {
            deeply(Queue::$queue);
        }
    )*};
}

cells! {
    FixedOnOne no_job_of_p_fp_is_later_than_its_bound
        no_job_of_20_000_sets_for_each_cell_of_p_fp_is_later_than_its_bound
    FixedOnSeveral no_job_of_g_fp_is_later_than_its_bound
        no_job_of_20_000_sets_for_each_cell_of_g_fp_is_later_than_its_bound
    EdfOnOne no_job_of_p_edf_is_later_than_its_bound
        no_job_of_20_000_sets_for_each_cell_of_p_edf_is_later_than_its_bound
    EdfOnSeveral no_job_of_g_edf_is_later_than_its_bound
        no_job_of_20_000_sets_for_each_cell_of_g_edf_is_later_than_its_bound
    DeadlineOnOne no_job_of_sched_deadline_on_one_cpu_is_later_than_its_bound
        no_job_of_20_000_sets_for_each_cell_of_sched_deadline_on_one_cpu_is_later_than_its_bound
    DeadlineOnSeveral no_job_of_sched_deadline_on_several_cpus_is_later_than_its_bound
        no_job_of_20_000_sets_for_each_cell_of_sched_deadline_on_several_cpus_is_later_than_its_bound
}

/// Where the analysis is exact, playings from many beginnings reach its bounds.
#[test]
fn exact_bounds_are_reached() {
    let sets = number("WAKEPATH_SETS").unwrap_or(40);
    let exact = [
        (Queue::FixedOnOne, Feature::Jitter),
        (Queue::FixedOnOne, Feature::Burst),
        (Queue::FixedOnOne, Feature::LateDeadline),
        (Queue::FixedOnOne, Feature::Stretch),
        (Queue::FixedOnOne, Feature::Section),
        (Queue::EdfOnOne, Feature::Jitter),
        (Queue::EdfOnOne, Feature::LateDeadline),
        (Queue::EdfOnOne, Feature::Stretch),
        (Queue::EdfOnOne, Feature::Section),
    ];
    for (queue, feature) in exact {
        let mut counts = Counts::default();
        cell(queue, [feature, feature], sets, 64, &mut counts);
        let reached = 100.0 * counts.reached as f64 / counts.bounds as f64;
        println!(
            "{}, {}: {} of {} bounds reached, {reached:.1} %",
            queue.name(),
            feature.name(),
            counts.reached,
            counts.bounds
        );
        assert!(reached > 30.0, "{} {}", queue.name(), feature.name());
    }
}

/// Ensures that drawn sets include every kind of feature, such as lists of distances.
#[test]
fn drawn_sets_have_the_features_that_they_are_drawn_for() {
    let mut dice = Dice::new(5);
    let set = drawn(
        Queue::FixedOnOne,
        [Feature::Burst, Feature::Suspension],
        &mut dice,
    );
    let bursts = |task: &Task| matches!(task.arrivals, Arrivals::Distances(_));
    assert!(set.tasks.iter().any(bursts));
    assert!(set.tasks.iter().any(|task| task.suspension_ns > 0));
}
