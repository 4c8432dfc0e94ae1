//! One file for each verb of the command. A verb returns its exit code, or an error that is one
//! line saying what is wrong, where, and what would be right.
//!
//! No verb uses another one: shared parts are in rooms of their own next to this one.

pub mod bound;
pub mod check;
pub mod compare;
pub mod doctor;
pub mod documentation;
pub mod exec;
pub mod explain;
pub mod export;
pub mod fly;
pub mod import;
pub mod loads;
pub mod machine;
pub mod rate;
pub mod record;
pub mod recover;
pub mod report;
pub mod run;
pub mod runs;
pub mod scenario;
pub mod schedulability;
pub mod seal;
pub mod show;
pub mod tiers;
pub mod try_fix;
pub mod tune;
pub mod verify;
pub mod watch;
