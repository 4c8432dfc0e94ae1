//! A run with its verdict and all findings about it, put together from the recording alone, so that
//! it is the same today and in ten years. How conditions are judged is in `judged`.

use crate::bounds::{HeldBound, held_bounds};
use crate::cache_delays::{CacheDelays, cache_delays};
use crate::conditions::{NotMeasured, own_deadline_ns};
use crate::controllers::{self, ControllerFile};
use crate::core_latency::{self, BesideTheCore};
use crate::counters::{self, CounterFigures};
use crate::error::AssessmentError;
use crate::exchanges::{self, Exchanges};
use crate::flight::{FlightOrder, FlownConditions, judge_flights};
use crate::identity::{RunIdentity, identity, scenario_of};
use crate::inflation::{Inflation, inflations};
use crate::judged::{JudgedConditions, judged_conditions};
use crate::loads::{LoadSummary, summarise};
use crate::modules::{self, ModuleFigures};
use crate::next_step::{NextStep, next_steps, traced_run_ns};
use crate::on_a_core::{self, OnACore};
use crate::picture::Picture;
use crate::probe_effect::{ProbeEffect, probe_effect};
use crate::run_outcome::run_outcome;
use crate::said::{self, BusClock, Said};
use crate::stretch::{Stretched, stretches};
use crate::variants::{Variant, variants};
use crate::watched::Finding;
use serde::Serialize;
use wakepath_archive::{Run, VirtualTime};
use wakepath_scenario::{Criterion, Scenario, Task};
use wakepath_verdict::{Judgement, Outcome, Overall, overall};

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
    /// measured. Figures that such files don't hold are `None` or 0 in the figures.
    pub imported: Option<wakepath_archive::Imported>,
    /// What bears on the run as a whole: an interruption, a recovery, lost segments.
    pub remarks: Vec<String>,
    /// Steps that would decide an undecided run.
    pub next_steps: Vec<NextStep>,
    /// Length of a run of the same scenario that is also traced and long enough to pass, ns; `None` of a run
    /// that was traced.
    #[serde(skip)]
    pub traced_run_ns: Option<u64>,
    /// Outcome of each policy, and the one to use.
    pub overall: Overall,
    /// Every condition that was measured, with its figures and reasons.
    pub conditions: Vec<Judgement>,
    /// Conditions that could not be measured.
    pub not_measured: Vec<NotMeasured>,
    /// The vehicle flown through each condition; `None` where the scenario has no flight.
    pub flights: Option<FlownConditions>,
    /// An analysis's bounds on the responses against the observed ones; none if the scenario has no
    /// bounds.
    pub bounds: Vec<HeldBound>,
    /// Programs that the run tried in turns.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub variants: Vec<Variant>,
    /// How much longer the work takes under load than idle.
    pub inflation: Vec<Inflation>,
    /// Causes of a controller's longer execution, measured with loads that compute and with loads
    /// that use memory.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub stretch: Vec<Stretched>,
    /// The controllers of the user's own that were at work.
    pub controllers: Vec<ControllerFile>,
    /// Hardware counters of the loop's cycles, if requested.
    pub counters: Vec<CounterFigures>,
    /// A real-time core's counts of the loop's threads, if they ran on one that counts.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub on_a_core: Vec<OnACore>,
    /// A real-time core's own measurements, next to the loop's latencies.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub core_latency: Vec<BesideTheCore>,
    /// The parts of a controller that timed themselves.
    pub modules: Vec<ModuleFigures>,
    /// What recorded loops said in their log.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub said: Vec<Said>,
    /// The clocks that drove recorded loops.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub bus_clocks: Vec<BusClock>,
    /// Results of exchanges with a bus, if loops had one.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub exchanges: Vec<Exchanges>,
    /// Cache losses of a job, if measured.
    pub cache_delays: Vec<CacheDelays>,
    /// What watched threads' own ways of waiting do, each with the thread's name.
    #[serde(skip)]
    pub findings: Vec<(String, Finding)>,
    /// Work of each load, by phase.
    pub loads: Vec<LoadSummary>,
    /// Cost of tracing; `None` if nothing was traced.
    pub probe_effect: Option<ProbeEffect>,
    /// Page faults in the loop after its warm-up, summed over all segments.
    pub page_faults: u64,
    /// What changed on the machine while the run was under way.
    pub machine_changes: Vec<wakepath_machine::Change>,
    /// Control groups of the loop that ran into their CPU quotas during the run; in JSON among the changes.
    #[serde(skip)]
    pub throttled: Vec<wakepath_machine::GroupThrottling>,
    /// How ready the machine was for the loop when the run began; none in a run of a wakepath that
    /// did not look, or looked in a way that this version can't read.
    pub readiness: Option<wakepath_readiness::Report>,
    /// The machine, as labelled lines.
    pub machine: Vec<wakepath_machine::SummaryLine>,
    /// The criterion judged by.
    pub criterion: Criterion,
    /// Whether its deadline is each loop's own period, and those differ.
    #[serde(skip)]
    pub has_own_deadlines: bool,
}

