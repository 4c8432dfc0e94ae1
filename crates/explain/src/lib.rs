//! Explains late cycles: turns kernel events and the loop's samples into a chain of causes for each cycle
//! that adds up to its measured latency. Pure and streaming: it reads no file and no clock, and keeps only
//! the window that unfinished cycles need.
//!
//! The way from a due time to user code is cut into stretches (due → timer interrupt → expiry → waking →
//! switch-in → user code). Within a stretch every nanosecond belongs to exactly one cause: the CPU's activity
//! instead of the loop. Time that the events don't explain is called unexplained.
//!
//! Threads that don't measure themselves have no samples: [`watch`] makes them from the events. [`perfetto`]
//! writes the explanation as a timeline.

mod activity;
mod alike;
mod budgets;
mod call;
mod cause;
mod cpu;
mod cycle;
mod explainer;
mod fair_server;
mod faults;
mod feather_trace;
pub mod fix;
mod forks;
mod functions;
mod halt;
mod holds;
mod home;
mod identify;
mod idle_exit;
mod interference;
mod late_chain;
mod late_cycle;
mod loop_thread;
mod once;
mod other_tasks;
mod other_work;
mod overheads;
mod own;
mod page_wait;
mod path;
pub mod perfetto;
mod placement;
mod ranked;
mod remedy;
mod resolve;
mod senders;
mod share;
mod share_out;
mod spin;
mod stacks;
mod summary;
mod tcp_timers;
mod thread_calls;
mod threads;
mod ticks;
mod told;
mod totals;
mod track;
mod untold;
mod wait;
mod waits_ends;
pub mod watch;
mod weight;
pub mod window;
mod work;

pub use activity::Activities;
pub use alike::AlikeFigures;
pub use budgets::{Budgets, Quota};
pub use call::{Call, sleeps, waits_for_any_event};
pub use cause::{Cause, RanIn, Relation, SentBy, is_kernel_worker};
pub use cycle::{Explained, Piece, Stretch, WokenBy};
pub use explainer::{Explainer, Options};
pub use feather_trace::{FeatherCounts, FeatherTrace};
pub use halt::{Halt, HaltKind};
pub use identify::{Identifier, identify};
pub use idle_exit::IdleExits;
pub use interference::{
    Interference, InterferenceFigures, InterfererFigures, Kind as InterfererKind, KindFigures,
};
pub use late_chain::LateChains;
pub use late_cycle::{LateCycle, LatePiece, LateShare, LateStack};
pub use loop_thread::LoopThread;
pub use overheads::{Distribution, OverheadCosts, OverheadTable, Overheads, PhaseOverheads};
pub use own::{Own, OwnThread};
pub use page_wait::PageWait;
pub use remedy::remedy;
pub use resolve::Usual;
pub use share::{Share, shares};
pub use stacks::{CallStack, Frame, Place, Places, Ran, Stacks, Stay};
pub use summary::{
    CauseFigures, ConditionExplanation, Explanation, RestFigures, StretchFigures, SwitchIns,
    WaterfallFigures,
};
pub use tcp_timers::DELAYED_ACK_NS;
pub use told::{LateLine, LateSection};
pub use totals::{Bands, Totals};
pub use wait::{Handler, Meanwhile, Source, Wait};
pub use weight::{Weight, by_weight};
