//! Measures a scenario: run directory, live view, table and verdict.

use crate::beginning::{Command, run_started};
use crate::command_line::Output;
use crate::machine_facts::{caches, clock_source};
use crate::metrics::Listening;
use crate::open_run::opened_in;
use crate::view::{Follower, Part, PhaseFacts, Stopping};
use crate::{executable, inspected_loop, limit_exceeded, report_files};
use std::process::ExitCode;
use std::time::{Duration, SystemTime};
use wakepath_archive::{Ending, QuickCheck, RunStarted, command_about};
use wakepath_assess::explanation::kept;
use wakepath_console::progress::assessed;
use wakepath_console::run_directory::RunDirectory;
use wakepath_console::terminal::{OneLine, print, print_result, tell};
use wakepath_console::{Outcome, option_value, runs};
use wakepath_directory::Directory;
use wakepath_machine::{Facts, Root};
use wakepath_measure::{HostCpus, Interrupt, Measurement, Plan, load_controllers};
use wakepath_readiness::{Inspection, Report};
use wakepath_report::{Answer, Shown, Style, ToText, to_json};
use wakepath_scenario::{PluginSwitch, Scenario};

/// Facts known of a run before it begins.
#[derive(Default)]
pub struct RunContext {
    /// Notes for the reader.
    pub notes: Vec<String>,
    /// Terms of a quick check.
    pub quick: Option<QuickCheck>,
    /// Output of the user's program when it was asked for its loops.
    pub printed: Vec<u8>,
}

impl RunContext {
    /// Notes alone.
    pub fn noted(notes: Vec<String>) -> Self {
        Self {
            notes,
            ..Self::default()
        }
    }
}

/// Carries the scenario out, shows the table and the verdict; the exit code is the verdict's.
pub fn measure(
    scenario: Scenario,
    context: RunContext,
    host: HostCpus,
    output: &Output,
) -> Outcome {
    let RunContext {
        notes,
        quick,
        printed,
    } = context;
    let started = SystemTime::now();
    let place = RunDirectory::choose(
        output.directory.as_deref(),
        output.trust_directory,
        &scenario.name,
        started,
    )?;
    // A part of something larger says nothing for itself but what the view shows.
    let part = output.order.as_ref().map(|order| &order.part);
    let is_part = part.is_some();
    for note in notes.iter().filter(|_| !is_part) {
        tell!("note: {note}");
    }
    if let Some(terms) = &quick {
        tell!("note: --quick: {terms}");
    }
    let subject = inspected_loop::of_scenario(&scenario, &host);
    let above_ns = option_value::time("--stop-above", output.stop_above.as_deref())?;
    let mut scenario = scenario;
    if output.switch_plugin {
        scenario.litmus_plugin = PluginSwitch::Switch;
    }
    if is_part {
        // The larger measurement judges, and a core's own latencies are part of none.
        scenario.core_latency_ns = None;
    }
    if above_ns.is_some() {
        scenario.trace.get_or_insert_default();
    }
    let plan = Plan::new(&scenario, host);
    let plan = match above_ns {
        Some(_) => plan.traced(),
        None => plan,
    };
    let interrupt = Interrupt::listen()?;
    if part.is_some_and(|part| !wakepath_measured_loop::end_with(part.parent)) {
        return Err("the command that this run is a part of is gone".into());
    }
    load_controllers(&plan, &interrupt)?;
    for command in plan.segments().filter_map(|of| of.loop_spec.program()) {
        let program = command.first().map_or("", String::as_str);
        executable::find(program.as_ref())?.map_err(|(_, why)| why)?;
    }
    let facts = Facts::read(&Root::host());
    let cores = &facts.varying.cores;
    let may_switch = scenario.litmus_plugin == PluginSwitch::Switch;
    for thread in plan.segments().flat_map(|of| &of.loop_spec.threads) {
        let (policy, cpus) = (&thread.preparation.policy, &thread.preparation.cpus);
        let why = match policy.of_litmus() {
            Some(_) => {
                let cpus = cpus.as_deref().unwrap_or_default();
                cores.litmus_refusal(*policy, cpus, may_switch)
            }
            None => cores.refusal(*policy),
        };
        if let Some(why) = why {
            return Err(why.into());
        }
    }
    let readiness = Report::new(&Inspection::read(Root::host(), subject, Duration::ZERO));
    let listening = output
        .live
        .metrics
        .as_deref()
        .map(Listening::at)
        .transpose()?;
    let directory = place.make()?;
    let follower = Follower::new(
        &scenario.name,
        PhaseFacts {
            beside: beside(&scenario, &plan),
            loaded: loaded_phases(&scenario),
        },
        match part {
            None => Part::default(),
            Some(part) => Part {
                of: part.is_shown.then(|| part.name.clone()),
                after_it: Duration::from_millis(part.then_ms),
            },
        },
        wakepath_console::terminal::is_quiet()
            || output.live.no_tui
            || (output.live.json && !is_part),
    );
    let serving = match listening {
        None => None,
        Some(listening) => {
            if !is_part {
                tell!("metrics: {}", listening.url());
            }
            Some(listening.serve(follower.standing(), &plan.other_cpus())?)
        }
    };
    let mut observer = Stopping::new(Box::new(follower), &interrupt, above_ns);
    let ending = Measurement {
        scenario: &scenario,
        plan: &plan,
        directory: &directory,
        start: RunStarted {
            quick,
            ..run_started(
                &scenario,
                clock_source(&facts),
                notes,
                started,
                match &output.order {
                    None => Command::of_this_process(),
                    Some(order) => Command::repeated_by(order.run.invocation.clone()),
                },
            )?
        },
        caches: caches(&facts),
        printed_before: printed,
        readiness: readiness.to_json()?,
        observer: &mut observer,
        interrupt: &interrupt,
    }
    .carry_out();
    let stopped = observer.stopped.take();
    drop((observer, serving));

    // However it ended, the recording is completed and shown.
    let recorded = wakepath_archive::finish_in(&directory);
    let ending = match (ending, recorded) {
        (Ok(ending), Ok(_)) => ending,
        (Ok(_), Err(error)) => {
            // The log is whole and can be read as it is; only its final form has no room.
            show(&directory, output)?;
            return Err(format!(
                "everything is recorded, but the recording can't be put into its final form: \
                 {error}; then: {}",
                command_about("recover", &directory.path().display().to_string(), "")
            )
            .into());
        }
        (Err(error), Ok(_)) => {
            show(&directory, output)?;
            return Err(error.into());
        }
        (Err(error), Err(_)) => {
            // Removed only if nothing at all was recorded.
            let _ = wakepath_archive::discard_in(&directory).map(|()| place.withdraw(&directory));
            return Err(error.into());
        }
    };
    if let Some(above_ns) = above_ns {
        return limit_exceeded::show(
            &directory,
            stopped.as_ref(),
            above_ns,
            &ending,
            output.live.json,
        );
    }
    wakepath_console::explanation::explain(&directory);
    if ending == Ending::Interrupted && !is_part {
        tell!("interrupted: what follows is of what was measured until then");
    }
    show(&directory, output)
}

