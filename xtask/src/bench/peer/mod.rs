//! Compares wakepath with cyclictest on equal terms.
//!
//! They take turns, so that changes of the machine affect both. Equal for both: CPU, policy,
//! period, number of cycles, locked memory, `/dev/cpu_dma_latency` held at 0, timer slack as
//! inherited (50 µs for OTHER), `clock_nanosleep` to an absolute time, the same warm-up left out,
//! every latency kept, and the same load started once for both.

mod cyclictest;
mod load;
mod thread;
mod wakepath;

use super::ratio::{Ratios, Standing};
use super::{highest_cpu, program};
use crate::arguments::Arguments;
use crate::{place, table};
use load::Load;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Policies to compare.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Policy {
    Fifo,
    Other,
}

impl Policy {
    fn name(self) -> &'static str {
        match self {
            Self::Fifo => "FIFO 80",
            Self::Other => "OTHER nice 0",
        }
    }

    /// The kernel's number of it, and the real-time priority.
    fn in_kernel(self) -> (u32, u32) {
        match self {
            Self::Fifo => (1, 80),
            Self::Other => (0, 0),
        }
    }
}

/// The terms of one run, equal for both programs.
#[derive(Debug, Clone, Copy)]
pub struct Terms {
    pub policy: Policy,
    pub cpu: usize,
    /// Cycles that count, at 1 kHz.
    pub cycles: usize,
    /// Cycles before them that don't.
    pub warm_up: usize,
}

/// Period of both loops.
pub const PERIOD_US: usize = 1000;

/// Figures of one program's run.
#[derive(Debug, Clone)]
pub struct Figures {
    /// Wake-up latencies in nanoseconds.
    pub median: f64,
    pub mean: f64,
    pub p99: f64,
    pub max: f64,
    /// Cycles that count.
    pub executed: usize,
    /// CPU time of the measuring thread for each cycle in nanoseconds, from the kernel; `None` if
    /// the kernel doesn't record it.
    pub cpu_time: Option<f64>,
    /// Page faults of the measuring thread: after the warm-up for wakepath, which counts its own;
    /// while it was watched for cyclictest, which counts none.
    pub page_faults: Option<u64>,
}

/// One condition with both programs' figures in each round.
pub struct Condition {
    pub policy: Policy,
    pub loaded: bool,
    /// wakepath's figures and cyclictest's.
    pub rounds: Vec<(Figures, Figures)>,
}

impl Condition {
    /// wakepath's figure over cyclictest's, for each round.
    pub fn ratios(&self, of: impl Fn(&Figures) -> f64) -> Ratios {
        Ratios::new(
            self.rounds
                .iter()
                .map(|(ours, theirs)| of(ours) / of(theirs)),
        )
    }

    /// In words.
    pub fn name(&self) -> String {
        let load = if self.loaded { "loaded" } else { "idle" };
        format!("{}, {load}", self.policy.name())
    }
}

/// How much is measured.
#[derive(Debug, Clone, Copy)]
pub struct Extent {
    pub rounds: usize,
    pub seconds: usize,
    pub cpu: usize,
}

/// The benchmark with its table. Fails if wakepath is slower to wake in some condition beyond the
/// noise, or had a page fault in its loop.
pub fn run(mut arguments: Arguments) -> Result<ExitCode, String> {
    let extent = Extent {
        rounds: arguments.value("--rounds", 10)?,
        seconds: arguments.value("--seconds", 5)?,
        cpu: arguments.value("--cpu", highest_cpu()?)?,
    };
    let program = program(&mut arguments)?;
    arguments.end()?;
    let conditions = measure(&program, extent, &mut |line| eprintln!("{line}"))?;
    print!("{}", report(&conditions, extent));
    let worse = conditions.iter().any(|condition| {
        condition.ratios(|figures| figures.median).standing() == Standing::Slower
            || condition
                .rounds
                .iter()
                .any(|(ours, _)| ours.page_faults != Some(0))
    });
    Ok(if worse {
        ExitCode::FAILURE
    } else {
        ExitCode::SUCCESS
    })
}

