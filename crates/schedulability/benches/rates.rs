//! Task sets analysed per second on one thread, compared with the crate `response-time-analysis`: our
//! rounds and its rounds alternate on the same sets; prints the ratio of each round, the median and the
//! spread. Time is the thread's CPU time: other load on the machine slows only the caches.
//! `cargo bench -p wakepath-schedulability`.

use response_time_analysis::demand::RBF;
use response_time_analysis::time::Duration;
use response_time_analysis::{arrival, edf, fixed_priority, wcet};
use rustix::time::{ClockId, clock_gettime};
use std::hint::black_box;
use wakepath_schedulability::Method;
use wakepath_schedulability::edf::{DemandTask, Verdict, demand_holds};
use wakepath_schedulability::fixed_priority::{QuickTask, Windows};
use wakepath_schedulability::overheads::Costs;
use wakepath_schedulability::sweep::{
    Distribution, Generator, Plan, Profile, Random, Stop, Tally, Work,
};

const ROUNDS: usize = 15;

fn main() {
    if std::env::var_os("EACH_POINT").is_some() {
        return sweep();
    }
    println!("fixed priorities: the response time of every task");
    for (tasks, utilization) in [(10, 0.7), (10, 0.9), (20, 0.7), (40, 0.7)] {
        let sets = sets(tasks, utilization, 2000);
        let mut windows = Windows::default();
        let ours = |set: &[DemandTask]| our_responses(&mut windows, set);
        report(tasks, utilization, &sets, ours, their_responses);
    }
    println!(
        "\nearliest deadline first: yes or no by QPA; theirs: the response time of every task"
    );
    for (tasks, utilization) in [(10, 0.7), (10, 0.9), (40, 0.7), (40, 0.9)] {
        let sets = sets(tasks, utilization, 2000);
        report(tasks, utilization, &sets, our_demand, their_edf);
    }
    println!("\na sweep");
    sweep();
}

/// The sets of the command's default, all four policies, without overheads, with a switch that costs
/// 11.2 µs, and with costs of each kind.
fn sweep() {
    let switch = Costs {
        switch_ns: 11_200,
        ..Costs::default()
    };
    let all = Costs {
        event_ns: 60_000,
        release_ns: 12_000,
        scheduling_ns: 12_000,
        switch_ns: 6_000,
        ipi_ns: 4_000,
        tick_ns: 2_500,
        tick_period_ns: 1_000_000,
        section_ns: 0,
    };
    let plan = Plan {
        cpus: 4,
        seed: 1,
        methods: vec![
            Method::PartitionedFixedPriority,
            Method::PartitionedEdf,
            Method::GlobalEdf,
            Method::ClusteredEdf(2),
        ],
        profiles: vec![
            Profile::ideal(),
            Profile::new("switch", &switch, 80),
            Profile::new("all", &all, 80),
        ],
        distributions: vec![Distribution::light(), Distribution::medium()],
        utilizations: (1..=40).map(|step| step * 25).collect(),
        periods_ns: (1_000_000, 100_000_000),
        stop: Stop {
            half_width: 0.0,
            most: 500,
        },
    };
    let (mut work, mut sets) = (Work::default(), 0);
    let started = seconds();
    for (number, point) in plan.points().iter().enumerate() {
        let begun = seconds();
        let tally = plan.block(&mut work, number, &plan.generator(point), &Tally::default());
        sets += black_box(&tally).sets;
        if std::env::var_os("EACH_POINT").is_some() {
            let each = (seconds() - begun) * 1e6 / tally.sets as f64;
            println!("  {point:?}: {each:.1} µs for each set, {:?}", tally.held);
        }
    }
    let rate = sets as f64 / (seconds() - started);
    println!("  {rate:.0} sets/s, each judged twelve times");
    // As the command runs it: at most a million sets, and each curve only until it is known.
    let plan = Plan {
        stop: Stop {
            half_width: 0.01,
            most: 12_500,
        },
        ..plan
    };
    let (mut sets, mut judged) = (0, 0);
    let started = seconds();
    for (number, point) in plan.points().iter().enumerate() {
        let (generator, mut tally) = (plan.generator(point), Tally::default());
        while !plan.is_known(&tally) {
            let block = plan.block(&mut work, number, &generator, &tally);
            tally.add(&block);
        }
        sets += tally.sets;
        judged += black_box(&tally).judged.iter().sum::<u64>();
    }
    println!(
        "  as carried out by default: {:.1} s for {sets} sets, {judged} judgements",
        seconds() - started
    );
}

/// Sets in order of their periods, deadlines between half of what is left after the execution and
/// the period.
fn sets(tasks: usize, utilization: f64, count: u64) -> Vec<Vec<DemandTask>> {
    let mean = utilization / tasks as f64;
    let distribution = Distribution {
        name: String::new(),
        low: 0.0,
        // The requested number of tasks has this mean.
        high: 2.0 * mean,
    };
    let generator = Generator::new(&distribution, utilization, 1_000_000, 1_000_000_000);
    let (mut values, mut drawn) = (Vec::new(), Vec::new());
    let set = |index| {
        let mut random = Random::new(17, tasks as u64, index);
        generator.draw(&mut random, &mut values, &mut drawn);
        assert_eq!(drawn.len(), tasks);
        let mut set: Vec<DemandTask> = drawn
            .iter()
            .map(|task| {
                let room = (task.period_ns - task.execution_ns) as f64;
                DemandTask {
                    execution_ns: task.execution_ns,
                    period_ns: task.period_ns,
                    deadline_ns: task.period_ns - (0.5 * random.unit() * room) as u64,
                    jitter_ns: 0,
                    blocks_ns: 0,
                }
            })
            .collect();
        set.sort_by_key(|task| task.period_ns);
        set
    };
    (0..count).map(set).collect()
}

