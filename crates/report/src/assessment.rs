//! From a run directory to a verdict: every condition's samples against the scenario's criterion,
//! and what the run as a whole must say of itself. Computed from the recording alone, so that it
//! says the same today and in ten years.

use crate::changes::{RunChanges, run_changes};
use crate::conditions::{ConditionSegments, group};
use crate::flight::{FlightOrder, FlownConditions, judge_flights};
use crate::imported;
use crate::inflation::{Inflation, inflations};
use crate::loads::{LoadSummary, summarise};
use crate::picture::{Gatherer, Picture};
use serde::Serialize;
use wakepath_archive::{Ending, Run, SegmentRecord, State, ThreadEnd, ThreadRecord, VirtualTime};
use wakepath_scenario::{Criterion, KnownCpus, PoliciesNeeded, Scenario};
use wakepath_timeline::Sample;
use wakepath_verdict::{
    Condition, ConditionName, CycleRecord, EarlyEnd, EffectivePolicy, FactChange, JudgedWindow,
    Judgement, LoadProof, Outcome, Overall, Provenance, judge, overall,
};

/// Why a run can't be assessed.
#[derive(Debug, thiserror::Error)]
pub enum AssessmentError {
    /// The run can't be read.
    #[error(transparent)]
    Archive(#[from] wakepath_archive::ArchiveError),
    /// The scenario in the run can't be read by this version.
    #[error("the run's own scenario can't be read: {0}")]
    Scenario(#[from] wakepath_scenario::ScenarioErrors),
    /// The scenario's vehicle can't be flown.
    #[error("the run's own vehicle can't be flown: {0}")]
    Vehicle(#[from] wakepath_flight::VehicleError),
}

/// A run with its verdict.
#[derive(Debug, Clone, Serialize)]
pub struct Assessment {
    /// Which run.
    pub run: RunIdentity,
    /// The verdict on the run.
    pub outcome: Outcome,
    /// The virtual time that the run is in, of which no criterion is judged; `None` for time that
    /// passes.
    pub virtual_time: Option<VirtualTime>,
    /// Where an imported run comes from, and what its files don't hold; `None` for one that wakepath
    /// measured. Of such a run, what was not recorded is `None` or 0 in the figures.
    pub imported: Option<wakepath_archive::Imported>,
    /// What bears on the run as a whole: an interruption, a recovery, lost segments.
    pub remarks: Vec<String>,
    /// What became of each policy, and which to use.
    pub overall: Overall,
    /// Every condition that was measured, with its figures and reasons.
    pub conditions: Vec<Judgement>,
    /// Conditions that could not be measured.
    pub not_measured: Vec<NotMeasured>,
    /// The vehicle flown through each condition; `None` where the scenario has no flight.
    pub flights: Option<FlownConditions>,
    /// How much longer the work takes under load than idle.
    pub inflation: Vec<Inflation>,
    /// The controllers of the user's own that were at work.
    pub controllers: Vec<crate::ControllerFile>,
    /// Hardware counters of the loop's cycles, where they were asked for.
    pub counters: Vec<crate::CounterFigures>,
    /// The parts of a controller that timed themselves.
    pub modules: Vec<crate::ModuleFigures>,
    /// What each load did, by phase.
    pub loads: Vec<LoadSummary>,
    /// What tracing cost; `None` where nothing was traced.
    pub probe_effect: Option<crate::ProbeEffect>,
    /// Page faults in the loop after its warm-up, summed over all segments.
    pub page_faults: u64,
    /// What changed on the machine while the run was under way.
    pub machine_changes: Vec<wakepath_machine::Change>,
    /// How ready the machine was for the loop when the run began; none in a run of a wakepath that
    /// did not look, or looked in a way that this version can't read.
    pub readiness: Option<wakepath_readiness::Report>,
    /// The machine, as labelled lines.
    pub machine: Vec<(String, String)>,
    /// The criterion judged by.
    pub criterion: Criterion,
}

/// Which run it is.
#[derive(Debug, Clone, Serialize)]
pub struct RunIdentity {
    /// Unique name.
    pub run_id: String,
    /// Where it lies.
    pub directory: String,
    /// Start, RFC 3339 in UTC.
    pub started: String,
    /// The wakepath that measured.
    pub wakepath: String,
    /// Name of the scenario.
    pub scenario: String,
    /// The command line that repeats it.
    pub command: Vec<String>,
    /// How the run ended.
    pub ending: Ending,
    /// Whether it was put together by `wakepath recover`.
    pub recovered: bool,
    /// What the run says of itself.
    pub notes: Vec<String>,
}

/// A condition that could not be measured: a missing privilege, as a rule.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct NotMeasured {
    /// The condition.
    pub condition: String,
    /// The phase.
    pub phase: String,
    /// Why, and what would help.
    pub reason: String,
}

/// Where the readiness stands in the facts that a run begins with.
pub const READINESS_KEY: &str = "readiness";

fn readiness_of(run: &Run) -> Option<wakepath_readiness::Report> {
    let first = run.manifest.facts.first()?;
    serde_json::from_value(first.facts.get(READINESS_KEY)?.clone()).ok()
}

impl Assessment {
    /// Assesses a run by its own scenario.
    ///
    /// # Errors
    /// When the run or its scenario can't be read.
    pub fn of(run: &Run) -> Result<Self, AssessmentError> {
        Ok(Self::assess(run, false, &|_, _| ())?.0)
    }

    /// As [`Assessment::of`], with what is drawn of every condition, in the same order. The
    /// samples are read once.
    ///
    /// # Errors
    /// When the run or its scenario can't be read.
    pub fn with_pictures(run: &Run) -> Result<(Self, Vec<Picture>), AssessmentError> {
        Self::assess(run, true, &|_, _| ())
    }

    /// As [`Assessment::of`], or as [`Assessment::with_pictures`] where it is to be `drawn`; `done`
    /// is told how many pieces of work of how many are ready, where a vehicle is flown.
    ///
    /// # Errors
    /// As [`Assessment::of`].
    pub fn with_progress(
        run: &Run,
        drawn: bool,
        done: &(dyn Fn(usize, usize) + Sync),
    ) -> Result<(Self, Vec<Picture>), AssessmentError> {
        Self::assess(run, drawn, done)
    }

    fn assess(
        run: &Run,
        drawn: bool,
        done: &(dyn Fn(usize, usize) + Sync),
    ) -> Result<(Self, Vec<Picture>), AssessmentError> {
        let manifest = &run.manifest;
        let scenario = scenario_of(run)?;
        let JudgedConditions {
            segments,
            judgements: mut conditions,
            pictures,
            not_measured,
            changes,
        } = judged_conditions(run, &scenario, drawn)?;
        let flights = match &scenario.flight {
            None => None,
            Some(terms) => {
                let order = FlightOrder::quick(terms)?;
                Some(judge_flights(
                    run,
                    &order,
                    &segments,
                    &mut conditions,
                    done,
                )?)
            }
        };
        let mut overall = overall(scenario.criterion.policies, &conditions);
        let (outcome, mut remarks) = run_outcome(run, &overall, &not_measured);
        let controllers = crate::controllers::files(&scenario);
        remarks.extend(controllers.iter().filter_map(crate::ControllerFile::remark));
        if outcome != Outcome::Passed {
            // A policy that passed where it was measured is no advice for where it was not.
            overall.recommendation = None;
        }
        let page_faults = manifest
            .segments
            .iter()
            .filter(|segment| !segment.traced)
            .flat_map(|segment| &segment.threads)
            .filter_map(|thread| thread.page_faults)
            .map(|faults| faults.minor + faults.major)
            .sum();
        let assessment = Self {
            controllers,
            counters: crate::counters::figures(&segments),
            modules: crate::modules::figures(&segments),
            inflation: inflations(&scenario, &conditions),
            run: identity(run),
            outcome,
            virtual_time: manifest.virtual_time.clone(),
            imported: manifest.imported.clone(),
            remarks,
            overall,
            conditions,
            not_measured,
            flights,
            loads: summarise(&manifest.segments),
            probe_effect: crate::probe_effect::probe_effect(run)?,
            page_faults,
            machine_changes: changes.all,
            readiness: readiness_of(run),
            machine: changes.machine,
            criterion: scenario.criterion,
        };
        Ok((assessment, pictures))
    }

    /// Exit code of the command that shows it: 0 passed, 1 invalid, 2 failed, 3 undecided.
    pub fn exit_code(&self) -> u8 {
        self.outcome.exit_code()
    }

    /// All of it as JSON with a line feed at the end.
    pub fn to_json(&self) -> String {
        json(self)
    }
}

/// JSON with a line feed at the end.
pub(crate) fn json(value: &impl Serialize) -> String {
    match serde_json::to_string_pretty(value) {
        Ok(text) => text + "\n",
        // Plain data: no map has a key that isn't a string.
        Err(error) => format!("{{\"error\": \"{error}\"}}\n"),
    }
}

/// The run's own scenario.
pub(crate) fn scenario_of(run: &Run) -> Result<Scenario, AssessmentError> {
    // The run's own machine had these CPUs; this one need not have them.
    let known = KnownCpus::first(1024);
    let toml = &run.manifest.scenario.toml;
    Ok(Scenario::parse(toml, "scenario of the run", &known)?)
}

/// A run's conditions, each judged by its cycles alone.
pub(crate) struct JudgedConditions<'a> {
    /// Where each judged condition was recorded.
    pub(crate) segments: Vec<ConditionSegments<'a>>,
    /// The verdicts, in the same order.
    pub(crate) judgements: Vec<Judgement>,
    /// What is drawn of them, in the same order; empty where nothing is.
    pictures: Vec<Picture>,
    pub(crate) not_measured: Vec<NotMeasured>,
    changes: RunChanges,
}

pub(crate) fn judged_conditions<'a>(
    run: &'a Run,
    scenario: &Scenario,
    drawn: bool,
) -> Result<JudgedConditions<'a>, AssessmentError> {
    let changes = run_changes(&run.manifest.facts);
    let (mut segments, mut judgements, mut not_measured) = (vec![], vec![], vec![]);
    let mut pictures = vec![];
    let conditions = group(&run.manifest, scenario);
    let buckets = crate::picture::buckets_of_each(conditions.len() as u64);
    for condition in conditions {
        match condition.never_started() {
            Some(reason) => not_measured.push(NotMeasured {
                condition: condition.condition.clone(),
                phase: condition.phase.clone(),
                reason,
            }),
            None => {
                let criterion = condition.criterion(&scenario.criterion);
                let mut gatherer = drawn.then(|| Gatherer::new(&criterion));
                let mut gather = |segment: &SegmentRecord, window, samples: &[Sample]| {
                    if let Some(gatherer) = &mut gatherer {
                        let place = (segment.segment, segment.repetition);
                        gatherer.add(place, window, samples);
                    }
                };
                let judgement = judged_with(run, scenario, &condition, &changes, &mut gather)?;
                let name = || judgement.name.clone();
                pictures.extend(gatherer.map(|gatherer| {
                    let mut picture = gatherer.finish(name(), buckets);
                    if let Some(shape) = imported::shape(&run.manifest, &condition) {
                        picture.latency.shape = Some(shape);
                    }
                    picture
                }));
                judgements.push(judgement);
                segments.push(condition);
            }
        }
    }
    Ok(JudgedConditions {
        segments,
        judgements,
        pictures,
        not_measured,
        changes,
    })
}

