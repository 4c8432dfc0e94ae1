//! Finds the start and the end of a latency in the executed blocks.
//!
//! It ends with the reading of the clock. It starts as many instructions before as the latency has
//! nanoseconds, or when the CPU, idle until then, was woken.

use super::block::{Block, Flow};

/// Instructions before the due time at which an idle CPU can have been woken for it: some are
/// counted although a fault kept them from being executed.
const WOKEN_EARLIER: u64 = 64;

/// Blocks in the order of execution.
#[derive(Debug, Clone)]
pub struct Counted {
    /// Instructions executed before the first of them.
    pub before: u64,
    /// The blocks.
    pub blocks: Vec<Block>,
}

/// A latency's part of the blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cut {
    /// The first block of it.
    pub first: usize,
    /// Instructions of that block before the latency.
    pub skipped: u64,
    /// The block after its last one.
    pub end: usize,
    /// Instructions in it.
    pub instructions: u64,
    /// If the CPU was idle when the cycle was due: the latency minus its instructions, in virtual
    /// nanoseconds.
    pub idle_ns: Option<i64>,
    /// Whether the kept blocks reach back to the due time.
    pub is_whole: bool,
}

impl Counted {
    /// The part of a latency that ended when `wake` instructions were executed. `None` if the
    /// blocks don't reach until then.
    pub fn cut(&self, wake: u64, latency_ns: u64, ns_per_instruction: u64) -> Option<Cut> {
        let mut count = self.before;
        let mut end = 0;
        while count < wake {
            count += u64::from(self.blocks.get(end)?.executed);
            end += 1;
        }
        let wanted = latency_ns / ns_per_instruction.max(1);
        let mut first = end;
        let mut instructions = 0;
        // The first block that reaches back far enough, and the instructions since.
        let mut reached = None;
        while first > 0 {
            let block = self.blocks[first - 1];
            if block.flow == Flow::Halt {
                let counted = i64::try_from(instructions * ns_per_instruction).ok()?;
                return Some(Cut {
                    first,
                    skipped: 0,
                    end,
                    instructions,
                    idle_ns: Some(i64::try_from(latency_ns).ok()? - counted),
                    is_whole: true,
                });
            }
            if instructions >= wanted {
                reached.get_or_insert((first, instructions));
                if instructions > wanted + WOKEN_EARLIER {
                    break;
                }
            }
            first -= 1;
            instructions += u64::from(block.executed);
        }
        let (first, instructions) = reached.unwrap_or((first, instructions));
        let skipped = instructions.saturating_sub(wanted);
        Some(Cut {
            first,
            skipped,
            end,
            instructions: instructions - skipped,
            idle_ns: None,
            is_whole: instructions >= wanted,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn blocks(executed: &[u32], halted: Option<usize>) -> Counted {
        let block = |(index, &executed)| Block {
            start: 0xffff_ffff_8100_0000,
            end: 0xffff_ffff_8100_0010,
            target: 0,
            executed,
            flow: if halted == Some(index) {
                Flow::Halt
            } else {
                Flow::On
            },
        };
        Counted {
            before: 1_000,
            blocks: executed.iter().enumerate().map(block).collect(),
        }
    }

    #[test]
    fn a_busy_cpus_latency_is_as_many_instructions_back_as_it_has_nanoseconds() {
        // 1000 | 10 20 30 40 | wake | 50
        let counted = blocks(&[10, 20, 30, 40, 50], None);
        let cut = counted.cut(1_100, 75, 1).unwrap();
        assert_eq!((cut.first, cut.end), (1, 4));
        assert_eq!((cut.instructions, cut.skipped), (75, 15));
        assert!(cut.is_whole && cut.idle_ns.is_none());
        // Two nanoseconds an instruction: half as many.
        assert_eq!(counted.cut(1_100, 80, 2).unwrap().instructions, 40);
    }

    #[test]
    fn an_idle_cpus_latency_begins_where_it_was_woken() {
        let counted = blocks(&[10, 20, 30, 40], Some(1));
        let cut = counted.cut(1_100, 73, 1).unwrap();
        assert_eq!((cut.first, cut.instructions, cut.idle_ns), (2, 70, Some(3)));
        assert!(cut.is_whole);
        // One or two instructions more than the clock shows are still the same wake-up.
        let cut = counted.cut(1_100, 68, 1).unwrap();
        assert_eq!(
            (cut.first, cut.instructions, cut.idle_ns),
            (2, 70, Some(-2))
        );
    }

    #[test]
    fn what_does_not_reach_back_far_enough_says_so() {
        let counted = blocks(&[10, 20, 30, 40], None);
        let cut = counted.cut(1_100, 500, 1).unwrap();
        assert_eq!((cut.instructions, cut.is_whole), (100, false));
        assert_eq!(counted.cut(2_000, 10, 1), None, "not executed yet");
        assert_eq!(counted.cut(1_100, 0, 1).unwrap().instructions, 0);
    }
}
