//! `wakepath lab bisect`: which of a row of kernels made a latency's path longer, and through which
//! functions.

use super::command_line::LabBisect;
use super::host;
use super::run::{for_guests, measure};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use wakepath_archive::{Run, command_about};
use wakepath_console::Outcome;
use wakepath_console::terminal::{print_result, tell};
use wakepath_directory::Directory;
use wakepath_explain::window::Window;
use wakepath_lab::{
    Again, Bisection, Compared, CyclesAsked, FEWEST_SEEDS, GuestsAsked, LabError, Next, SeedRun,
    Step, Turn, Wanted, WatchedCount, Whole, baseline, baseline_order, found_text, is_open, parted,
    parted_text, step_text, windows,
};
use wakepath_measure::Interrupt;
use wakepath_scenario::Scenario;

type Failure = Box<dyn std::error::Error>;

/// Measures until it is found, and holds the worst cycles on either side against each other.
pub fn run(arguments: &LabBisect) -> Outcome {
    let guests = asked(arguments)?;
    let scenario = for_guests(&arguments.scenario, guests.cpus)?;
    let count = arguments.count.replace('-', "_") + "_ns";
    let seeds = &arguments.seed;
    if seeds.len() < FEWEST_SEEDS {
        return Err(format!(
            "{} seeds: with fewer than {FEWEST_SEEDS} growth can't be distinguished from chance; give --seed {FEWEST_SEEDS} \
             times or more",
            seeds.len()
        )
        .into());
    }
    let order = baseline_order(&guests, &scenario, seeds);
    let place = &arguments.directory;
    std::fs::create_dir_all(place).map_err(|error| format!("{}: {error}", place.display()))?;
    Directory::to_write(place, arguments.host.trust())?;
    let bisection = Bisection::new(order, count, arguments.condition.clone());
    let mut bisection = bisection.resumed(place)?;
    for step in &bisection.steps {
        tell!("already measured: {}", step_text(&bisection, step.kernel));
    }
    loop {
        match bisection.next() {
            Next::Measure(kernel, left) => {
                let name = &guests.kernels[kernel];
                tell!("{left} more at most; now {name}");
                let step = one(arguments, &guests, &scenario, kernel, place)?;
                bisection.steps.push(step);
                bisection.keep(place)?;
                tell!("{}", step_text(&bisection, kernel));
            }
            Next::NoEnd(kernel) => {
                return Err(format!(
                    "{}: an end of the row must be measured",
                    step_text(&bisection, kernel)
                )
                .into());
            }
            Next::NoGrowth => {
                let (first, last) = (
                    &guests.kernels[0],
                    &guests.kernels[guests.kernels.len() - 1],
                );
                print_result(
                    false,
                    &format!(
                        "nothing to be found: {} is nowhere larger on {last} than on {first} by more than \
                         chance (exact rank test over {} seeds, p ≤ 5 %)\n",
                        arguments.count,
                        seeds.len()
                    ),
                )?;
                return Ok(ExitCode::from(3));
            }
            Next::Found(watched, turn) => {
                print_result(false, &found_text(&bisection, &watched, &turn))?;
                print_result(false, &functions(arguments, &bisection, &watched, &turn)?)?;
                let open = is_open(&bisection, &watched, &turn);
                return Ok(ExitCode::from(if open { 3 } else { 0 }));
            }
        }
    }
}

/// The guests, one for each kernel of the row.
fn asked(arguments: &LabBisect) -> Result<GuestsAsked, Failure> {
    let row = arguments
        .good
        .iter()
        .chain(&arguments.kernel)
        .chain(&arguments.bad);
    let kernels: Vec<String> = row.cloned().collect();
    if kernels.len() < 2 {
        return Err(
            "a row of two kernels at least is bisected: give --good and --bad, or --kernel twice"
                .into(),
        );
    }
    if let Some(twice) = kernels
        .iter()
        .enumerate()
        .find(|(at, name)| kernels[..*at].contains(name))
    {
        return Err(format!("{} is in the row twice", twice.1).into());
    }
    Ok(arguments.each.asked(kernels))
}

/// Measures a kernel of the row. One that can't be measured is a step too, but for an interruption.
fn one(
    arguments: &LabBisect,
    guests: &GuestsAsked,
    scenario: &Scenario,
    kernel: usize,
    place: &Path,
) -> Result<Step, Failure> {
    let guests = GuestsAsked {
        kernels: vec![guests.kernels[kernel].clone()],
        ..guests.clone()
    };
    let directory = place.join(format!("{}", kernel + 1));
    // Left unfinished by an earlier start.
    let _ = std::fs::remove_dir_all(&directory);
    let interrupt = Interrupt::listen()?;
    let seeds = &arguments.seed;
    let measured = measure(&guests, &arguments.host, scenario, seeds, &directory);
    if interrupt.requested() {
        return Err("interrupted: the same command resumes from here".into());
    }
    let runs = measured.and_then(|compared| {
        let whole = compared.into_iter().map(Compared::into_whole);
        let whole: Vec<Whole> = whole.collect::<Result<_, LabError>>()?;
        let directories: Vec<PathBuf> = whole.iter().map(|one| one.directory.clone()).collect();
        let counted = baseline(baseline_order(&guests, scenario, seeds), &whole)?.guests;
        let pairs = directories.into_iter().zip(counted);
        Ok(pairs
            .map(|(directory, counted)| SeedRun {
                directory,
                conditions: counted.conditions,
            })
            .collect())
    });
    let (runs, failed) = match runs {
        Ok(runs) => (runs, None),
        Err(why) => (Vec::new(), Some(why.to_string())),
    };
    Ok(Step {
        kernel,
        runs,
        failed,
    })
}

/// The functions in which the worst cycles on either side of the turn differ.
fn functions(
    arguments: &LabBisect,
    bisection: &Bisection,
    watched: &WatchedCount,
    turn: &Turn,
) -> Result<String, Failure> {
    let side = |kernel: usize| -> Result<(PathBuf, Window), Failure> {
        let step = bisection.step(kernel).ok_or("a step is missing")?;
        let seed = step.median_run(watched).ok_or("a run is missing")?;
        let run = Run::open(&seed.directory)?;
        let directory = Directory::to_write(&seed.directory, arguments.host.trust())?;
        let wanted = Wanted::new(&run, &CyclesAsked::Worst(1))?;
        let interrupt = Interrupt::listen()?;
        let (host, on) = (host()?, arguments.host.asked());
        let again = Again::new(&run, None, &on, &host)?;
        let stopped = || interrupt.requested();
        let found = windows(&run, &directory, &again, &wanted, &host, &stopped)?;
        let is_mine = |window: &Window| {
            format!("{}, {}", window.condition, window.phase) == watched.condition
        };
        let mine = found
            .into_iter()
            .find(is_mine)
            .ok_or("no window of that condition")?;
        Ok((seed.directory.clone(), mine))
    };
    let (good, bad) = (side(turn.good)?, side(turn.bad)?);
    let path = |(directory, window): &(PathBuf, Window)| {
        let (segment, cycle) = (window.segment, window.cycle);
        let cycle = format!("--cycle {segment}:{cycle}");
        command_about("lab window", &directory.display().to_string(), &cycle)
    };
    Ok(format!(
        "\nthe worst cycle of each one's median seed, {} and {} instructions:\n{}\n{}\n{}\n",
        good.1.instructions,
        bad.1.instructions,
        parted_text(&parted(&good.1, &bad.1)),
        path(&good),
        path(&bad)
    ))
}
