//! The keys of a scenario file and of the files next to it.
//!
//! A table is declared once: a function names each key with its form, its default, its meaning and
//! the field that holds it. Reading, writing, the JSON Schema and the reference page all go through it.

pub(crate) mod cpus;
mod criterion;
mod cross_checks;
mod document;
pub(crate) mod ethercat;
mod flight;
mod form;
mod period;
mod phase;
mod policies;
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
pub(crate) use form::{ARGUMENTS, Form, LONGEST_NAME, Words, command, per_cpu, size, time, whole};
pub(crate) use period::RateWithin;
pub(crate) use policies::POLICY;
pub use sections::sections;
pub(crate) use shape::{Key, Shape, Table, Variants as VariantsShape};
pub(crate) use suggestion::{listed, near, suggestion};
pub(crate) use table_task::parse as parse_task_table;
pub(crate) use task_set::{task_set_file, task_set_table};
pub(crate) use variants::{Row, Short, Variants};
pub(crate) use visitor::{Context, Keys, described, described_item, read, written_after};

use crate::Trace;
use crate::load::LOAD;
use crate::task_set::SetOverheads;

/// A section of the reference page.
pub(crate) enum Documented {
    Heading(&'static str),
    Table(&'static str, Table),
    Variants(&'static str, VariantsShape),
}

/// All tables, in the order of the reference page.
pub(crate) fn documented() -> Vec<Documented> {
    use Documented::{Heading, Table, Variants};
    vec![
        Table("The file", scenario_table()),
        Table(
            "`[[phases]]`",
            described_item(phase::blank(), phase::declare),
        ),
        Variants("Loads", LOAD.described()),
        Variants("Policies", policies::described()),
        Variants("Work", work::WORK.described()),
        Table(
            "Task tables",
            described_item(table_task::blank(), table_task::declare),
        ),
        Variants("Trajectories", trajectory::TRAJECTORY.described()),
        Table(
            "Waypoints",
            described(trajectory::no_waypoint(), trajectory::waypoint),
        ),
        Table("`[[tasks]]`", described_item(task::blank(), task::declare)),
        Table(
            "`accounting`",
            described(crate::Accounting::default(), scenario::accounting),
        ),
        Table("`[trace]`", described(Trace::default(), trace::declare)),
        Table(
            "`[criterion]`",
            described(criterion::blank(1), criterion::declare),
        ),
        Table("`[flight]`", described(flight::blank(), flight::declare)),
        Heading("Task sets for analysis"),
        Table("A task set", task_set::table()),
        Table("A task of it", task_set::task_table()),
        Table(
            "Its execution, from a run",
            described(task_set::execution_blank(), task_set::execution),
        ),
        Table(
            "A chain of them",
            described(task_set::NamedChain::default(), |keys, own| {
                task_set::chain(keys, own, None)
            }),
        ),
        Table(
            "A reservation",
            described(task_set::reservation_blank(), |keys, own| {
                task_set::reservation(keys, own, &[], None, 1)
            }),
        ),
        Table(
            "The kernel's limits",
            described(Default::default(), task_set::admission),
        ),
        Table(
            "Its overheads",
            described(SetOverheads::default(), task_set::overheads),
        ),
        Table(
            "A cache delay of them",
            described_item((0, 0), task_set::cache_delay),
        ),
        Heading("Sections of kernel code"),
        Table(
            "A file of sections",
            described(sections::blank(), sections::declare),
        ),
        Table(
            "An interrupt of it",
            described(sections::no_interrupt(), sections::interrupt),
        ),
    ]
}

pub(crate) fn scenario_table() -> Table {
    described(scenario::blank(), scenario::declare)
}
