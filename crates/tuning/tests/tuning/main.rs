//! Plans, their application, and the way back.

mod boot_entries;
mod killed;
mod plans;
mod programs;