/// The verdict on a condition by its cycles alone, handing each judged window with its samples on.
pub(crate) fn judged_with(
    run: &Run,
    scenario: &Scenario,
    condition: &ConditionSegments<'_>,
    changes: &RunChanges,
    each: &mut dyn FnMut(&SegmentRecord, JudgedWindow, &[Sample]),
) -> Result<Judgement, AssessmentError> {
    let criterion = condition.criterion(&scenario.criterion);
    if let Some(judgement) = imported::judged_by_histogram(&run.manifest, condition, &criterion) {
        return Ok(judgement);
    }
    let mut record = CycleRecord::new(&criterion);
    let mut provenance = Provenance {
        changes: changes.fact_changes(&condition.phase),
        not_real_time: crate::controllers::not_real_time(scenario, condition),
        virtual_ns_per_instruction: run
            .manifest
            .virtual_time
            .as_ref()
            .map(|time| time.ns_per_instruction),
        ..Provenance::default()
    };
    for (segment, thread) in &condition.threads {
        // What was never started missed nothing; why it was not is in the provenance.
        if thread.due.start_ns == 0 {
            add_provenance(&mut provenance, segment, thread);
            continue;
        }
        let samples = run.samples(segment.segment, thread.thread)?;
        let last = samples.last().map(|sample| sample.cycle);
        let window = JudgedWindow {
            due: thread.due,
            first_judged_cycle: thread.first_judged_cycle,
            end_cycle: window_end(thread, last),
            thread: thread.thread.into(),
        };
        // The record remembers a contradiction; the verdict says it.
        if record.add(window, &samples).is_ok() {
            each(segment, window, &samples);
        }
        add_provenance(&mut provenance, segment, thread);
    }
    let name = ConditionName {
        policy: condition.policy,
        phase: condition.phase.clone(),
        task: condition.task.clone(),
    };
    let judgement = judge(
        Condition {
            name: &name,
            record: &record,
            provenance: &provenance,
        },
        &criterion,
    );
    Ok(match &run.manifest.imported {
        // Its scenario is made of what was seen: only a latency is the user's own word.
        Some(imported) if imported.is_watched() && scenario.criterion.latency_ns.is_none() => {
            judgement.without_criterion()
        }
        Some(imported) => imported::held_back(judgement, imported),
        None => judgement,
    })
}

