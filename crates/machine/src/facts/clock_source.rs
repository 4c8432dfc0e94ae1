//! Which hardware counter the kernel's clocks count by.

use serde::{Deserialize, Serialize};

use crate::{Reading, Root};

const FOLDER: &str = "/sys/devices/system/clocksource/clocksource0";

/// The clock source.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ClockSource {
    /// In use: `tsc`, `arch_sys_counter`, `hpet`, …
    pub current: Reading<String>,
    /// Other clock sources that the kernel could use.
    pub available: Reading<Vec<String>>,
}

impl ClockSource {
    pub(super) fn read(root: &Root) -> Self {
        Self {
            current: root.text(&format!("{FOLDER}/current_clocksource")),
            available: root
                .text(&format!("{FOLDER}/available_clocksource"))
                .map(|text| words(&text)),
        }
    }
}

fn words(text: &str) -> Vec<String> {
    text.split_whitespace().map(str::to_owned).collect()
}
