//! `wakepath rate`: the highest rate that a loop keeps on this machine by its criterion: that of
//! `check` under one policy, or a scenario's. Each step of the search is a separate run, which
//! stays as evidence and is not measured again when the search resumes.

mod bisection;
mod next;
mod terms;

use crate::command_line::Rate;
use crate::criterion_options;
use bisection::{Became, Bisection};
use serde::Serialize;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::SystemTime;
use terms::Terms;
use wakepath_archive::{Run, command_about};
use wakepath_assess::Assessment;
use wakepath_console::run_order::OrderedRun;
use wakepath_console::runs::HOME;
use wakepath_console::sequence::{self, Origin, Plan, ProcessExecutor, Step};
use wakepath_console::terminal::{print_result, tell};
use wakepath_console::{Outcome, run_directory, scenarios};
use wakepath_measure::{HostCpus, Interrupt, own_executable};
use wakepath_report::{Cell, Style, Table, number, words};
use wakepath_scenario::{builtin, units::parse_rate};
use wakepath_timeline::columns::wrapped;
use wakepath_verdict::{Outcome as Verdict, fraction};

type Failure = Box<dyn std::error::Error>;

/// Share of the rate to which it is found.
const PRECISION: f64 = 0.05;

/// A rate that was measured.
#[derive(Debug, Serialize)]
struct MeasuredRate {
    rate_hz: u32,
    outcome: Verdict,
    /// The worst of its conditions.
    missed: f64,
    max_ns: Option<i64>,
    /// Whether an earlier search had measured it.
    was_there: bool,
    run: String,
}

/// Result of the search.
#[derive(Debug, Serialize)]
struct Answer {
    /// The scenario; `None` for the loop of `check`.
    scenario: Option<String>,
    /// The task whose rate it is; `None` where the scenario has one loop.
    task: Option<String>,
    /// `None` where the scenario's own are meant.
    policy: Option<String>,
    criterion: String,
    /// The highest rate kept; `None` where not even the lowest was.
    kept_hz: Option<u32>,
    /// The lowest rate not kept; `None` where the highest was kept.
    not_kept_hz: Option<u32>,
    /// In the order in which they were tried.
    steps: Vec<MeasuredRate>,
    directory: String,
}

/// Searches and shows.
pub fn run(arguments: &Rate) -> Outcome {
    let (lowest, highest) = between(arguments)?;
    let terms = Terms::new(arguments);
    let host = scenarios::host_cpus()?;
    refuse_early(&terms, [lowest, highest], &host)?;
    let directory = match &arguments.directory {
        Some(directory) => directory.clone(),
        None => run_directory::default_directory("rate", SystemTime::now())?,
    };
    let interrupt = Interrupt::listen()?;
    std::fs::create_dir_all(&directory)
        .map_err(|error| format!("{}: {error}", directory.display()))?;
    terms.store_in(&directory)?;
    let wants_plain = arguments.live.is_plain();
    let mut executor =
        ProcessExecutor::new(own_executable(), interrupt, &arguments.block, wants_plain);
    let mut search = Search {
        bisection: Bisection::new(lowest, highest, PRECISION),
        answer: Answer {
            scenario: arguments.scenario.clone(),
            task: arguments.task.clone(),
            policy: terms.policy.clone(),
            criterion: String::new(),
            kept_hz: None,
            not_kept_hz: None,
            steps: Vec::new(),
            directory: directory.display().to_string(),
        },
        metrics: arguments.live.metrics.clone(),
        terms,
        host,
        directory,
    };
    sequence::carry_out(&mut search, &mut executor)?;
    let Search {
        bisection,
        mut answer,
        terms,
        ..
    } = search;
    answer.kept_hz = bisection.kept();
    answer.not_kept_hz = bisection.lost();
    let shown = if arguments.live.json {
        format!("{}\n", serde_json::to_string_pretty(&answer)?)
    } else {
        text(&answer, &terms, Style::of_stdout())
    };
    print_result(arguments.live.json, &shown)?;
    Ok(ExitCode::from(code(&answer)))
}

