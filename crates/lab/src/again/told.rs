//! From the blocks that the emulator noted to windows.

use super::error::{AgainError, NoBlocks};
use super::guest::Again;
use super::repeat::Repeated;
use super::wanted::Wanted;
use crate::window::fold;
use wakepath_explain::window::{Check, Window};

type Result<T> = std::result::Result<T, AgainError>;

/// From blocks to windows, the worst first in each condition.
pub(super) fn windows(again: &Again, wanted: &Wanted, repeated: &Repeated) -> Result<Vec<Window>> {
    let symbols = again.symbols_of(&repeated.symbols)?;
    let mut windows = Vec::new();
    for (number, (of, thread)) in wanted.loops.iter().zip(&wanted.threads).enumerate() {
        for &index in &of.wanted {
            let sample = &of.samples[index];
            let no_blocks = |why| AgainError::Blocks {
                segment: thread.segment,
                cycle: sample.cycle,
                why,
            };
            let kept = repeated.cycle(number, index).map_err(no_blocks)?;
            let ns = u64::from(again.ns_per_instruction);
            let latency_ns = u64::try_from(sample.latency_ns()).unwrap_or(0);
            let wake = kept.found.wake;
            let cut = kept.blocks.cut(wake.count, latency_ns, ns);
            let cut = cut.ok_or_else(|| no_blocks(NoBlocks::Short))?;
            let check = match (cut.idle_ns, kept.found.before) {
                (Some(difference_ns), _) => Check::SinceIdle { difference_ns },
                (None, Some(before)) if before.halts == wake.halts => {
                    let clock = sample.wake_ns.abs_diff(of.samples[index - 1].end_ns);
                    let counted = (wake.count - before.count) * ns;
                    Check::SinceTheCycleBefore {
                        difference_ns: clock as i64 - counted as i64,
                    }
                }
                _ => Check::CountedBack,
            };
            let folded = fold(&kept.blocks, &cut, &symbols);
            windows.push(Window {
                condition: thread.condition.clone(),
                phase: thread.phase.clone(),
                segment: thread.segment,
                thread: thread.thread,
                cycle: sample.cycle,
                latency_ns,
                ns_per_instruction: again.ns_per_instruction,
                instructions: cut.instructions,
                check,
                is_whole: cut.is_whole,
                when_due: folded.when_due.filter(|_| cut.idle_ns.is_none()),
                wakings_by_timers: folded.wakings_by_timers,
                entered: folded.entered,
                unmatched: folded.unmatched,
                user: folded.user,
                nameless: folded.nameless,
                stretches: folded.stretches,
                symbols: folded.symbols,
                stacks: folded.stacks,
            });
        }
    }
    Ok(windows)
}
