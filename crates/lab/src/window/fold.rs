//! Composition of a latency from executed blocks: call stacks, functions and stretches with their
//! instructions.

use super::block::Block;
use super::cut::{Counted, Cut};
use super::stack::Stack;
use super::stretches::Stretches;
use super::symbols::{Place, Symbols};
use std::collections::HashMap;
use wakepath_explain::Stretch;
use wakepath_explain::window::{StackCount, StretchCount, SymbolCount};

/// Composition of a latency.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Folded {
    /// Its stacks, in the order of first occurrence.
    pub stacks: Vec<StackCount>,
    /// Its functions, the one with the most own instructions first.
    pub symbols: Vec<SymbolCount>,
    /// Its stretches, in their order.
    pub stretches: Vec<StretchCount>,
    /// The code running when the cycle was due.
    pub when_due: Option<String>,
    /// Number of timers that woke a thread during the latency.
    pub wakings_by_timers: usize,
    /// Interrupts, exceptions and system calls during the latency.
    pub entered: u64,
    /// Returns that match no known call.
    pub unmatched: u64,
    /// Instructions of programs, and of the kernel if it has no symbols.
    pub user: u64,
    /// See `user`.
    pub nameless: u64,
}

/// Folds the part of the blocks in `cut`. Earlier blocks give the callers.
pub fn fold(counted: &Counted, cut: &Cut, symbols: &Symbols) -> Folded {
    let blocks = &counted.blocks[..cut.end];
    let own = &blocks[cut.first..];
    let stretches = Stretches::find(own, symbols);
    let mut stack = Stack::new(symbols);
    for block in &blocks[..cut.first] {
        stack.follow(*block);
    }
    (stack.unmatched, stack.entered) = (0, 0);
    let mut by_frame: Vec<(Stretch, usize, u64)> = Vec::new();
    let mut folded = Folded::default();
    let mut skipped = cut.skipped;
    for (index, block) in own.iter().enumerate() {
        let frame = stack.follow(*block);
        let executed = u64::from(block.executed).saturating_sub(std::mem::take(&mut skipped));
        let stretch = stretches.get(index);
        match by_frame.last_mut() {
            Some((at, of, count)) if (*at, *of) == (stretch, frame) => *count += executed,
            _ => by_frame.push((stretch, frame, executed)),
        }
        match symbols.place(block.start) {
            Place::User => folded.user += executed,
            Place::Nameless => folded.nameless += executed,
            Place::Kernel(..) => {}
        }
    }
    folded.when_due = own.first().map(|block| place_when_due(block, symbols));
    folded.wakings_by_timers = stretches.wakings_by_timers;
    (folded.unmatched, folded.entered) = (stack.unmatched, stack.entered);
    folded.stacks = stacks(&by_frame, &stack);
    folded.symbols = functions(&folded.stacks);
    folded.stretches = Stretch::OF_LATENCY
        .iter()
        .map(|stretch| StretchCount {
            stretch: stretch.to_string(),
            instructions: by_frame
                .iter()
                .filter(|(of, ..)| of == stretch)
                .map(|part| part.2)
                .sum(),
        })
        .filter(|count| count.instructions > 0)
        .collect();
    folded
}

fn place_when_due(block: &Block, symbols: &Symbols) -> String {
    symbols.place(block.start).name().to_owned()
}

fn stacks(by_frame: &[(Stretch, usize, u64)], stack: &Stack<'_>) -> Vec<StackCount> {
    let mut stacks: Vec<StackCount> = Vec::new();
    let mut known: HashMap<(Stretch, Vec<&str>), usize> = HashMap::new();
    for &(stretch, frame, instructions) in by_frame {
        let names = stack.names(frame);
        let index = *known
            .entry((stretch, names))
            .or_insert_with_key(|(_, names)| {
                stacks.push(StackCount {
                    stretch: stretch.to_string(),
                    frames: names.iter().map(|&name| name.to_owned()).collect(),
                    instructions: 0,
                });
                stacks.len() - 1
            });
        stacks[index].instructions += instructions;
    }
    stacks
}

fn functions(stacks: &[StackCount]) -> Vec<SymbolCount> {
    let mut counts: HashMap<&str, (u64, u64)> = HashMap::new();
    for stack in stacks {
        let Some((own, callers)) = stack.frames.split_last() else {
            continue;
        };
        let count = counts.entry(own).or_default();
        count.0 += stack.instructions;
        count.1 += stack.instructions;
        for (index, caller) in callers.iter().enumerate() {
            // A function that is on the stack twice is there once.
            if !stack.frames[index + 1..].contains(caller) {
                counts.entry(caller).or_default().1 += stack.instructions;
            }
        }
    }
    let count = |(symbol, (own, with_callees)): (&str, (u64, u64))| SymbolCount {
        symbol: symbol.to_owned(),
        own,
        with_callees,
    };
    let mut counts: Vec<SymbolCount> = counts.into_iter().map(count).collect();
    counts.sort_by(|a, b| {
        (b.own, b.with_callees, &a.symbol).cmp(&(a.own, a.with_callees, &b.symbol))
    });
    counts
}