/// Whether a rate could be shown neither to hold nor to fail.
fn is_undecided(answer: &Answer, rate: Option<u32>) -> bool {
    let mut steps = answer.steps.iter();
    steps.any(|step| Some(step.rate_hz) == rate && step.outcome == Verdict::Undecided)
}

/// 0 found, 2 not even the lowest rate was kept, 3 where the rate above the answer was undecided.
fn code(answer: &Answer) -> u8 {
    match (answer.kept_hz, answer.not_kept_hz) {
        (_, lost) if is_undecided(answer, lost) => 3,
        (None, _) => 2,
        _ => 0,
    }
}

/// The lowest and the highest rate.
fn between(arguments: &Rate) -> Result<(u32, u32), Failure> {
    let (lowest, highest) = (
        hertz("--from", &arguments.from)?,
        hertz("--to", &arguments.to)?,
    );
    if lowest >= highest {
        return Err(format!(
            "--from {} --to {}: the first must be the lower",
            arguments.from, arguments.to
        )
        .into());
    }
    Ok((lowest, highest))
}

/// Reads the values of the options, and those of a step unless the scenario is a file.
pub fn read(arguments: &Rate, host: &HostCpus) -> Result<(), Failure> {
    let (lowest, highest) = between(arguments)?;
    let is_file = |name: &String| builtin::named(name).is_none();
    if arguments.scenario.as_ref().is_some_and(is_file) {
        criterion_options::table(&arguments.limits).map(drop)
    } else {
        refuse_early(&Terms::new(arguments), [lowest, highest], host)
    }
}

/// Refuses what a step would refuse, before the first.
fn refuse_early(terms: &Terms<'_>, rates: [u32; 2], host: &HostCpus) -> Result<(), Failure> {
    rates
        .into_iter()
        .try_for_each(|rate| terms.at(rate, host).map(drop))
}

/// Whole hertz: fractions make no difference to a loop.
fn hertz(option: &str, text: &str) -> Result<u32, String> {
    let rate = parse_rate(text).map_err(|complaint| format!("{option} {text}: {complaint}"))?;
    let hertz = (1e9 / rate.period_ns as f64).round();
    if hertz >= 1.0 {
        Ok(hertz as u32)
    } else {
        Err(format!("{option} {text}: give at least 1 Hz"))
    }
}

/// A search under way.
struct Search<'a> {
    terms: Terms<'a>,
    metrics: Option<String>,
    host: HostCpus,
    directory: PathBuf,
    bisection: Bisection,
    answer: Answer,
}

impl Plan for Search<'_> {
    /// Rate in Hz.
    type Subject = u32;

    fn next(&self) -> Option<Step<u32>> {
        let rate = self.bisection.next()?;
        let remaining = self.bisection.steps_left().saturating_sub(1);
        let number = self.answer.steps.len() + 1;
        Some(Step {
            subject: rate,
            name: format!(
                "{rate} Hz, step {number} of at most {}",
                number + remaining as usize
            ),
            directory: self.directory.join(format!("{rate}-hz")),
            remaining,
        })
    }

    fn order(&mut self, step: &Step<u32>) -> Result<OrderedRun, Failure> {
        let (scenario, source) = self.terms.at(step.subject, &self.host)?;
        Ok(OrderedRun {
            scenario: scenario.to_toml(),
            source,
            directory: step.directory.clone(),
            trust_directory: false,
            metrics: self.metrics.clone(),
            invocation: self.terms.command_at(step.subject),
        })
    }

    fn take(&mut self, step: Step<u32>, run: Run, origin: Origin) -> Result<(), Failure> {
        let assessment = Assessment::new(&run)?;
        let step = MeasuredRate::new(step.subject, &assessment, origin);
        let (rate, outcome) = (step.rate_hz, step.outcome);
        let note = if step.was_there {
            " (measured before)"
        } else {
            ""
        };
        tell!(
            "{rate} Hz: {outcome}, missed {}{note}",
            fraction(step.missed)
        );
        if outcome == Verdict::Invalid {
            let shown = command_about("show", &step.run, "");
            return Err(format!("{rate} Hz can't be judged: {shown}").into());
        }
        self.bisection.tell(
            rate,
            match outcome {
                Verdict::Passed => Became::Kept,
                _ => Became::NotKept,
            },
        );
        self.answer.criterion = wakepath_report::criterion_text(&assessment);
        self.answer.steps.push(step);
        Ok(())
    }

    fn after_interruption(&self) -> String {
        format!(
            "the rates measured so far are kept: resume with --directory {}",
            self.directory.display()
        )
    }
}

