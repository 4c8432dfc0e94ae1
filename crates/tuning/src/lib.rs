//! Plans and applies changes of a machine for a loop.
//!
//! The plan is pure: it is made from an inspection. Applying keeps a journal that is on disk before
//! each write, reads each write back, and reverts in reverse order, but only values that are still
//! as written. It starts no program: commands for a service manager or a boot loader are printed,
//! never run.

mod action;
mod apply;
mod boot;
mod effect;
mod journal;
mod kept;
mod loop_group;
mod plan;
mod programs;
mod setting_error;
mod system;
mod text;

pub use action::{Action, Compare, Step};
pub use apply::{
    Applied, Event, Left, Refusal, Reverted, Skipped, TuningError, apply, revert, revert_when_free,
};
pub use boot::{BootChange, BootError, Loader, NewFile, prepare, remove, write};
pub use effect::{Effect, Finding as EffectFinding};
pub use journal::{Damage, Entry, History, Journal, Record};
pub use kept::{KEPT_PATH, forget, keep, kept};
pub use loop_group::LoopGroup;
pub use plan::{BootStep, Options, Plan};
pub use setting_error::SettingError;
pub use system::System;
