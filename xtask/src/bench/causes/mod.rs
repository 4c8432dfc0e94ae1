//! Causes of lateness injected at random, and how often they are named.
//!
//! A program delays its own loop by two of 29 kinds of causes and writes down by which, from when to when. It is
//! watched and explained; the matrix compares what was injected with what was named first, and where the time went.

pub mod chains;
mod kinds;
mod matrix;
mod watched;

use super::{highest_cpu, program};
use crate::arguments::Arguments;
use crate::place;
use kinds::{KINDS, Kind, go_together};
use matrix::Matrix;
use std::path::Path;
use std::process::ExitCode;
use watched::{Feed, Program, build};

/// Share of late cycles whose cause is to be named first, and of their time that is to be charged to it.
const GOAL_FIRST: f64 = 0.97;
const GOAL_CHARGED: f64 = 0.95;

/// How much is injected.
#[derive(Debug)]
pub struct Extent {
    pub programs: u64,
    /// Cycles of each program.
    pub cycles: u64,
    pub seed: u64,
    /// CPU of the loops.
    pub cpu: usize,
    /// Kinds that each program has one of; all if empty.
    pub only: Vec<String>,
}

/// The benchmark with its matrix. Fails below a goal.
pub fn run(mut arguments: Arguments) -> Result<ExitCode, String> {
    let extent = Extent {
        programs: arguments.value("--programs", 120)?,
        cycles: arguments.value("--cycles", 1000)?,
        seed: arguments.value("--seed", 1)?,
        cpu: arguments.value("--cpu", highest_cpu()?)?,
        only: arguments.texts("--kind")?,
    };
    let wakepath = program(&mut arguments)?;
    arguments.end()?;
    let matrix = measure(&wakepath, &extent, &mut |line| eprintln!("{line}"))?;
    print!("{}", report(&matrix));
    Ok(if reaches_goals(&matrix) {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

/// Watches and explains all programs; `log` takes a line for each.
pub fn measure(
    wakepath: &Path,
    extent: &Extent,
    log: &mut dyn FnMut(&str),
) -> Result<Matrix, String> {
    let wakepath = std::path::absolute(wakepath).map_err(|error| error.to_string())?;
    let known = usable(&extent.only, log)?;
    let pairs = pairs(&known, &extent.only);
    if pairs.is_empty() {
        return Err("no two of these kinds go together".into());
    }
    let scratch = place::scratch("causes")?;
    let injected = build(&scratch)?;
    let mut matrix = Matrix::default();
    let mut draw = Draw::new(extent.seed);
    for number in 0..extent.programs {
        let (kind, others) = &pairs[number as usize % pairs.len()];
        let other = others[(draw.next() % others.len() as u64) as usize];
        let directory = scratch.join(number.to_string());
        std::fs::create_dir_all(&directory).map_err(|error| error.to_string())?;
        let program = Program {
            wakepath: &wakepath,
            injected: &injected,
            directory: &directory,
            cpu: extent.cpu,
            other_cpu: usize::from(extent.cpu == 0),
            cycles: extent.cycles,
            seed: draw.next() >> 16,
            feed: Feed::Timer,
            kinds: [kind, other],
        };
        let names = program.kinds.map(|kind| kind.name).join(" and ");
        let outcome = match program.watch() {
            Ok(watched) => {
                for cycle in &watched.late {
                    matrix.add(&watched.injected, cycle);
                }
                format!("{} late", watched.late.len())
            }
            Err(why) => format!("not run: {why}"),
        };
        log(&format!(
            "{} of {}: {names}: {outcome}",
            number + 1,
            extent.programs
        ));
        let _ = std::fs::remove_dir_all(&directory);
    }
    let _ = std::fs::remove_dir_all(&scratch);
    Ok(matrix)
}

/// The matrix and its sums.
pub fn report(matrix: &Matrix) -> String {
    let figures = matrix.figures();
    format!(
        "{}\n{} late cycles: named first {:.1} % (goal {:.0} %), time charged to it {:.1} % (goal {:.0} %)\n",
        matrix.text(),
        figures.cycles,
        100.0 * figures.first,
        100.0 * GOAL_FIRST,
        100.0 * figures.charged,
        100.0 * GOAL_CHARGED
    )
}

/// Whether both goals are reached.
pub fn reaches_goals(matrix: &Matrix) -> bool {
    let figures = matrix.figures();
    figures.first >= GOAL_FIRST && figures.charged >= GOAL_CHARGED
}

/// The kinds that this machine can have; each other is reported.
fn usable(only: &[String], log: &mut dyn FnMut(&str)) -> Result<Vec<&'static Kind>, String> {
    if let Some(unknown) = only.iter().find(|name| kinds::named(name).is_none()) {
        let names: Vec<&str> = KINDS.iter().map(|kind| kind.name).collect();
        return Err(format!("--kind {unknown}: one of {}", names.join(", ")));
    }
    let is_here = |kind: &&Kind| match kind.needs {
        Some(file) if !std::path::Path::new(file).exists() => {
            log(&format!("{}: not run: no {file}", kind.name));
            false
        }
        _ => true,
    };
    Ok(KINDS.iter().filter(is_here).collect())
}

/// Each kind, or each of those in `only`, with the kinds that go together with it.
fn pairs(known: &[&'static Kind], only: &[String]) -> Vec<(&'static Kind, Vec<&'static Kind>)> {
    let is_wanted = |kind: &&&Kind| only.is_empty() || only.iter().any(|name| name == kind.name);
    let with_others = |kind: &&'static Kind| {
        let others = known
            .iter()
            .copied()
            .filter(|other| go_together(kind, other));
        (*kind, others.collect::<Vec<_>>())
    };
    let all = known.iter().filter(is_wanted).map(with_others);
    all.filter(|(_, others)| !others.is_empty()).collect()
}

/// Random numbers that repeat.
struct Draw(u64);

impl Draw {
    fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }
}