/// Time of each phase besides its cycles: the kernel's own measurements, CPU by CPU, and those of
/// cores on average.
fn beside(scenario: &Scenario, plan: &Plan) -> Duration {
    let trace = scenario.trace.as_ref();
    let each_ns = trace.map_or(0, |terms| terms.by_kernel_ns());
    let passages = plan.phases.len().max(1) as u64;
    Duration::from_nanos(each_ns) * plan.loop_cpus.len().max(1) as u32
        + Duration::from_nanos(scenario.by_cores_ns() / passages)
}

fn loaded_phases(scenario: &Scenario) -> Vec<String> {
    let phases = scenario.phases.iter();
    let loaded = phases.filter(|phase| !phase.loads.is_empty());
    loaded.map(|phase| phase.name.clone()).collect()
}

/// Shows a recorded run and returns the verdict's exit code.
fn show(directory: &Directory, output: &Output) -> Outcome {
    let run = opened_in(directory, output.live.json)?;
    let (assessment, pictures) = assessed(&run, true)?;
    let answer = Answer::new(&assessment, kept(run.directory())?.as_ref());
    // The larger measurement reads the run itself.
    if output.order.is_none() {
        print_result(
            output.live.json,
            &match (output.live.json, output.details) {
                (true, _) => to_json(&assessment),
                (_, true) => assessment.to_text(Style::of_stdout()),
                _ => answer.to_text(&Shown {
                    style: Style::of_stdout(),
                    run: &runs::word_for(directory.path()),
                    recording: &directory.path().in_one_line(),
                    // The report's.
                    lines_more: 1,
                }),
            },
        )?;
    }
    // A report that can't be written does not affect the verdict, and can be written again.
    match report_files::write_beside(&run, directory, &assessment, &pictures) {
        Ok(_) if output.order.is_some() => {}
        Ok(path) if output.live.json => tell!("report: {}", path.display()),
        Ok(path) => print(&format!("report: {}\n", path.in_one_line()))?,
        Err(error) => tell!("warning: the report can't be written: {error}"),
    }
    Ok(ExitCode::from(assessment.exit_code()))
}