impl MeasuredRate {
    fn new(rate_hz: u32, assessment: &Assessment, origin: Origin) -> Self {
        let conditions = || assessment.conditions.iter();
        let missed =
            conditions().map(|of| of.cycles.misses.map_or(0.0, |misses| misses.fraction()));
        let max_ns = conditions().filter_map(|of| {
            let latency = of.cycles.latency_as_scheduled.as_ref();
            latency.map(|found| found.max)
        });
        Self {
            rate_hz,
            outcome: assessment.outcome,
            missed: missed.fold(0.0, f64::max),
            max_ns: max_ns.max(),
            was_there: origin == Origin::Resumed,
            run: assessment.run.directory.clone(),
        }
    }
}

fn text(answer: &Answer, terms: &Terms<'_>, style: Style) -> String {
    let columns = style.columns.unwrap_or(100).clamp(40, 100);
    let is_open = is_undecided(answer, answer.not_kept_hz);
    let verdict = match (answer.kept_hz, answer.not_kept_hz) {
        (Some(kept), Some(lost)) if is_open => {
            format!("{kept} Hz; {lost} Hz is undecided, and a longer --block would decide it")
        }
        (Some(kept), Some(lost)) => format!("{kept} Hz; {lost} Hz was not kept"),
        (Some(kept), None) => format!("{kept} Hz, the highest that was tried"),
        (None, Some(lost)) if is_open => {
            format!("not known: {lost} Hz is undecided, and a longer --block would decide it")
        }
        (None, Some(lost)) => format!("none: not even {lost} Hz was kept"),
        (None, None) => "none was tried".to_owned(),
    };
    let mut text = wrapped(
        &match (&answer.scenario, &answer.policy) {
            (None, policy) => {
                let policy = policy.as_deref().unwrap_or_default();
                format!("highest rate kept under {policy}: {verdict}")
            }
            (Some(scenario), policy) => {
                let of = answer.task.as_ref().map(|task| format!(" of {task}"));
                let under = policy.as_ref().map(|policy| format!(" under {policy}"));
                format!(
                    "highest rate{} at which {scenario} passes{}: {verdict}",
                    of.unwrap_or_default(),
                    under.unwrap_or_default()
                )
            }
        },
        "",
        "  ",
        columns,
    );
    text += &wrapped(
        &format!("criterion at each rate: {}", answer.criterion),
        "",
        "  ",
        columns,
    );
    text.push('\n');
    let mut table = Table::new("rate, Hz")
        .column(number("missed"))
        .column(number("max"))
        .column(words("verdict"))
        .column(words("run"));
    let mut steps: Vec<&MeasuredRate> = answer.steps.iter().collect();
    steps.sort_by_cached_key(|step| step.rate_hz);
    for step in steps {
        let missed = if step.missed > 0.0 {
            fraction(step.missed)
        } else {
            "0".to_owned()
        };
        let run = Path::new(&step.run);
        let run = run.strip_prefix(HOME).unwrap_or(run).display().to_string();
        table.row(
            step.rate_hz.to_string(),
            vec![
                missed.into(),
                step.max_ns.map(Cell::time).into(),
                step.outcome.to_string().into(),
                run.into(),
            ],
        );
    }
    text += &table.to_terminal(Some(columns));
    text.push('\n');
    text += &wrapped(
        "each rate was measured once, idle and under load: the border is not sharp, and a longer \
         --block moves it down",
        "",
        "  ",
        columns,
    );
    if let (None, Some(hz)) = (answer.kept_hz, answer.not_kept_hz) {
        text += &next::next(terms, hz);
    }
    text
}
