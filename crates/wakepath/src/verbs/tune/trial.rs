//! `wakepath tune trial`: each step of the plan measured without and with it, in pairs next to each
//! other, under the scenario's loads; what does not help is taken back.

use super::{Outcome, agreed, plan, print};
use crate::command_line::TuneTrial;
use crate::measure::own_executable;
use serde::Serialize;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use wakepath_archive::Run;
use wakepath_report::Assessment;
use wakepath_tuning::{Effect, EffectFinding, Step, System};

type Failure = Box<dyn std::error::Error>;

/// One measurement.
#[derive(Debug, Clone, Serialize)]
struct Measured {
    /// Its run directory.
    run: String,
    outcome: String,
    /// Due times and how many were missed.
    due: u64,
    missed: u64,
    /// Mean over the conditions of their 99 % quantile of the wake-up latency, µs.
    p99_us: f64,
    /// The largest, µs.
    max_us: f64,
}

/// One step's pairs and what follows.
#[derive(Debug, Serialize)]
struct Tried {
    step: String,
    pairs: Vec<(Measured, Measured)>,
    /// Of the miss fraction, in percent.
    misses: Option<Effect>,
    /// Of the 99 % quantile, µs.
    p99: Option<Effect>,
    finding: EffectFinding,
    kept: bool,
}

/// Measures, decides, shows.
pub fn run(arguments: &TuneTrial) -> Outcome {
    let (plan, root) = plan(&arguments.plan)?;
    if !root.is_host() {
        return Err("a trial measures: it can't be carried out on a tree (--root)".into());
    }
    let mut steps = plan.now.clone();
    if !arguments.step.is_empty() {
        steps.retain(|step| arguments.step.contains(&step.id));
    }
    if steps.is_empty() {
        let names: Vec<&str> = plan.now.iter().map(|step| step.id.as_str()).collect();
        return Err(format!("nothing to try; the plan's steps are {}", names.join(", ")).into());
    }
    let runs = steps.len() * arguments.pairs as usize * 2 + 2;
    let names: Vec<&str> = steps.iter().map(|step| step.id.as_str()).collect();
    let question = format!(
        "this applies and takes back: {}; {runs} runs of {} each; go on?",
        names.join(", "),
        arguments.block
    );
    if !arguments.yes && !agreed(&question)? {
        return Err("nothing done; --yes goes on without asking".into());
    }
    let system = System::host();
    if wakepath_tuning::Journal::open(system.directory())?.is_some() {
        return Err("this machine is tuned already; first: wakepath tune revert".into());
    }
    std::fs::create_dir_all(&arguments.directory)?;
    let mut trial = Trial {
        arguments,
        system,
        cpu: plan.subject.cpus.numbers().first().copied().unwrap_or(0),
        taken: 0,
    };
    let outcome = trial.all(&steps);
    // Whatever ended it, the machine is as before, unless the steps that help are to stay.
    let kept: Vec<Step> = match &outcome {
        Ok((tried, ..)) if arguments.keep => steps
            .iter()
            .filter(|step| tried.iter().any(|one| one.kept && one.step == step.id))
            .cloned()
            .collect(),
        _ => Vec::new(),
    };
    trial.with(&kept)?;
    let (tried, before, after) = outcome?;
    if arguments.plan.json {
        let value = serde_json::json!({ "steps": tried, "before": before, "after": after });
        print(&format!("{}\n", serde_json::to_string_pretty(&value)?))?;
    } else {
        print(&text(&tried, &before, &after, arguments)?)?;
    }
    Ok(ExitCode::SUCCESS)
}

struct Trial<'a> {
    arguments: &'a TuneTrial,
    system: System,
    cpu: u32,
    /// Runs measured so far; their directories are numbered by it.
    taken: u32,
}