fn has_own_deadlines(scenario: &Scenario) -> bool {
    let deadline_ns = scenario.criterion.deadline_ns;
    let own_ns = |of: &Task| own_deadline_ns(deadline_ns, scenario.period_ns, of.period_ns);
    scenario.tasks.iter().any(|of| own_ns(of) != deadline_ns)
}

fn readiness_of(run: &Run) -> Option<wakepath_readiness::Report> {
    let first = run.manifest.facts.first()?;
    wakepath_readiness::Report::of_json(first.facts.get(wakepath_readiness::READINESS_KEY)?).ok()
}

impl Assessment {
    /// Assesses a run by its own scenario.
    ///
    /// # Errors
    /// When the run or its scenario can't be read.
    pub fn new(run: &Run) -> Result<Self, AssessmentError> {
        Ok(Self::assess(run, false, &|_, _| ())?.0)
    }

    /// As [`Assessment::new`], with what is drawn of every condition, in the same order. The
    /// samples are read once.
    ///
    /// # Errors
    /// When the run or its scenario can't be read.
    pub fn with_pictures(run: &Run) -> Result<(Self, Vec<Picture>), AssessmentError> {
        Self::assess(run, true, &|_, _| ())
    }

    /// As [`Assessment::new`], or as [`Assessment::with_pictures`] if it will be `drawn`; `done`
    /// gets the number of finished pieces of work and of all, while a vehicle is flown.
    ///
    /// # Errors
    /// As [`Assessment::new`].
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
        let (mut outcome, mut remarks) = run_outcome(run, &overall, &not_measured, &changes)?;
        let bounds = held_bounds(&scenario, &conditions);
        let contradictions = bounds.iter().filter_map(HeldBound::contradiction);
        let before = remarks.len();
        remarks.splice(..0, contradictions);
        // Whatever the criterion tolerates, what was promised is not so.
        if remarks.len() > before && outcome != Outcome::Invalid {
            outcome = Outcome::Failed;
        }
        let controllers = controllers::files(&scenario);
        remarks.extend(controllers.iter().filter_map(ControllerFile::remark));
        let next_steps = next_steps(outcome, &overall, &not_measured, &scenario);
        if outcome != Outcome::Passed {
            // A policy that passed only under its own conditions is not a recommendation.
            overall.recommendation = None;
        }
        let page_faults = manifest
            .segments
            .iter()
            .filter(|segment| !segment.traced)
            .flat_map(|segment| &segment.threads)
            .filter_map(|thread| thread.page_faults)
            .map(|faults| faults.minor.saturating_add(faults.major))
            .fold(0, u64::saturating_add);
        let assessment = Self {
            controllers,
            counters: counters::figures(&segments),
            on_a_core: on_a_core::of_all(&segments),
            core_latency: core_latency::of_all(&manifest.core_latency, &conditions),
            modules: modules::figures(run, &segments)?,
            said: said::said(run)?,
            bus_clocks: said::bus_clocks(run)?,
            exchanges: exchanges::of_all(&segments),
            cache_delays: cache_delays(run),
            bounds,
            variants: variants(&scenario),
            inflation: inflations(&scenario, &conditions),
            stretch: stretches(run, &scenario)?,
            run: identity(run),
            outcome,
            virtual_time: manifest.virtual_time.clone(),
            imported: manifest.imported.clone(),
            remarks,
            next_steps,
            traced_run_ns: traced_run_ns(&scenario),
            overall,
            conditions,
            not_measured,
            flights,
            findings: Finding::recorded(&manifest.segments),
            loads: summarise(&manifest.segments),
            probe_effect: probe_effect(run)?,
            page_faults,
            machine_changes: changes.all,
            throttled: changes.throttled,
            readiness: readiness_of(run),
            machine: changes.machine,
            has_own_deadlines: has_own_deadlines(&scenario),
            criterion: scenario.criterion,
        };
        Ok((assessment, pictures))
    }

    /// Exit code of the command that shows it: 0 passed, 1 invalid, 2 failed, 3 undecided.
    pub fn exit_code(&self) -> u8 {
        self.outcome.exit_code()
    }
}