/// Measures all four conditions. The programs swap their order from round to round.
pub fn measure(
    program: &Path,
    extent: Extent,
    progress: &mut dyn FnMut(String),
) -> Result<Vec<Condition>, String> {
    let directory = place::scratch("peer")?;
    let mut conditions = Vec::new();
    for loaded in [false, true] {
        let load = loaded.then(Load::start).transpose()?;
        for policy in [Policy::Fifo, Policy::Other] {
            let terms = Terms {
                policy,
                cpu: extent.cpu,
                cycles: extent.seconds * 1000,
                warm_up: 500,
            };
            let mut condition = Condition {
                policy,
                loaded,
                rounds: Vec::new(),
            };
            for round in 0..extent.rounds {
                let place = directory.join(format!("{policy:?}-{loaded}-{round}"));
                condition
                    .rounds
                    .push(one_round(program, terms, round % 2 == 1, place)?);
                let (ours, theirs) = &condition.rounds[round];
                progress(format!(
                    "{}, round {} of {}: median {:.1} µs, cyclictest {:.1} µs",
                    condition.name(),
                    round + 1,
                    extent.rounds,
                    ours.median / 1e3,
                    theirs.median / 1e3,
                ));
            }
            conditions.push(condition);
        }
        load.map(Load::stop).transpose()?;
    }
    let _ = std::fs::remove_dir_all(&directory);
    Ok(conditions)
}

fn one_round(
    program: &Path,
    terms: Terms,
    peer_first: bool,
    place: PathBuf,
) -> Result<(Figures, Figures), String> {
    Ok(if peer_first {
        let theirs = cyclictest::run(terms)?;
        (wakepath::run(program, terms, &place)?, theirs)
    } else {
        (
            wakepath::run(program, terms, &place)?,
            cyclictest::run(terms)?,
        )
    })
}

/// The tables: ratios, and the figures they come from.
pub fn report(conditions: &[Condition], extent: Extent) -> String {
    let head = |cells: &[&str]| {
        cells
            .iter()
            .map(|cell| (*cell).to_owned())
            .collect::<Vec<_>>()
    };
    let mut ratios = vec![head(&[
        "",
        "median",
        "mean",
        "p99",
        "max",
        "CPU time",
        "in the median",
    ])];
    let mut figures = vec![head(&[
        "",
        "",
        "median",
        "mean",
        "p99",
        "max",
        "CPU/cycle",
        "page faults",
    ])];
    for condition in conditions {
        let median = condition.ratios(|figures| figures.median);
        let interval = match median.interval() {
            Some((low, high)) => format!("{} [{low:.2}, {high:.2}]", median.standing().words()),
            None => median.standing().words().to_owned(),
        };
        ratios.push(vec![
            condition.name(),
            median.shown(),
            condition.ratios(|figures| figures.mean).shown(),
            condition.ratios(|figures| figures.p99).shown(),
            condition.ratios(|figures| figures.max).shown(),
            condition
                .ratios(|figures| figures.cpu_time.unwrap_or(f64::NAN))
                .shown(),
            interval,
        ]);
        let (ours, theirs): (Vec<&Figures>, Vec<&Figures>) = condition
            .rounds
            .iter()
            .map(|(ours, theirs)| (ours, theirs))
            .unzip();
        figures.push(behind(&condition.name(), "wakepath", &ours));
        figures.push(behind("", "cyclictest", &theirs));
    }
    format!(
        "\nwakepath / cyclictest, median over {} rounds (smallest … largest round); each run {} \
         cycles at 1 kHz on CPU {}; 1 or less is no slower; in brackets the 95 % interval of the \
         median ratio's median\n{}\nMedians over the rounds in µs; the maximum is the largest of \
         all rounds\n{}",
        extent.rounds,
        extent.seconds * 1000,
        extent.cpu,
        table::aligned(&ratios, &[]),
        table::aligned(&figures, &[2, 3, 4, 5, 6, 7]),
    )
}

fn behind(condition: &str, program: &str, rounds: &[&Figures]) -> Vec<String> {
    let microseconds = |value: Option<f64>| match value {
        Some(value) => format!("{:.2}", value / 1e3),
        None => "not measured".into(),
    };
    let median = |of: &dyn Fn(&Figures) -> f64| {
        microseconds(Ratios::new(rounds.iter().map(|figures| of(figures))).median())
    };
    let largest = Ratios::new(rounds.iter().map(|figures| figures.max)).spread();
    let faults: Option<u64> = rounds.iter().map(|figures| figures.page_faults).sum();
    vec![
        condition.to_owned(),
        program.to_owned(),
        median(&|figures| figures.median),
        median(&|figures| figures.mean),
        median(&|figures| figures.p99),
        microseconds(largest.map(|(_, largest)| largest)),
        median(&|figures| figures.cpu_time.unwrap_or(f64::NAN)),
        faults.map_or("not measured".into(), |faults| faults.to_string()),
    ]
}