impl Trial<'_> {
    fn all(&mut self, steps: &[Step]) -> Result<(Vec<Tried>, Measured, Measured), Failure> {
        let before = self.measured(&[])?;
        let mut base: Vec<Step> = Vec::new();
        let mut tried = Vec::new();
        for step in steps {
            // Two figures for each step.
            let one = self.step(step, &base, 2 * steps.len())?;
            if one.kept {
                base.push(step.clone());
            }
            tried.push(one);
        }
        let after = self.measured(&base)?;
        Ok((tried, before, after))
    }

    /// Without, with; with, without; …: what drifts favours neither.
    fn step(&mut self, step: &Step, base: &[Step], side_by_side: usize) -> Result<Tried, Failure> {
        let mut more = base.to_vec();
        more.push(step.clone());
        let mut pairs = Vec::new();
        for pair in 0..self.arguments.pairs {
            eprintln!("{}: pair {} of {}", step.id, pair + 1, self.arguments.pairs);
            pairs.push(match pair % 2 {
                0 => {
                    let without = self.measured(base)?;
                    (without, self.measured(&more)?)
                }
                _ => {
                    let with = self.measured(&more)?;
                    (self.measured(base)?, with)
                }
            });
        }
        let figures = |figure: fn(&Measured) -> f64| -> Vec<(f64, f64)> {
            let of_pair = |(without, with): &(Measured, Measured)| (figure(without), figure(with));
            pairs.iter().map(of_pair).collect()
        };
        let missed = |run: &Measured| 100.0 * run.missed as f64 / run.due.max(1) as f64;
        let misses = Effect::of(&figures(missed), side_by_side);
        let p99 = Effect::of(&figures(|run| run.p99_us), side_by_side);
        let found = |effect: &Option<Effect>| {
            effect.map_or(EffectFinding::NotShown, |effect| effect.finding())
        };
        // The misses decide; where they show nothing, the tail does.
        let finding = match found(&misses) {
            EffectFinding::NotShown => found(&p99),
            shown => shown,
        };
        Ok(Tried {
            step: step.id.clone(),
            misses,
            p99,
            finding,
            kept: finding == EffectFinding::Helps,
            pairs,
        })
    }

    /// Makes the machine have these steps applied and no others.
    fn with(&self, steps: &[Step]) -> Result<(), Failure> {
        if let Some(reverted) = wakepath_tuning::revert(&self.system)?
            && let Some(left) = reverted.left.first()
        {
            return Err(format!("{}: {}", left.action.command(), left.why).into());
        }
        if !steps.is_empty() {
            wakepath_tuning::apply(steps, &self.system, &mut |_| {})?;
        }
        Ok(())
    }

    /// A run of its own with these steps applied.
    fn measured(&mut self, steps: &[Step]) -> Result<Measured, Failure> {
        self.with(steps)?;
        let directory = self.directory();
        let mut command = Command::new(own_executable());
        match &self.arguments.plan.subject.scenario {
            Some(scenario) => command.args(["run", scenario]),
            None => command
                .args(["check", "--policy", &self.arguments.policy])
                .args(["--cpu", &self.cpu.to_string()])
                .args([
                    "--rate",
                    self.arguments
                        .plan
                        .subject
                        .rate
                        .as_deref()
                        .unwrap_or("250Hz"),
                ]),
        };
        let output = command
            .args(["--duration", &self.arguments.block, "--json", "--directory"])
            .arg(&directory)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .output()?;
        figures(&directory).map_err(|error| {
            let said = String::from_utf8_lossy(&output.stderr);
            let last = said.lines().last().unwrap_or_default();
            format!("{error}; {last}").into()
        })
    }

    fn directory(&mut self) -> PathBuf {
        self.taken += 1;
        self.arguments
            .directory
            .join(format!("run-{:03}", self.taken))
    }
}

fn figures(directory: &Path) -> Result<Measured, Failure> {
    let assessment = Assessment::of(&Run::open(directory)?)?;
    let conditions = &assessment.conditions;
    let latencies = || {
        let all = conditions.iter();
        all.filter_map(|condition| condition.cycles.latency_as_scheduled.as_ref())
    };
    if latencies().next().is_none() {
        return Err(format!("{}: no cycle was measured", directory.display()).into());
    }
    let p99 = |summary: &wakepath_statistics::DistributionSummary| {
        let found = summary.quantiles.iter();
        let mut found = found.filter(|value| value.parts_per_million <= 990_000);
        found.next_back().map_or(summary.max, |value| value.value) as f64
    };
    Ok(Measured {
        run: directory.display().to_string(),
        outcome: assessment.outcome.to_string(),
        due: conditions.iter().map(|one| one.cycles.scheduled).sum(),
        missed: conditions.iter().map(|one| one.cycles.misses.missed).sum(),
        p99_us: latencies().map(p99).sum::<f64>() / latencies().count() as f64 / 1e3,
        max_us: latencies().map(|one| one.max).max().unwrap_or(0) as f64 / 1e3,
    })
}

fn text(
    tried: &[Tried],
    before: &Measured,
    after: &Measured,
    arguments: &TuneTrial,
) -> Result<String, Failure> {
    let mut text = String::new();
    let effect = |effect: &Option<Effect>| match effect {
        Some(Effect {
            mean,
            interval: Some((low, high)),
        }) => format!("{mean:+.2} ({low:+.2} to {high:+.2})"),
        Some(Effect { mean, .. }) => format!("{mean:+.2} (one pair)"),
        None => "–".to_owned(),
    };
    writeln!(
        text,
        "{:<16} {:>30} {:>34}  {:<16} then",
        "step", "misses, % of due times", "p99 of wake-up latency, µs", "finding"
    )?;
    for one in tried {
        writeln!(
            text,
            "{:<16} {:>30} {:>34}  {:<16} {}",
            one.step,
            effect(&one.misses),
            effect(&one.p99),
            one.finding.words(),
            if one.kept { "kept" } else { "taken back" }
        )?;
    }
    writeln!(
        text,
        "\n{:<16} {:>10} {:>10} {:>10} {:>10}  verdict",
        "", "due", "missed", "p99, µs", "max, µs"
    )?;
    for (name, run) in [("before", before), ("with what helps", after)] {
        writeln!(
            text,
            "{name:<16} {:>10} {:>10} {:>10.1} {:>10.1}  {}",
            run.due, run.missed, run.p99_us, run.max_us, run.outcome
        )?;
    }
    writeln!(
        text,
        "\ndifferences with − without, mean of {} pairs measured next to each other; the intervals \
         hold together with 95 % (Student's t over the pairs, Bonferroni over steps and figures)",
        arguments.pairs
    )?;
    writeln!(
        text,
        "the verdicts are those of runs of {}, by the criterion of `check` or of the scenario",
        arguments.block
    )?;
    writeln!(
        text,
        "what else could have changed meanwhile (heat, frequency, other programs) is in each run's \
         own report: wakepath show {}/run-001",
        arguments.directory.display()
    )?;
    match arguments.keep {
        true => writeln!(
            text,
            "what helps stays applied: wakepath tune status, tune revert"
        )?,
        false => writeln!(
            text,
            "everything is taken back; --keep would leave what helps"
        )?,
    }
    Ok(text)
}
