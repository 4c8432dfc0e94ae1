//! Composition of the code between two instruction counts: callers and functions.

use super::cut::{Counted, Cut};
use super::fold::fold;
use super::symbols::Symbols;
use wakepath_explain::window::SymbolCount;

/// Composition of some code.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Within {
    /// The call stack when it began, the outermost function first.
    pub stack: Vec<String>,
    /// Its functions, the one with the most own instructions first.
    pub functions: Vec<SymbolCount>,
}

impl Within {
    /// The path to where most of it was spent: each function that at least half of all instructions
    /// belong to, those of its callees included, from its first function on.
    pub fn heaviest(&self) -> Vec<&str> {
        let (first, callers) = match self.stack.split_last() {
            Some((first, callers)) => (first.as_str(), callers),
            None => return Vec::new(),
        };
        let all: u64 = self.functions.iter().map(|one| one.own).sum();
        let is_caller = |name: &str| callers.iter().any(|caller| caller == name);
        let heavy = self.functions.iter().filter(|one| {
            one.with_callees * 2 >= all && one.symbol != first && !is_caller(&one.symbol)
        });
        let mut heavy: Vec<&SymbolCount> = heavy.collect();
        heavy.sort_by_key(|one| std::cmp::Reverse(one.with_callees));
        let names = heavy.into_iter().map(|one| one.symbol.as_str());
        std::iter::once(first).chain(names).collect()
    }
}

/// Composition of the code between two instruction counts. Earlier blocks give the callers.
pub fn within(counted: &Counted, from: u64, to: u64, symbols: &Symbols) -> Within {
    let mut count = counted.before;
    let (mut first, mut skipped, mut end, mut instructions) = (0, 0, 0, 0);
    for (index, block) in counted.blocks.iter().enumerate() {
        if count >= to {
            break;
        }
        if count <= from {
            (first, skipped) = (index, from - count);
            instructions = 0;
        }
        count += u64::from(block.executed);
        instructions += u64::from(block.executed);
        end = index + 1;
    }
    let cut = Cut {
        first,
        skipped,
        end,
        instructions: instructions - skipped.min(instructions),
        idle_ns: None,
        is_whole: counted.before <= from,
    };
    let folded = fold(counted, &cut, symbols);
    Within {
        stack: folded
            .stacks
            .into_iter()
            .next()
            .map(|stack| stack.frames)
            .unwrap_or_default(),
        functions: folded.symbols,
    }
}

#[cfg(test)]
mod tests {
    use super::super::block::{Block, Flow};
    use super::*;

    #[test]
    fn the_stack_is_that_at_the_beginning_and_what_comes_before_is_not_counted() {
        let symbols =
            "ffffffff81000000 T caller\nffffffff81000100 T callee\nffffffff81000200 T other\n";
        let symbols = Symbols::parse(symbols).unwrap();
        let at = |offset: u64| 0xffff_ffff_8100_0000 + offset;
        let block = |start: u64, length: u64, flow, target: u64| Block {
            start: at(start),
            end: at(start + length),
            target: at(target),
            executed: 10,
            flow,
        };
        let counted = Counted {
            before: 1_000,
            blocks: vec![
                block(0x00, 0x10, Flow::Call, 0x100),
                block(0x100, 0x10, Flow::Call, 0x200),
                block(0x200, 0x10, Flow::Return, 0),
                block(0x110, 0x10, Flow::Return, 0),
                block(0x10, 0x10, Flow::On, 0),
            ],
        };
        // From the fifth instruction of the callee's on, to the end of the other.
        let found = within(&counted, 1_014, 1_030, &symbols);
        assert_eq!(found.stack, ["caller", "callee"]);
        let own: Vec<(&str, u64)> = found
            .functions
            .iter()
            .map(|one| (one.symbol.as_str(), one.own))
            .collect();
        assert_eq!(own, [("other", 10), ("callee", 6), ("caller", 0)]);
        // 16 instructions in all: those of the caller before it don't count.
        assert_eq!(found.heaviest(), ["callee", "other"]);
        assert_eq!(Within::default().heaviest(), [""; 0]);
    }
}
