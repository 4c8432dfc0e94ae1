//! `wakepath schedulability sweep`: the points of a sweep computed on several threads, or a part of
//! them for a merge on another machine. Neither changes a set's answer.

use crate::command_line::{DistributionWord, SchedulabilitySweep, SweptPolicy};
use std::ops::Range;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::Builder;
use wakepath_archive::Run;
use wakepath_assess::{KnownOverheads, PublishedOverheads, Sweep, SweptPlan, SweptPoint, Taken};
use wakepath_console::Outcome;
use wakepath_console::progress::Progress;
use wakepath_console::terminal::print_result;
use wakepath_report::{Style, ToText, sweep_page, to_json};
use wakepath_schedulability::Method;
use wakepath_schedulability::sweep::{Distribution, Plan, Profile, Stop, Tally, Work};
use wakepath_timeline::one_line;

type Failure = Box<dyn std::error::Error>;

/// Computes or merges, and shows.
pub fn run(arguments: &SchedulabilitySweep) -> Outcome {
    let found = match &arguments.merge[..] {
        [] => computed(arguments)?,
        parts => merged(parts)?,
    };
    if let Some(output) = &arguments.output {
        wakepath_directory::replace(output, sweep_page(&found).as_bytes())?;
    }
    let json = arguments.json || arguments.points.is_some();
    let said = if json {
        to_json(&found)
    } else {
        found.to_text(Style::of_stdout())
    };
    print_result(json, &said)?;
    Ok(ExitCode::SUCCESS)
}

fn computed(arguments: &SchedulabilitySweep) -> Result<Sweep, Failure> {
    let (plan, sources) = plan(arguments)?;
    let all = plan.points().len();
    let points = match &arguments.points {
        None => 0..all,
        Some(points) if points.end <= all => points.clone(),
        Some(points) => {
            return Err(format!(
                "--points {}..{}: this sweep has the points 0..{all}",
                points.start, points.end
            )
            .into());
        }
    };
    let threads = match arguments.threads {
        Some(threads) => usize::from(threads),
        None => std::thread::available_parallelism().map_or(1, usize::from),
    };
    let progress = Progress::new("swept");
    let tallies = swept(&plan, points.clone(), threads, &progress);
    progress.end();
    Ok(Sweep {
        plan: SweptPlan::new(&plan, arguments.cluster, sources),
        points: points
            .zip(&tallies)
            .map(|(number, tally)| SweptPoint::new(&plan, number, tally))
            .collect(),
    })
}

/// The tallies of these points, in their order.
fn swept(plan: &Plan, points: Range<usize>, threads: usize, progress: &Progress) -> Vec<Tally> {
    let (first, count) = (points.start, points.len());
    let all = plan.points();
    let (taken, ready) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let found: Vec<Mutex<Tally>> = points.map(|_| Mutex::default()).collect();
    let work = || {
        let mut work = Work::default();
        loop {
            // The last points have the most tasks: they begin first, so that none is left alone at
            // the end.
            let taken = taken.fetch_add(1, Ordering::Relaxed);
            let Some(place) = count.checked_sub(taken + 1) else {
                break;
            };
            let number = first + place;
            let generator = plan.generator(&all[number]);
            let mut tally = Tally::default();
            while !plan.is_known(&tally) {
                let block = plan.block(&mut work, number, &generator, &tally);
                tally.add(&block);
            }
            if let Ok(mut found) = found[place].lock() {
                *found = tally;
            }
            progress.tell(ready.fetch_add(1, Ordering::Relaxed) + 1, count);
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..threads.min(count) {
            // Where the system gives no more threads, those that there are do it all.
            if Builder::new().spawn_scoped(scope, work).is_err() {
                break;
            }
        }
        work();
    });
    found
        .into_iter()
        .map(|tally| tally.into_inner().unwrap_or_default())
        .collect()
}

/// For each of a plan's overheads the source, and its unknown parts.
type Sources = Vec<(String, Vec<String>)>;

