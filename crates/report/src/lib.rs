//! Output of a recorded run: as text for a terminal, as JSON, as one HTML file with its figures, and in
//! other tools' formats. It judges nothing: all findings come from wakepath-assess.

mod answer;
mod explained;
mod export;
mod figure;
mod json;
mod label;
mod markup;
mod next_step;
mod page;
mod ros2;
mod style;
mod table;
mod text;
mod thread_chains;
mod unbroken;

pub use answer::{Answer, Shown, VariantFigures, VariantRow, nearest_to_passing};
pub use export::{CsvError, McapExportError, Timelines, csv, junit, markdown, mcap, open_metrics};
pub use figure::{Figure, Figures, Origin, latencies_overlaid, machine_in_brief};
pub use json::to_json;
pub use page::{
    Reported, Titles, comparison_figures, comparison_page, page, schedulability_page, sweep_page,
    trial_before_and_after, trial_page, trial_steps, trial_steps_in_short,
};
pub use ros2::{Ros2Room, ros2_first_above, ros2_text};
pub use style::{Colour, Style, choose_colour};
pub use table::{Cell, Column, Table, Tone, UNKNOWN, number, words};
pub use text::{
    CostModel, StringCost, ToText, bounds_details, bounds_in_short, comparison_in_full, cpus_text,
    criterion_text, cycle_text, cycle_text_of, explanation_in_short, explanation_text,
    flights_in_short, histogram_text, late_in_short, late_text, tiers_in_short, windows_code_text,
    windows_text,
};
pub use thread_chains::{Remarks, thread_chains_text};
