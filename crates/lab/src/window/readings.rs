//! Readings of the clock by user code, matched with a sample's times.
//!
//! The number of instructions between two readings is the time, unless the CPU slept.

use wakepath_timeline::Sample;

/// A reading of the clock by user code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mark {
    /// Instructions executed until then.
    pub count: u64,
    /// How often the CPU had halted until then.
    pub halts: u64,
    /// Instructions executed when it last did.
    pub count_at_halt: u64,
    /// Address of the instruction that read the clock: another one in each process.
    pub address: u64,
}

/// How instructions become time.
#[derive(Debug, Clone, Copy)]
pub struct Clock {
    /// Virtual nanoseconds for each instruction.
    pub ns_per_instruction: u64,
    /// The smallest step of the guest's clock in nanoseconds.
    pub granularity_ns: u64,
}

/// Whether a reading is the one that a sample names.
pub(super) enum Fit {
    Yes,
    /// It could be the one before that.
    Earlier,
    No,
}

/// Instructions by which an idle CPU can fall short of the latency: the resolution of its timer.
const IDLE_SLACK: u64 = 2_000;

/// Instructions of a timer's step, and a little more.
const TIMER_STEP: u64 = 128;

impl Clock {
    /// Whether `mark` can be the first reading of that sample's cycle.
    pub(super) fn wakes(
        self,
        samples: &[Sample],
        sample: usize,
        end: Option<Mark>,
        mark: Mark,
    ) -> Fit {
        let Some(this) = samples.get(sample) else {
            return Fit::No;
        };
        if let Some(end) = end {
            let gap = this.wake_ns.saturating_sub(samples[sample - 1].end_ns);
            let fit = self.lasts(end, mark, gap);
            let slept = end.halts != mark.halts;
            if !slept || matches!(fit, Fit::No) {
                return fit;
            }
        }
        let Ok(latency) = u64::try_from(this.latency_ns()) else {
            return Fit::Yes;
        };
        // Since it last slept the CPU has executed at least the latency's instructions.
        let awake = (mark.count - mark.count_at_halt) * self.ns_per_instruction;
        let slack = IDLE_SLACK * self.ns_per_instruction;
        if awake + slack >= latency {
            Fit::Yes
        } else {
            Fit::Earlier
        }
    }

    /// Whether a wake-up's instructions are its latency, or those since the cycle before the time
    /// since then. A trail that is a cycle off fits most samples, but not like this.
    pub(super) fn agrees(
        self,
        samples: &[Sample],
        sample: usize,
        end: Option<Mark>,
        mark: Mark,
    ) -> bool {
        let this = &samples[sample];
        let ns = self.ns_per_instruction;
        match end.filter(|end| end.halts == mark.halts) {
            Some(end) => {
                let gap = this.wake_ns.saturating_sub(samples[sample - 1].end_ns);
                gap.abs_diff((mark.count - end.count) * ns) <= TIMER_STEP * ns
            }
            None => {
                let awake = (mark.count - mark.count_at_halt) * ns;
                u64::try_from(this.latency_ns())
                    .is_ok_and(|latency| latency.abs_diff(awake) <= TIMER_STEP * ns)
            }
        }
    }

    /// Whether `ns` passed between two readings.
    pub(super) fn lasts(self, from: Mark, to: Mark, ns: u64) -> Fit {
        let counted = to.count.saturating_sub(from.count) * self.ns_per_instruction;
        // The guest's clock counts its own nanoseconds, not quite the emulator's; an instruction that
        // faults is counted twice.
        let unsure = 2 * self.ns_per_instruction + 2 + self.granularity_ns;
        let (least, most) = (
            ns.saturating_sub(unsure + ns / 20_000),
            ns + unsure + ns / 50 + 64 * self.ns_per_instruction,
        );
        let slept = from.halts != to.halts;
        match counted {
            counted if counted > most => Fit::No,
            counted if counted < least && !slept => Fit::Earlier,
            _ => Fit::Yes,
        }
    }
}