fn plan(arguments: &SchedulabilitySweep) -> Result<(Plan, Sources), Failure> {
    if arguments.longest_period < arguments.shortest_period {
        return Err("--longest-period: is below --shortest-period; give a longer one".into());
    }
    if !(0.0..=50.0).contains(&arguments.within) {
        return Err("--within: give percentage points from 0 to 50, such as 1".into());
    }
    let mut plan = Plan {
        cpus: arguments.cpus,
        seed: arguments.seed,
        methods: distinct(arguments.policies.iter().map(|policy| match policy {
            SweptPolicy::PFp => Method::PartitionedFixedPriority,
            SweptPolicy::PEdf => Method::PartitionedEdf,
            SweptPolicy::GEdf => Method::GlobalEdf,
            SweptPolicy::CEdf => Method::ClusteredEdf(arguments.cluster),
        })),
        profiles: vec![Profile::ideal()],
        distributions: distinct(arguments.distributions.iter().map(|word| match word {
            DistributionWord::Light => Distribution::light(),
            DistributionWord::Medium => Distribution::medium(),
        })),
        utilizations: match &arguments.utilization[..] {
            [] => (1..=40).map(|step| step * 25).collect(),
            given => {
                let mut given = distinct(given.iter().copied());
                given.sort_unstable();
                given
            }
        },
        periods_ns: (arguments.shortest_period, arguments.longest_period),
        stop: Stop {
            half_width: arguments.within / 100.0,
            most: arguments.sets,
        },
    };
    let most = plan.most_tasks();
    let mut sources = vec![(String::new(), Vec::new())];
    for published in PublishedOverheads::all() {
        plan.profiles
            .push(Profile::new(published.name.as_str(), &published, most));
        sources.push((
            format!("{}; {}", published.source, published.remark),
            published.unknown,
        ));
    }
    if !arguments.overheads.is_empty() {
        let runs: Result<Vec<Run>, _> = arguments
            .overheads
            .iter()
            .map(|run| Run::open(run))
            .collect();
        let measured = KnownOverheads::of_runs(&runs?, Taken::Maximum, None)?;
        plan.profiles
            .push(Profile::new("measured", &measured, most));
        let unknown = measured.unknown.iter().map(ToString::to_string);
        sources.push((measured.source.clone(), unknown.collect()));
    }
    Ok((plan, sources))
}

fn distinct<T: PartialEq>(values: impl Iterator<Item = T>) -> Vec<T> {
    let mut all = Vec::new();
    for value in values {
        if !all.contains(&value) {
            all.push(value);
        }
    }
    all
}

fn merged(files: &[impl AsRef<Path>]) -> Result<Sweep, Failure> {
    let part = |file: &dyn AsRef<Path>| -> Result<(String, Sweep), Failure> {
        let name = file.as_ref().display().to_string();
        let text =
            std::fs::read_to_string(file.as_ref()).map_err(|error| format!("{name}: {error}"))?;
        let remedy = "give what `wakepath schedulability sweep --points` printed";
        let part: Sweep = serde_json::from_slice(text.as_bytes())
            .map_err(|error| format!("{name}: {error}; {remedy}"))?;
        if part.plan.version != SweptPlan::VERSION || !is_clean(&part) {
            return Err(format!(
                "{name}: is not a part of a sweep that this program makes; {remedy}"
            )
            .into());
        }
        Ok((name, part))
    };
    let parts: Result<Vec<_>, Failure> = files.iter().map(|file| part(file)).collect();
    Ok(Sweep::merged(parts?)?)
}

/// Whether its names are one line each, as those of our own.
fn is_clean(part: &Sweep) -> bool {
    let plan = &part.plan;
    let names = plan.policies.iter();
    let names = names.chain(plan.distributions.iter().map(|one| &one.name));
    let overheads = plan.overheads.iter();
    let overheads =
        overheads.flat_map(|one| [&one.name, &one.source].into_iter().chain(&one.unknown));
    names
        .chain(overheads)
        .all(|name| one_line(name) == name.as_str())
}
