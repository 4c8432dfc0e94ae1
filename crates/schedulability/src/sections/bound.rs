//! A bound on the scheduling latency of the highest-priority thread, composed of the longest stretches of
//! kernel code that keep it from running, wherever they were seen: nobody has to have waited just then.
//!
//! de Oliveira, Casini, de Oliveira and Cucinotta, "Demystifying the real-time Linux scheduling
//! latency" (ECRTS 2020), theorem 8. Sound for stretches as long as given; one that never ran is in
//! none of them.

use crate::arithmetic::against_one;
use std::cmp::Ordering;

/// The longest stretches, in nanoseconds, what interrupts take of them left out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sections {
    /// Preemption or interrupts off, by other code than the scheduler's own call (D_POID).
    pub preemption_off_ns: u64,
    /// Both on, between the end of an off section and the call of the scheduler (D_PAIE).
    pub before_scheduler_ns: u64,
    /// Preemption off to call the scheduler, until it returns (D_PSD).
    pub scheduler_ns: u64,
    /// Within that, from interrupts masked for the switch to preemption on again (D_ST).
    pub switch_ns: u64,
    /// From the scheduler's return to the thread's first instruction: not part of the theorem, whose
    /// latency ends at the return; 0 if that latency is the one bounded.
    pub after_scheduler_ns: u64,
    /// Interrupts, non-maskable ones among them.
    pub interrupts: Vec<Interrupting>,
}

/// An interrupt that lengthens all of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Interrupting {
    /// Its name.
    pub name: String,
    /// The longest, in nanoseconds.
    pub longest_ns: u64,
    /// The shortest time from one to the next, in nanoseconds, above 0; `None`: it comes once in any
    /// window that matters.
    pub distance_ns: Option<u64>,
}

/// A latency bound with what it consists of. Times in nanoseconds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SectionsBound {
    /// The bound.
    pub latency_ns: u64,
    /// The longer of preemption off and the switch: a thread waits for one of them.
    pub waited_ns: u64,
    /// Between that and the scheduler.
    pub before_scheduler_ns: u64,
    /// The scheduler.
    pub scheduler_ns: u64,
    /// The way back.
    pub after_scheduler_ns: u64,
    /// For each interrupt how often it comes, and what that takes.
    pub interrupts: Vec<(u64, u64)>,
}

/// Why sections make no bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NoSectionsBound {
    /// Interrupts take all of the CPU.
    #[error(
        "the interrupts alone take the whole CPU; give their smallest distances, seen in a longer run"
    )]
    Overload,
    /// No end within 64 bits of nanoseconds.
    #[error("the sections add up to more than 584 years; give shorter ones")]
    TooLong,
}

impl Sections {
    /// The least L > 0 with L = max(D_ST, D_POID) + D_PAIE + D_PSD + the way back + I(L), I the interrupts
    /// that can come in a window of L.
    ///
    /// # Errors
    /// [`NoSectionsBound`].
    pub fn latency_bound(&self) -> Result<SectionsBound, NoSectionsBound> {
        let sporadic = self.interrupts.iter();
        let shares = sporadic.filter_map(|one| Some((one.longest_ns, one.distance_ns?.max(1))));
        if against_one(shares) != Ordering::Less {
            return Err(NoSectionsBound::Overload);
        }
        let waited_ns = self.preemption_off_ns.max(self.switch_ns);
        let own_ns = waited_ns
            .checked_add(self.before_scheduler_ns)
            .and_then(|ns| ns.checked_add(self.scheduler_ns))
            .and_then(|ns| ns.checked_add(self.after_scheduler_ns))
            .ok_or(NoSectionsBound::TooLong)?;
        let mut window_ns = own_ns.max(1);
        loop {
            let (interrupts, taken_ns) = self.within(window_ns).ok_or(NoSectionsBound::TooLong)?;
            let next_ns = own_ns
                .checked_add(taken_ns)
                .ok_or(NoSectionsBound::TooLong)?;
            if next_ns <= window_ns {
                return Ok(SectionsBound {
                    latency_ns: next_ns,
                    waited_ns,
                    before_scheduler_ns: self.before_scheduler_ns,
                    scheduler_ns: self.scheduler_ns,
                    after_scheduler_ns: self.after_scheduler_ns,
                    interrupts,
                });
            }
            window_ns = next_ns;
        }
    }

    /// For each interrupt how often it comes in a window and what that takes; the sum of it.
    fn within(&self, window_ns: u64) -> Option<(Vec<(u64, u64)>, u64)> {
        let mut taken_ns = 0_u64;
        let mut found = Vec::with_capacity(self.interrupts.len());
        for one in &self.interrupts {
            let count = one
                .distance_ns
                .map_or(1, |ns| window_ns.div_ceil(ns.max(1)));
            let takes_ns = count.checked_mul(one.longest_ns)?;
            taken_ns = taken_ns.checked_add(takes_ns)?;
            found.push((count, takes_ns));
        }
        Some((found, taken_ns))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn interrupt(longest_ns: u64, distance_ns: Option<u64>) -> Interrupting {
        Interrupting {
            name: "timer".into(),
            longest_ns,
            distance_ns,
        }
    }

    fn sections(interrupts: Vec<Interrupting>) -> Sections {
        Sections {
            preemption_off_ns: 60,
            before_scheduler_ns: 2,
            scheduler_ns: 10,
            switch_ns: 4,
            after_scheduler_ns: 0,
            interrupts,
        }
    }

    #[test]
    fn it_is_the_least_solution_worked_out_by_hand() {
        let alone = sections(Vec::new()).latency_bound().unwrap();
        assert_eq!((alone.latency_ns, alone.waited_ns), (72, 60));
        // 72 + 1·5 + ⌈77/50⌉·12 = 101 → ⌈101/50⌉ = 3 → 113 → 3 → 113.
        let interrupts = vec![interrupt(5, None), interrupt(12, Some(50))];
        let found = sections(interrupts).latency_bound().unwrap();
        assert_eq!(found.latency_ns, 113);
        assert_eq!(found.interrupts, [(1, 5), (3, 36)]);
        // The way back comes on top, for interrupts too.
        let back = Sections {
            after_scheduler_ns: 3,
            ..sections(vec![interrupt(12, Some(73))])
        };
        assert_eq!(
            back.latency_bound().unwrap().latency_ns,
            60 + 2 + 10 + 3 + 2 * 12
        );
        // A tail of the switch that is longer than any other section is what is waited for.
        let tail = Sections {
            switch_ns: 90,
            ..sections(Vec::new())
        };
        assert_eq!(tail.latency_bound().unwrap().latency_ns, 102);
    }

    #[test]
    fn what_has_no_bound_is_refused() {
        let full = sections(vec![interrupt(30, Some(50)), interrupt(20, Some(50))]);
        assert_eq!(full.latency_bound(), Err(NoSectionsBound::Overload));
        let long = Sections {
            scheduler_ns: u64::MAX,
            ..sections(Vec::new())
        };
        assert_eq!(long.latency_bound(), Err(NoSectionsBound::TooLong));
    }
}
