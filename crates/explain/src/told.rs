//! A user's loop's own log of one of its cycles, combined with the kernel's events: the section that was
//! long, and the causes in it. Pure.

use crate::late_cycle::{LateCycle, LatePiece};
use serde::{Deserialize, Serialize};

/// A section that ran in a cycle.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LateSection {
    /// Its name.
    pub name: String,
    /// Begin after the due time, in nanoseconds.
    pub from_ns: u64,
    /// Length in nanoseconds.
    pub ns: u64,
    /// The longest that it should take, in nanoseconds; `None` without a budget.
    pub budget_ns: Option<u64>,
    /// What ran in it instead of the loop, the longest first.
    pub instead: Vec<LatePiece>,
}

/// A line or a value that the loop logged in a cycle.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LateLine {
    /// When, after the due time, in nanoseconds.
    pub from_ns: u64,
    /// The line; a value as `height = 1.5`.
    pub text: String,
}

impl LateSection {
    /// A section from one instant to another, in nanoseconds on `CLOCK_MONOTONIC`, with what ran in it instead.
    pub fn new(
        cycle: &LateCycle,
        name: String,
        (from_ns, to_ns): (u64, u64),
        budget_ns: Option<u64>,
    ) -> Self {
        let from_ns = from_ns.saturating_sub(cycle.due_ns);
        let to_ns = to_ns.saturating_sub(cycle.due_ns).max(from_ns);
        let mut instead: Vec<LatePiece> = Vec::new();
        let foreign = |piece: &&LatePiece| !is_own(piece);
        for piece in cycle.execution.iter().filter(foreign) {
            let end_ns = (piece.from_ns + piece.ns).min(to_ns);
            let begin_ns = piece.from_ns.max(from_ns);
            let Some(ns) = end_ns.checked_sub(begin_ns).filter(|&ns| ns > 0) else {
                continue;
            };
            match instead.iter_mut().find(|of| of.cause == piece.cause) {
                Some(known) => known.ns += ns,
                None => instead.push(LatePiece {
                    from_ns: begin_ns,
                    ns,
                    ..piece.clone()
                }),
            }
        }
        instead.sort_by_cached_key(|piece| std::cmp::Reverse(piece.ns));
        Self {
            name,
            from_ns,
            ns: to_ns - from_ns,
            budget_ns,
            instead,
        }
    }

    /// Time in which something else ran, in nanoseconds.
    pub fn instead_ns(&self) -> u64 {
        self.instead.iter().map(|piece| piece.ns).sum()
    }

    /// As a person reads it: "inner: thread hog-7 (FIFO/RR 50) 1.20 ms" without the section's own length.
    pub fn why(&self, time: impl Fn(u64) -> String) -> String {
        let over = match self.budget_ns {
            Some(budget_ns) if self.ns > budget_ns => {
                format!(", over its budget of {}", time(budget_ns))
            }
            _ => String::new(),
        };
        let ran: Vec<String> = self
            .instead
            .iter()
            .take(2)
            .map(|piece| format!("{} {}", piece.cause, time(piece.ns)))
            .collect();
        match (ran.is_empty(), self.ns) {
            (true, _) => format!("section {}{over}: the loop's own code", self.name),
            (false, _) => format!("section {}{over}: {}", self.name, ran.join(", ")),
        }
    }
}

/// Whether it is the loop's own work, and nothing ran instead.
fn is_own(piece: &LatePiece) -> bool {
    matches!(&*piece.kind, "own-code" | "own-inflation" | "user-code")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn piece(kind: &str, cause: &str, from_ns: u64, ns: u64) -> LatePiece {
        LatePiece {
            stretch: "execution".into(),
            kind: kind.into(),
            cause: cause.into(),
            from_ns,
            ns,
            stack: None,
            behind: None,
        }
    }

    #[test]
    fn what_ran_in_a_section_is_cut_at_its_ends() {
        let cycle = LateCycle {
            segment: 0,
            cycle: 7,
            due_ns: 1_000_000,
            latency_ns: 10_000,
            execution_ns: 300_000,
            woken: "direct".into(),
            shares: Vec::new(),
            pieces: Vec::new(),
            execution: vec![
                piece("own-code", "the loop's own work", 10_000, 40_000),
                piece("thread", "hog", 50_000, 100_000),
                piece("own-code", "the loop's own work", 150_000, 50_000),
                piece("softirq", "NET_RX", 200_000, 30_000),
                piece("thread", "hog", 230_000, 20_000),
            ],
            sections: Vec::new(),
            said: Vec::new(),
        };
        let part = |from_ns: u64, to_ns: u64| {
            LateSection::new(
                &cycle,
                "read".into(),
                (1_000_000 + from_ns, 1_000_000 + to_ns),
                Some(60_000),
            )
        };
        let first = part(100_000, 240_000);
        let instead: Vec<(&str, u64)> =
            first.instead.iter().map(|of| (&*of.cause, of.ns)).collect();
        assert_eq!(instead, [("hog", 60_000), ("NET_RX", 30_000)]);
        assert_eq!(
            (first.from_ns, first.ns, first.instead_ns()),
            (100_000, 140_000, 90_000)
        );
        let why = first.why(|ns| format!("{ns} ns"));
        assert_eq!(
            why,
            "section read, over its budget of 60000 ns: hog 60000 ns, NET_RX 30000 ns"
        );
        assert!(part(150_000, 200_000).instead.is_empty());
    }
}
