//! Constant-bandwidth servers among tasks under EDF on one CPU.
//!
//! Abeni and Buttazzo, "Integrating multimedia applications in hard real-time systems" (RTSS 1998): with
//! the wake-up rule, what a server of bandwidth U runs with deadlines within any stretch of t is at most
//! U · t. A budget that begins at a wake-up can be due after less than a period, so that the steps of a
//! sporadic task would count too little.

use super::demand::{DemandTask, Verdict, demand_holds_behind};
use crate::arithmetic::Share;
use crate::task::{Impossible, Reservation};

/// The kernel compares budgets and deadlines in units of 2¹⁰ ns (`DL_SCALE`).
const KERNEL_UNIT_NS: u64 = 1 << 10;

/// All servers of one CPU.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Servers {
    share: Share,
    /// By how much they can run more than U · t.
    beyond_ns: u64,
    count: u64,
}

impl Servers {
    /// Adds one. A kernel section at the end of its budget outlasts it.
    pub(crate) fn add(&mut self, server: &Reservation, section_ns: u64, by_kernel: bool) {
        let unit_ns = if by_kernel { KERNEL_UNIT_NS } else { 0 };
        // q < l · Q / (P − 2¹⁰) + 2¹⁰ where the kernel keeps budget q with l left to the deadline.
        let share = match server.period_ns.checked_sub(unit_ns) {
            None | Some(0) => Share::ONE.plus(Share::ONE),
            Some(period_ns) => Share::up(server.budget_ns, period_ns),
        };
        self.share = self.share.plus(share);
        let beyond_ns = unit_ns.saturating_add(section_ns);
        self.beyond_ns = self.beyond_ns.saturating_add(beyond_ns);
        self.count += 1;
    }

    pub(crate) fn any(&self) -> bool {
        self.count > 0
    }

    /// Σ dbf(t) + b + U · t ≤ t wherever a task has a deadline, which is the demand test with what the
    /// servers leave: dbf(t) / (1 − U) + b / (1 − U) ≤ t.
    ///
    /// # Errors
    /// [`Impossible::Overflow`].
    pub(crate) fn demand_holds(
        &self,
        tasks: &[DemandTask],
        section_ns: u64,
    ) -> Result<Verdict, Impossible> {
        if !self.any() {
            return Ok(demand_holds_behind(tasks, section_ns));
        }
        // Thirds are rounded up three times.
        let a_hair = Share::up(1, 1 << 50);
        if self.share > Share::ONE.plus(a_hair) {
            return Ok(Verdict::Unknown);
        }
        if tasks.is_empty() {
            return Ok(Verdict::Holds);
        }
        let left = Share::ONE.less(self.share);
        if left == Share::default() {
            return Ok(Verdict::Unknown);
        }
        let stretched: Result<Vec<DemandTask>, Impossible> = tasks
            .iter()
            .map(|task| {
                Ok(DemandTask {
                    execution_ns: left.divides_up(task.execution_ns)?,
                    // The servers' execution beyond U · t is added to any blocking.
                    blocks_ns: match task.blocks_ns {
                        0 => 0,
                        blocks_ns => left.divides_up(blocks_ns.saturating_add(self.beyond_ns))?,
                    },
                    ..*task
                })
            })
            .collect();
        let section_ns = left.divides_up(section_ns.saturating_add(self.beyond_ns))?;
        // One more, since blocking counts one less.
        let section_ns = section_ns.saturating_add(u64::from(section_ns > 0));
        Ok(demand_holds_behind(&stretched?, section_ns))
    }

    /// How long after its deadline a budget can end where the test holds: by the blocking that a budget
    /// due at once finds, and what servers run beyond U · t.
    pub(crate) fn late_ns(&self, tasks: &[DemandTask], section_ns: u64) -> u64 {
        let stretch_ns = tasks.iter().map(|task| task.blocks_ns).max().unwrap_or(0);
        let blocking_ns = stretch_ns.max(section_ns).saturating_sub(1);
        blocking_ns.saturating_add(self.beyond_ns)
    }
}