/// One past the last due time to be judged. Where someone stopped the run, or its end was never
/// recorded, that is where the recording stops; where the loop died, the rest counts as skipped.
pub(crate) fn window_end(thread: &ThreadRecord, last_cycle: Option<u64>) -> u64 {
    match thread.ended {
        Some(ThreadEnd::Stopped) | None => last_cycle
            .map_or(thread.first_judged_cycle, |cycle| cycle + 1)
            .min(thread.expected),
        _ => thread.expected,
    }
}

fn add_provenance(provenance: &mut Provenance, segment: &SegmentRecord, thread: &ThreadRecord) {
    let lost = thread.lost.unwrap_or(0);
    // A run without its end knows only what was recorded; that it has no end is said elsewhere.
    let written = thread
        .written
        .map_or(thread.recorded + lost, |written| written + lost);
    provenance.written += written;
    provenance.recorded += thread.recorded;
    provenance.lost += lost;
    let effective = thread.effective.details.get("policy").cloned();
    let policy = EffectivePolicy {
        task: thread.name.clone(),
        requested: thread.requested,
        effective: effective.and_then(|policy| serde_json::from_value(policy).ok()),
    };
    if thread.due.start_ns != 0 && !provenance.policies.contains(&policy) {
        provenance.policies.push(policy);
    }
    let early = match &thread.ended {
        None | Some(ThreadEnd::Stopped) => Some(EarlyEnd::Interrupted),
        Some(ThreadEnd::Overrun) => Some(EarlyEnd::Overrun {
            cycle: (thread.recorded + lost).saturating_sub(1),
        }),
        Some(ThreadEnd::Failed { reason }) if reason.starts_with("the guard") => {
            Some(EarlyEnd::Guard {
                detail: reason.clone(),
            })
        }
        Some(ThreadEnd::Failed { reason }) => Some(EarlyEnd::Error {
            detail: reason.clone(),
        }),
        Some(ThreadEnd::AllCycles | ThreadEnd::Unknown) => None,
    };
    provenance
        .early_ends
        .extend(early.filter(|early| !provenance.early_ends.contains(early)));
    for load in crate::loads::statements(segment) {
        if !load.working && !provenance.loads.iter().any(|known| known.load == load.name) {
            provenance.loads.push(LoadProof {
                load: load.name,
                proven: false,
                detail: load
                    .reason
                    .unwrap_or_else(|| "it says nothing of its work".into()),
            });
        }
    }
}

