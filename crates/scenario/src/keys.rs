//! The keys of a scenario file and of the files next to it.
//!
//! A table is declared once: a function names each key with its form, its default, its meaning and
//! the field that holds it. Reading, writing, the JSON Schema and the reference page all go through it.

pub(crate) mod cpus;
mod criterion;
mod cross_checks;
mod document;
mod elsewhere;
pub(crate) mod ethercat;
mod flight;
mod form;
mod period;
mod phase;
mod policies;
mod policy_keys;
pub(crate) mod scenario;
mod sections;
mod shape;
mod suggestion;
mod table_task;
mod task;
mod task_set;
mod trace;
mod trajectory;
mod variants;
mod vehicle;
mod visitor;
mod work;

pub(crate) use document::with_root;
pub(crate) use elsewhere::advice;
pub(crate) use form::{ARGUMENTS, Form, LONGEST_NAME, Words, command, per_cpu, size, time, whole};
pub(crate) use period::RateWithin;
pub(crate) use policies::POLICY;
pub use sections::sections;
pub(crate) use shape::{Key, Shape, Table, Variants as VariantsShape};
pub(crate) use suggestion::{listed, near, suggestion};
pub(crate) use table_task::parse as parse_task_table;
pub(crate) use task_set::{described as described_task_set, task_set_file, task_set_table};
pub(crate) use variants::{Row, Short, Variants};
pub(crate) use visitor::{Context, Keys, MOST_UNKNOWN, described, read_keys, written_after};

/// All tables of the reference page, each in the table that has it.
pub(crate) fn scenario_table() -> Table {
    described(scenario::blank(), scenario::declare)
}

pub(crate) fn sections_table() -> Table {
    described(sections::blank(), sections::declare)
}
