//! Scenarios: TOML to a checked, resolved [`Scenario`] without anything left to interpret.
//!
//! It touches no hardware: the caller passes the existing CPUs.

mod bandwidth;
pub mod builtin;
mod carried_out;
mod criterion;
mod document;
mod error;
mod estimate;
mod ethercat;
mod flight;
mod keys;
mod known_cpus;
mod litmus;
mod load;
mod model;
mod named_file;
mod other_sets;
mod policy;
mod random_tasks;
mod read;
mod reference;
mod schema;
mod task_set;
mod task_table;
mod tier;
pub mod units;
mod warning;
mod work;

pub use carried_out::NotCarriedOut;
pub use criterion::{Criterion, PoliciesNeeded};
pub use error::{ScenarioError, ScenarioErrors};
pub use estimate::{LOAD_START_NS, SEGMENT_SET_UP_NS, TooShort};
pub use ethercat::{EthercatBus, SimulatedRing};
pub use flight::{Course, FlightCriterion, FlightTerms, FlightVehicle, Losses, Word};
pub use keys::sections as read_sections;
pub use known_cpus::KnownCpus;
pub use load::{GpuInterface, GpuWork, LoadKind, LoadSpec, MemoryAccess, OfferedLoad, WorkingSet};
pub use model::{
    Accounting, Phase, PluginSwitch, Scenario, Task, TimerSlack, Trace, TraceBackend, TraceBuffer,
};
pub use named_file::NamedFileError;
pub use other_sets::{NoSet, SetFile};
pub use policy::parse_policy;
pub use random_tasks::RandomTasks;
pub use reference::reference;
pub use schema::json_schema;
pub use task_set::{Executions, MeasuredExecution, SetOverheads, TaskSet, ToldExecution};
pub use task_table::{TableSource, TableTask};
pub use tier::{TIERS, Tier};
pub use warning::Warning;
pub use work::{Flight, Library, TaskTable, Work};
