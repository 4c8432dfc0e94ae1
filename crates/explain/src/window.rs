//! The windows of a run, kept in a file next to it: the instructions that a latency consists of, and the
//! functions and stretches that they belong to. The laboratory finds them.

use serde::{Deserialize, Serialize};
use std::fmt::Write;

/// The windows of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Windows {
    /// Version of this form.
    pub version: u32,
    /// The windows, by segment, thread and cycle.
    pub windows: Vec<Window>,
}

impl Windows {
    /// The version that this program writes, and the newest that it reads.
    pub const VERSION: u32 = 1;
    /// Name of the file in the run directory.
    pub const FILE_NAME: &str = "windows.json";

    /// The windows of two occasions; of one cycle the newer.
    pub fn with(mut self, newer: Vec<Window>) -> Self {
        let same = |window: &Window| newer.iter().any(|other| other.place() == window.place());
        self.windows.retain(|window| !same(window));
        self.windows.extend(newer);
        self.windows.sort_by_cached_key(Window::place);
        self
    }
}

impl Default for Windows {
    fn default() -> Self {
        Self {
            version: Self::VERSION,
            windows: Vec::new(),
        }
    }
}

/// The instructions of one latency.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Window {
    /// Condition, phase and thread, as tables call them.
    pub condition: String,
    /// Phase.
    pub phase: String,
    /// Segment of the run.
    pub segment: u32,
    /// Thread of the segment.
    pub thread: u16,
    /// Cycle.
    pub cycle: u64,
    /// Its wake-up latency in virtual nanoseconds.
    pub latency_ns: u64,
    /// Virtual nanoseconds that pass with each instruction.
    pub ns_per_instruction: u32,
    /// Instructions in the window.
    pub instructions: u64,
    /// How that was held against the guest's clock.
    pub check: Check,
    /// Whether the window reaches back to the due time; the emulator keeps a limited number of blocks.
    pub is_whole: bool,
    /// The function that was under way when the cycle was due; none where the CPU was idle.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub when_due: Option<String>,
    /// Threads that timers woke in it: the first is taken for the loop's.
    pub wakings_by_timers: usize,
    /// Interrupts, exceptions and system calls in it.
    pub entered: u64,
    /// Returns that no call was known for: their stacks may be cut short.
    pub unmatched: u64,
    /// Instructions of programs.
    pub user: u64,
    /// Instructions of the kernel without a symbol.
    pub nameless: u64,
    /// The stretches, in their order.
    pub stretches: Vec<StretchCount>,
    /// The functions, the one with the most instructions first.
    pub symbols: Vec<SymbolCount>,
    /// The call stacks, in the order in which each came first.
    pub stacks: Vec<StackCount>,
}

/// What shows that the instructions of a window are those of its latency.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "how", rename_all = "kebab-case")]
pub enum Check {
    /// The CPU was idle until it was due: the instructions since it was woken.
    SinceIdle {
        /// The guest's clock, less the instructions, in virtual nanoseconds.
        difference_ns: i64,
    },
    /// The CPU was busy since the end of the cycle before: the instructions since then.
    SinceTheCycleBefore {
        /// The guest's clock, less the instructions, in virtual nanoseconds.
        difference_ns: i64,
    },
    /// The CPU slept and was busy again when it was due: counted backwards from the loop's reading of
    /// the clock, and held against nothing.
    CountedBack,
}

impl Window {
    fn place(&self) -> (u32, u16, u64) {
        (self.segment, self.thread, self.cycle)
    }

    /// The stacks in the form that flamegraph.pl and speedscope read: frames parted by semicolons,
    /// the stretch first, then the count.
    pub fn folded(&self) -> String {
        let plain = |frame: &str| frame.replace([';', '\n'], "_");
        let mut text = String::new();
        for stack in &self.stacks {
            let frames = std::iter::once(&stack.stretch).chain(&stack.frames);
            let frames: Vec<String> = frames.map(|frame| plain(frame)).collect();
            let _ = writeln!(text, "{} {}", frames.join(";"), stack.instructions);
        }
        text
    }
}

/// Instructions of a stretch.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StretchCount {
    /// Its name, that of an explanation.
    pub stretch: String,
    /// Instructions.
    pub instructions: u64,
}

/// Instructions of a function.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SymbolCount {
    /// Its name.
    pub symbol: String,
    /// Its own instructions.
    pub own: u64,
    /// Those of what it called included.
    pub with_callees: u64,
}

/// Instructions of a call stack.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StackCount {
    /// The stretch that they are in.
    pub stretch: String,
    /// From the outermost function to the innermost.
    pub frames: Vec<String>,
    /// Instructions of the innermost.
    pub instructions: u64,
}
