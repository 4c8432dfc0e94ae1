//! The meaning of a recorded run, from its directory alone: every condition judged by the scenario's
//! criterion, runs compared, the vehicle flown, late cycles explained. It prints nothing, measures nothing,
//! and changes no run except to store its explanation next to it.

mod assessment;
mod bounds;
mod cache_delays;
mod changes;
mod compare;
mod conditions;
mod controllers;
mod core_latency;
mod counters;
mod error;
mod exchanges;
pub mod explanation;
mod flight;
mod identity;
mod imported;
mod inflation;
mod judged;
mod loads;
mod modules;
mod next_step;
mod on_a_core;
mod picture;
mod probe_effect;
mod run_outcome;
mod run_times;
mod said;
mod schedulability;
mod sections;
mod stretch;
mod tiers;
mod trial;
mod values;
mod variants;
pub mod watched;
mod windows;
mod worst_case;

pub use assessment::Assessment;
pub use bounds::HeldBound;
pub use cache_delays::CacheDelays;
pub use compare::{
    ALPHA, Adjusted, Bin, CompareError, CompareOrder, Comparison, ConditionComparison, Difference,
    Finding, Margin, Metric, MetricComparison, QuantileFigure, RunFigures, UnknownMetric, Weight,
    median,
};
pub use conditions::NotMeasured;
pub use controllers::ControllerFile;
pub use core_latency::{Added, BesideTheCore, LoopLatency};
pub use counters::{CounterFigures, PerCycle};
pub use error::AssessmentError;
pub use exchanges::Exchanges;
pub use flight::{
    Brinks, FlightOrder, Flights, FlightsError, FlownCondition, FlownConditions, Search,
    can_be_met, loss_text,
};
pub use identity::RunIdentity;
pub use imported::more_may_be_late;
pub use inflation::{Inflated, Inflation, Ratio};
pub use judged::{JudgedThread, judged_threads, window_end};
pub use loads::LoadSummary;
pub use modules::ModuleFigures;
pub use next_step::NextStep;
pub use on_a_core::OnACore;
pub use picture::{
    Bucket, CpuCounts, HistogramBin, LateCycle, Level, Measure, Picture, Pyramid, Shape,
    SkippedCycles, Stretch, Tail, Violations, WorstCycle,
};
pub use probe_effect::{ProbeEffect, Shift, TracedCondition};
pub use run_times::RunTimes;
pub use said::{BusClock, Said, SaidLine};
pub use schedulability::{
    ExecutionLack, FromRunError, KnownOverheads, MachineError, NotOneSweep, OverheadsError,
    PublishedOverheads, RunMachine, Schedulability, Sweep, SweptDistribution, SweptOverheads,
    SweptPlan, SweptPoint, SweptShare, Taken, Which, measured_execution, refused_words, set_of_run,
};
pub use sections::Spread;
pub use stretch::{REPETITIONS_FOR_AN_INTERVAL, Share, StretchShares, Stretched};
pub use tiers::{Pin, PinInTier, PinStepFigures, PolicyInTier, ReachedTier, Tiers};
pub use trial::{Confounders, Trial, TrialEffect, TrialRun, TriedStep, p99};
pub use values::SaidValue;
pub use variants::Variant;
pub use windows::{WindowsError, stacks_file_name, stored_windows};
pub use worst_case::{
    BoundMetric, BoundOrder, Bounded, Bounds, BoundsError, Composed, ComposedError, Exceed,
    ExceedError, RecordedSections,
};
