//! The loads, one file each: their work, and what they count.
//!
//! Other modules start and evaluate them.

pub(crate) mod address_spaces;
pub(crate) mod bonnie;
pub(crate) mod chase;
pub(crate) mod command;
pub(crate) mod cpu;
pub(crate) mod ethercat;
pub(crate) mod files;
pub(crate) mod fio;
pub(crate) mod glmark2;
pub(crate) mod gpu;
pub(crate) mod hackbench;
pub(crate) mod http_server;
pub(crate) mod iperf3;
pub(crate) mod memory;
pub(crate) mod messages;
pub(crate) mod network;
pub(crate) mod processes;
pub(crate) mod rcu_storm;
pub(crate) mod storm;
pub(crate) mod stress_ng;
pub(crate) mod timer_storm;
pub(crate) mod timers;
pub(crate) mod wget;
