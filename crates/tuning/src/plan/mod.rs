//! The plan: settings to change, in order, with reasons.
//!
//! Pure: it is made from an inspection and reads only files that the inspection names.
//!
//! The order is that in which isolation takes effect: programs that would undo it first, control
//! groups before the threads they move, kernel threads and interrupts next, clocks and idle states
//! after, throttling last, so that throttling still stops a loop that misbehaves during the
//! changes.

mod boot_parameters;
mod by_hand;
mod housekeeping;
mod interrupts;
mod isolation;
mod kernel_threads;
mod memory;
mod power;
mod rivals;
mod scheduler;

use crate::{Action, Step};
use serde::{Deserialize, Serialize};
use wakepath_readiness::{Inspection, LoopAtHand, Report, State};
use wakepath_timeline::CpuSet;

pub use boot_parameters::BootStep;

/// Options of a plan.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Options {
    /// Switch real-time throttling and the fair server off: a loop that spins then locks up its
    /// CPU.
    pub no_throttling: bool,
}

/// The plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Plan {
    /// The loop.
    pub subject: LoopAtHand,
    /// CPUs that share the loop's core: they are emptied too and stay idle.
    #[serde(default)]
    pub idle: CpuSet,
    /// The CPUs for everything else; empty on a machine with one.
    pub others: CpuSet,
    /// Changes that take effect while the machine runs, in order.
    pub now: Vec<Step>,
    /// Changes that need a reboot.
    pub boot: Vec<BootStep>,
    /// Programs that would undo it, and that no step stops.
    pub rivals: Vec<String>,
    /// Problems that no step fixes.
    #[serde(default)]
    pub by_hand: Vec<String>,
    /// Notes for the reader.
    pub notes: Vec<String>,
}

impl Plan {
    /// The plan for an inspected machine.
    pub fn new(seen: &Inspection, report: &Report, options: Options) -> Self {
        let mut planner = Planner::new(seen, report);
        planner.rivals();
        if planner.others.is_empty() {
            planner.note(
                "one CPU for everything: nothing can be isolated. Still possible: a priority above the \
                 interrupt threads (PREEMPT_RT) for the loop, locked memory, a steady clock, \
                 shallow idle states, and less other work. An interrupt handler, a SoftIRQ and a \
                 section of the kernel that can't be preempted delay the loop as before",
            );
        } else {
            planner.isolation();
            planner.workqueues();
            planner.kernel_threads();
            planner.interrupts();
            planner.packet_steering();
        }
        planner.housekeeping();
        planner.lockup_detectors();
        planner.preemption();
        planner.memory();
        planner.merging();
        planner.console();
        planner.frequency();
        planner.idle_states();
        if options.no_throttling {
            planner.throttling();
        }
        let boot = planner.boot_parameters();
        let by_hand = planner.by_hand(&boot);
        Self {
            subject: seen.subject.clone(),
            rivals: planner.rivals_left(),
            idle: planner.idle,
            others: planner.others,
            now: planner.steps,
            boot,
            by_hand,
            notes: planner.notes,
        }
    }

    /// The parameters of the boot steps on one line.
    pub fn parameters(&self) -> String {
        let all: Vec<&str> = self
            .boot
            .iter()
            .map(|step| step.parameter.as_str())
            .collect();
        all.join(" ")
    }
}

struct Planner<'a> {
    seen: &'a Inspection,
    report: &'a Report,
    /// CPUs that share the loop's core and should stay idle.
    idle: CpuSet,
    others: CpuSet,
    steps: Vec<Step>,
    notes: Vec<String>,
}

/// Texts of a step.
struct Words<'a> {
    reason: &'a str,
    effect: &'a str,
    cost: &'a str,
    undo: &'a str,
}

impl<'a> Planner<'a> {
    fn new(seen: &'a Inspection, report: &'a Report) -> Self {
        let idle = isolation::siblings(seen);
        let others = seen.others().without(&idle);
        Self {
            seen,
            report,
            idle,
            others,
            steps: Vec::new(),
            notes: Vec::new(),
        }
    }

    fn bad(&self, id: &str) -> bool {
        self.report.state_of(id) == Some(State::Bad)
    }

    fn note(&mut self, text: impl Into<String>) {
        self.notes.push(text.into());
    }

    /// The CPUs to empty: the loop's and those that share its core.
    fn emptied(&self) -> CpuSet {
        let own = self.seen.subject.cpus.numbers().iter();
        own.chain(self.idle.numbers()).copied().collect()
    }

    /// Whether one of these CPUs has to be emptied.
    fn concerns(&self, cpus: &CpuSet) -> bool {
        self.emptied()
            .numbers()
            .iter()
            .any(|&cpu| cpus.contains(cpu))
    }

    /// Adds a step, unless it would change nothing. Lists the failed ones among its checks.
    fn add(&mut self, id: &str, checks: &[&str], words: Words<'_>, actions: Vec<Action>) {
        if actions.is_empty() {
            return;
        }
        let answered = checks.iter().filter(|id| self.bad(id));
        self.steps.push(Step {
            id: id.to_owned(),
            checks: answered.map(|id| (*id).to_owned()).collect(),
            reason: words.reason.to_owned(),
            effect: words.effect.to_owned(),
            cost: words.cost.to_owned(),
            undo: words.undo.to_owned(),
            actions,
        });
    }
}