fn report(
    tasks: usize,
    utilization: f64,
    sets: &[Vec<DemandTask>],
    mut ours: impl FnMut(&[DemandTask]) -> u64,
    mut theirs: impl FnMut(&[DemandTask]) -> u64,
) {
    // Theirs may be thousands of times slower: few sets each round, as many as take 50 ms.
    let few = sets.len().min(fitting(sets, &mut theirs, 0.05));
    let (mut rates, mut ratios) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        let our_rate = rate(sets, &mut ours);
        let their_rate = rate(&sets[..few], &mut theirs);
        rates.push(our_rate);
        ratios.push(our_rate / their_rate);
    }
    rates.sort_by(f64::total_cmp);
    ratios.sort_by(f64::total_cmp);
    let holding = sets.iter().filter(|set| our_demand(set) == 1).count();
    println!(
        "  n = {tasks}, U = {utilization}: {:>9.0} sets/s, {:.1} times theirs ({:.1} to {:.1} in {ROUNDS} \
         rounds); {holding} of {} sets hold under EDF",
        rates[ROUNDS / 2],
        ratios[ROUNDS / 2],
        ratios[0],
        ratios[ROUNDS - 1],
        sets.len(),
    );
}

/// Seconds that this thread has run.
fn seconds() -> f64 {
    let now = clock_gettime(ClockId::ThreadCPUTime);
    now.tv_sec as f64 + now.tv_nsec as f64 * 1e-9
}

fn rate(sets: &[Vec<DemandTask>], analyse: &mut impl FnMut(&[DemandTask]) -> u64) -> f64 {
    let started = seconds();
    let (mut done, mut sum) = (0, 0_u64);
    while seconds() - started < 0.03 {
        for set in sets {
            sum = sum.wrapping_add(analyse(set));
        }
        done += sets.len();
    }
    black_box(sum);
    done as f64 / (seconds() - started)
}

fn fitting(
    sets: &[Vec<DemandTask>],
    analyse: &mut impl FnMut(&[DemandTask]) -> u64,
    most: f64,
) -> usize {
    let started = seconds();
    for (done, set) in sets.iter().enumerate() {
        black_box(analyse(set));
        if seconds() - started > most {
            return done + 1;
        }
    }
    sets.len()
}

/// Deadlines at the end of the period: what their analysis needs as a limit too.
fn our_responses(windows: &mut Windows, set: &[DemandTask]) -> u64 {
    windows.clear();
    let mut sum = 0;
    for task in set {
        let task = QuickTask {
            execution_ns: task.execution_ns,
            period_ns: task.period_ns,
            deadline_ns: task.period_ns,
            jitter_ns: 0,
            blocking_ns: 0,
        };
        sum += windows.next(&task).unwrap_or(0);
    }
    sum
}

type Demand = RBF<arrival::Sporadic, wcet::Scalar>;

fn demand(task: &DemandTask) -> Demand {
    RBF::new(
        arrival::Sporadic::new_zero_jitter(Duration::from(task.period_ns)),
        wcet::Scalar::new(response_time_analysis::time::Service::from(
            task.execution_ns,
        )),
    )
}

fn their_responses(set: &[DemandTask]) -> u64 {
    let demands: Vec<Demand> = set.iter().map(demand).collect();
    let mut sum = 0;
    for (rank, task) in demands.iter().enumerate() {
        let limit = Duration::from(set[rank].period_ns);
        let found =
            fixed_priority::fully_preemptive::dedicated_uniproc_rta(task, &demands[..rank], limit);
        sum += found.map_or(0, u64::from);
    }
    sum
}

fn our_demand(set: &[DemandTask]) -> u64 {
    u64::from(demand_holds(set) == Verdict::Holds)
}

fn their_edf(set: &[DemandTask]) -> u64 {
    let demands: Vec<Demand> = set.iter().map(demand).collect();
    let all: Vec<_> = demands
        .iter()
        .zip(set)
        .map(|(rbf, task)| edf::fully_preemptive::Task {
            rbf,
            deadline: Duration::from(task.deadline_ns),
        })
        .collect();
    let mut holds = 1;
    for place in 0..all.len() {
        let others: Vec<_> = (0..all.len())
            .filter(|other| *other != place)
            .map(|other| edf::fully_preemptive::Task {
                rbf: all[other].rbf,
                deadline: all[other].deadline,
            })
            .collect();
        let limit = Duration::from(100_000_000_000_u64);
        let found = edf::fully_preemptive::dedicated_uniproc_rta(&all[place], &others, limit);
        if found.map_or(true, |response| response > all[place].deadline) {
            holds = 0;
        }
    }
    holds
}
