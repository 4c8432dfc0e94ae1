//! Divides a latency into stretches by the kernel functions that were executed.
//!
//! They are the stretches that an explanation derives from kernel events.

use super::block::Block;
use super::symbols::{Place, Symbols};
use wakepath_explain::Stretch;

/// Entry points of timer interrupts, on x86-64; on aarch64 all interrupts share one.
fn is_timer_interrupt(place: &Place<'_>) -> bool {
    matches!(place.name(), "asm_sysvec_apic_timer_interrupt") || place.name() == "vectors"
}

/// Starts of the stretches of a latency: indices of blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Stretches {
    interrupt: Option<usize>,
    expiry: Option<usize>,
    waking: Option<usize>,
    switch: Option<usize>,
    /// Timers that woke a thread in the latency.
    pub(crate) wakings_by_timers: usize,
}

impl Stretches {
    /// Finds them in `blocks`, the latency's own.
    pub(crate) fn find(blocks: &[Block], symbols: &Symbols) -> Self {
        let mut found = Self::default();
        let mut interrupt = None;
        for (index, block) in blocks.iter().enumerate() {
            let place = symbols.place(block.start);
            let enters = |name: &str| place == Place::Kernel(name, 0);
            if is_timer_interrupt(&place) && (place.is_entry() || place.name() == "vectors") {
                interrupt = Some(index);
            } else if enters("hrtimer_wakeup") {
                found.wakings_by_timers += 1;
                // The loop's timer runs at the first interrupt after its due time; later interrupts
                // aren't the loop's.
                if found.expiry.is_none() {
                    (found.expiry, found.interrupt) = (Some(index), interrupt);
                }
            } else if enters("try_to_wake_up") && found.expiry.is_some() {
                found.waking.get_or_insert(index);
            } else if enters("__switch_to_asm") || enters("cpu_switch_to") {
                found.switch = Some(index);
            }
        }
        // A switch before the waking is another thread's.
        found.switch = found
            .switch
            .filter(|at| found.waking.is_none_or(|waking| waking < *at));
        found
    }

    /// The stretch that a block belongs to.
    pub(crate) fn get(&self, index: usize) -> Stretch {
        let begun = |at: Option<usize>| at.is_some_and(|at| at <= index);
        if self.expiry.is_none() {
            return Stretch::NotAsleep;
        }
        match () {
            () if begun(self.switch) => Stretch::SwitchToUser,
            () if begun(self.waking) => Stretch::WakingToSwitch,
            () if begun(self.expiry) => Stretch::ExpiryToWaking,
            () if begun(self.interrupt) => Stretch::InterruptToExpiry,
            () => Stretch::DueToInterrupt,
        }
    }
}
