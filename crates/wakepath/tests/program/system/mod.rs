//! The whole command with real processes, loops, loads, signals and disks: does it tell the truth,
//! and does it survive? Two of these tests at a time disturb each other no more than a busy machine does.

pub mod accessible;
pub mod control_groups;
pub mod death;
pub mod ethercat;
pub mod experiments;
pub mod first_hour;
pub mod interruption;
pub mod live_view;
pub mod loads;
pub mod metrics;
pub mod privileges;
pub mod rates;
pub mod recorder;
pub mod recording;
pub mod rights;
pub mod ros2;
pub mod ros2_control;
pub mod ros2_later;
pub mod ros2_page;
pub mod same_numbers;
pub mod settings;
pub mod stacks;
pub mod traced;
pub mod unattended;
pub mod usdt;
pub mod wake_ups;
pub mod watching;
pub mod watching_killed;
pub mod widths;
