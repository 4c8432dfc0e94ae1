//! What a recorded run shows: its assessment (every condition judged by the scenario's criterion),
//! as text for a terminal and as JSON for scripts. It measures nothing and changes no run.

mod assessment;
mod changes;
mod compare;
mod conditions;
mod controllers;
mod counters;
mod export;
mod figure;
mod flight;
mod imported;
mod inflation;
mod judged;
mod kernel_measures;
mod loads;
mod modules;
mod page;
mod picture;
mod probe_effect;
mod run_outcome;
mod style;
mod table;
mod text;
mod trial;

pub use assessment::{Assessment, AssessmentError, NotMeasured, RunIdentity};
pub use compare::{
    ALPHA, Adjusted, Bin, CompareError, CompareOrder, Comparison, ConditionComparison, Difference,
    Finding, Margin, Metric, MetricComparison, QuantileFigure, RunFigures, Weight,
};
pub use controllers::ControllerFile;
pub use counters::{CounterFigures, PerCycle};
pub use export::{CsvError, csv, markdown, open_metrics};
pub use figure::{Figure, Figures, latencies_overlaid};
pub use flight::{
    FlightOrder, Flights, FlightsError, FlownCondition, FlownConditions, Search, can_be_met,
};
pub use inflation::{Inflated, Inflation, Ratio};
pub use loads::LoadSummary;
pub use modules::ModuleFigures;
pub use page::{Reported, comparison_figures, comparison_page, page, trial_page};
pub use picture::{
    Bucket, HistogramBin, LateCycle, Level, Measure, Picture, Pyramid, Shape, SkippedCycles,
    Stretch, Tail, Violations, WorstCycle,
};
pub use probe_effect::{ProbeEffect, Shift, TracedCondition};
pub use style::Style;
pub use table::Table;
pub use text::cpus_text;
pub use trial::{Confounders, Trial, TrialEffect, TrialRun, TriedStep};
