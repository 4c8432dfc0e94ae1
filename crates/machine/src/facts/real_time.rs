//! The scheduler's limits for real-time tasks.
//!
//! RT throttling, the fair server, deadline bounds, and a loaded scheduler (sched_ext) that has
//! taken over.

use serde::{Deserialize, Serialize};

use crate::{Reading, Root};

const FAIR_SERVER: &str = "/sys/kernel/debug/sched/fair_server";

/// The scheduler's settings for real-time tasks.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct RealTime {
    /// Time for real-time tasks in each period, µs; −1 for no limit.
    pub runtime_us: Reading<i64>,
    /// The period, µs.
    pub period_us: Reading<i64>,
    /// The shortest period that SCHED_DEADLINE accepts, µs.
    pub deadline_period_min_us: Reading<u64>,
    /// The longest period that SCHED_DEADLINE accepts, µs.
    pub deadline_period_max_us: Reading<u64>,
    /// Guaranteed time for ordinary tasks on each CPU (Linux 6.12 and later).
    pub fair_server: Reading<Vec<FairServer>>,
    /// Whether timers can move to other CPUs: 1 if so.
    pub timer_migration: Reading<u32>,
    /// Whether a scheduler loaded through sched_ext runs: `disabled`, `enabled`, …
    pub extension_state: Reading<String>,
}

/// One CPU's guarantee for ordinary tasks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct FairServer {
    /// The CPU.
    pub cpu: u16,
    /// Guaranteed in each period, ns; 0 switches it off.
    pub runtime_ns: u64,
    /// The period, ns.
    pub period_ns: u64,
}

impl RealTime {
    pub(super) fn read(root: &Root) -> Self {
        let setting = |name: &str| format!("/proc/sys/kernel/{name}");
        Self {
            runtime_us: root.number(&setting("sched_rt_runtime_us")),
            period_us: root.number(&setting("sched_rt_period_us")),
            deadline_period_min_us: root.number(&setting("sched_deadline_period_min_us")),
            deadline_period_max_us: root.number(&setting("sched_deadline_period_max_us")),
            fair_server: fair_server(root),
            timer_migration: root.number(&setting("timer_migration")),
            extension_state: root.text("/sys/kernel/sched_ext/state"),
        }
    }

    /// Share of CPU time for real-time and deadline tasks, 0 to 1.
    pub fn share(&self) -> Option<f64> {
        match (*self.runtime_us.known()?, *self.period_us.known()?) {
            (..=-1, _) => Some(1.0),
            (runtime, period) if period > 0 => Some((runtime as f64 / period as f64).min(1.0)),
            _ => None,
        }
    }
}

fn fair_server(root: &Root) -> Reading<Vec<FairServer>> {
    match root.names(FAIR_SERVER) {
        Reading::Known { .. } => {}
        other => return other.without_value(),
    }
    let mut servers = Vec::new();
    for cpu in root.numbered(FAIR_SERVER, "cpu") {
        let runtime = root.number::<u64>(&format!("{FAIR_SERVER}/cpu{cpu}/runtime"));
        let period = root.number::<u64>(&format!("{FAIR_SERVER}/cpu{cpu}/period"));
        match (runtime, period) {
            (
                Reading::Known {
                    value: runtime_ns, ..
                },
                Reading::Known {
                    value: period_ns, ..
                },
            ) => servers.push(FairServer {
                cpu,
                runtime_ns,
                period_ns,
            }),
            (Reading::Known { .. }, other) | (other, _) => return other.without_value(),
        }
    }
    Reading::found(servers, FAIR_SERVER)
}
