//! The loop that a machine is inspected for: its tolerance decides the severity. Nothing here is
//! read from the machine.

use serde::{Deserialize, Serialize};
use wakepath_timeline::CpuSet;
use wakepath_timeline::duration::length;

/// A loop without a criterion is taken to tolerate a tenth of its period, as the built-in scenario
/// of `wakepath check` does.
const TOLERATED_PART: u64 = 10;
/// A twentieth of the period, 5 %, is worth a remedy.
const NOTICEABLE_PART: u64 = 20;

/// The loop at hand.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LoopAtHand {
    /// Its period, ns.
    pub period_ns: u64,
    /// The wake-up latency that its criterion allows, ns.
    pub latency_ns: Option<u64>,
    /// The CPUs on which it runs.
    pub cpus: CpuSet,
    /// Its real-time priority under FIFO or RR; none for an ordinary or a DEADLINE loop.
    pub priority: Option<u32>,
    /// The program, when one is named and runs.
    pub program: Option<Program>,
}

/// A running program.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Program {
    /// Its name, or what it was requested by if it does not run.
    pub name: String,
    /// Its process; none if no process of that name was found.
    pub pid: Option<u32>,
}

impl LoopAtHand {
    /// The delay that makes a cycle late, ns: the criterion's latency, else 10 % of the period.
    pub fn tolerance_ns(&self) -> u64 {
        self.latency_ns
            .unwrap_or(self.period_ns / TOLERATED_PART)
            .max(1)
    }

    /// The delay from which one source alone is worth a fix, ns: 5 % of the period, or a quarter of
    /// the criterion's latency if that is less.
    pub fn noticeable_ns(&self) -> u64 {
        let of_period = self.period_ns / NOTICEABLE_PART;
        let of_criterion = self.latency_ns.map_or(of_period, |latency| latency / 4);
        of_period.min(of_criterion).max(1)
    }

    /// How many due times pass within this time.
    pub fn due_times_in(&self, ns: u64) -> u64 {
        ns / self.period_ns.max(1)
    }

    /// One line: `250 Hz, period 4 ms, latency ≤ 400 µs, CPU 1, FIFO 80`.
    pub fn describe(&self) -> String {
        let rate = 1e9 / self.period_ns.max(1) as f64;
        let (rate, unit) = if rate < 1000.0 {
            (rate, "Hz")
        } else {
            (rate / 1000.0, "kHz")
        };
        let mut text = format!(
            "a {} {unit} loop (period {}",
            (rate * 1000.0).round() / 1000.0,
            length(self.period_ns)
        );
        match self.latency_ns {
            Some(latency) => {
                text.push_str(&format!(", wake-up latency ≤ {})", length(latency)));
            }
            None => text.push_str(&format!(
                ", no criterion: 10 % of the period, {}, is taken)",
                length(self.tolerance_ns())
            )),
        }
        text.push_str(&format!(" on CPU {}", self.cpus));
        match self.priority {
            Some(priority) => text.push_str(&format!(", real-time priority {priority}")),
            None => text.push_str(", no real-time priority"),
        }
        if let Some(program) = &self.program {
            match program.pid {
                Some(pid) => text.push_str(&format!(", program {} ({pid})", program.name)),
                None => text.push_str(&format!(", program {} (not running)", program.name)),
            }
        }
        text
    }
}
