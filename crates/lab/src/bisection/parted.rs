//! Compares two windows function by function, to locate the growth.
//!
//! Pure.

use std::collections::BTreeMap;
use wakepath_explain::window::Window;

/// A function's instructions in two windows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parted {
    /// Its name.
    pub function: String,
    /// Its own instructions in the good window.
    pub good: u64,
    /// And in the bad one.
    pub bad: u64,
}

/// The functions whose own instructions differ, those that grew most first.
pub fn parted(good: &Window, bad: &Window) -> Vec<Parted> {
    let mut all: BTreeMap<&str, (u64, u64)> = BTreeMap::new();
    for symbol in &good.symbols {
        all.entry(&symbol.symbol).or_default().0 += symbol.own;
    }
    for symbol in &bad.symbols {
        all.entry(&symbol.symbol).or_default().1 += symbol.own;
    }
    let differ = all.into_iter().filter(|(_, (good, bad))| good != bad);
    let mut found: Vec<Parted> = differ
        .map(|(function, (good, bad))| Parted {
            function: function.to_owned(),
            good,
            bad,
        })
        .collect();
    found.sort_by_key(|one| one.good as i64 - one.bad as i64);
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use wakepath_explain::window::{Check, SymbolCount};

    fn window(symbols: &[(&str, u64)]) -> Window {
        let symbols = symbols.iter().map(|(symbol, own)| SymbolCount {
            symbol: (*symbol).into(),
            own: *own,
            with_callees: *own,
        });
        Window {
            condition: "FIFO 80".into(),
            phase: "idle".into(),
            segment: 0,
            thread: 0,
            cycle: 1,
            latency_ns: 0,
            ns_per_instruction: 1,
            instructions: 0,
            check: Check::CountedBack,
            is_whole: true,
            when_due: None,
            wakings_by_timers: 1,
            entered: 0,
            unmatched: 0,
            user: 0,
            nameless: 0,
            stretches: Vec::new(),
            symbols: symbols.collect(),
            stacks: Vec::new(),
        }
    }

    #[test]
    fn what_grew_comes_first_and_what_is_the_same_is_left_out() {
        let good = window(&[("schedule", 40), ("same", 7), ("gone", 30), ("grown", 10)]);
        let bad = window(&[("schedule", 41), ("same", 7), ("grown", 90), ("new", 50)]);
        let found = parted(&good, &bad);
        let found: Vec<_> = found
            .iter()
            .map(|one| (one.function.as_str(), one.good, one.bad))
            .collect();
        assert_eq!(
            found,
            [
                ("grown", 10, 90),
                ("new", 0, 50),
                ("schedule", 40, 41),
                ("gone", 30, 0)
            ]
        );
    }
}