/// The verdict on the run: that on its conditions, held back by what is missing.
pub(crate) fn run_outcome(
    run: &Run,
    overall: &Overall,
    not_measured: &[NotMeasured],
) -> (Outcome, Vec<String>) {
    let mut remarks = Vec::new();
    let mut outcome = overall.outcome;
    let mut hold_back = |remark: String| {
        remarks.push(remark);
        if outcome == Outcome::Passed {
            outcome = Outcome::Undecided;
        }
    };
    match run.state() {
        State::Finished if run.manifest.recovered.is_some() => {
            hold_back(
                "the run was cut short and recovered: what is missing can't be judged".into(),
            );
        }
        State::Finished => {}
        State::NotFinished => hold_back(format!(
            "the run is not in its final form: wakepath recover {}",
            run.directory().display()
        )),
        State::BeingWritten { by } => hold_back(format!("the run is under way ({by})")),
    }
    match &run.manifest.ending {
        Ending::Complete => {}
        Ending::Interrupted => hold_back("the run was interrupted before its end".into()),
        Ending::Failed { reason } => hold_back(format!("the run could not go on: {reason}")),
        Ending::CutShort | Ending::Unknown => hold_back("the run has no recorded end".into()),
    }
    if !not_measured.is_empty() {
        let all = not_measured.len();
        match overall.needed {
            PoliciesNeeded::Every => {
                hold_back(format!("{all} conditions could not be measured"));
            }
            // A policy that was not measured might have held.
            PoliciesNeeded::Any if matches!(outcome, Outcome::Failed | Outcome::Invalid) => {
                remarks.push(format!(
                    "no measured policy holds, but {all} conditions could not be measured"
                ));
                outcome = Outcome::Undecided;
            }
            PoliciesNeeded::Any => {}
        }
    }
    (outcome, remarks)
}

pub(crate) fn identity(run: &Run) -> RunIdentity {
    let manifest = &run.manifest;
    RunIdentity {
        run_id: manifest.run_id.clone(),
        directory: run.directory().display().to_string(),
        started: manifest.started.clone(),
        wakepath: manifest.tool.version.clone(),
        scenario: manifest.scenario.name.clone(),
        command: manifest.command.clone(),
        ending: manifest.ending.clone(),
        recovered: manifest.recovered.is_some(),
        notes: manifest.notes.clone(),
    }
}

/// A change of the machine in the verdict's words.
pub(crate) fn fact_change(change: &wakepath_machine::Change) -> FactChange {
    let (from, to) = (change.before.clone(), change.after.clone());
    match change.path.ends_with("current_clocksource") {
        true => FactChange::ClockSource { from, to },
        false => FactChange::Other {
            fact: change.what.clone(),
            from,
            to,
        },
    }
}
