//! What made chains of threads late: each thread's part of every pass is explained as a loop's cycle is, due when the
//! thread was woken and done when it woke the next one.

use crate::cause::Cause;
use crate::cycle::Explained;
use crate::loop_thread::LoopThread;
use crate::watch::{Chain, Pass};
use std::collections::HashMap;
use wakepath_timeline::Sample;

/// What one cause took of the late passes of a chain, in one of its threads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LatePart {
    /// The thread, by its place in the chain.
    pub thread: usize,
    /// The cause, without what changes from one time to the next.
    pub cause: Cause,
    /// Late passes in which it had a part.
    pub passes: u64,
    /// Its time in them, in nanoseconds.
    pub ns: u64,
    /// Its largest time in one of them, in nanoseconds.
    pub worst_ns: u64,
}

/// Chains with late passes, on the way through an [`Explainer`](crate::Explainer).
#[derive(Debug)]
pub struct LateChains<'a> {
    chains: &'a [Chain],
    limits_ns: Vec<u64>,
    /// Chain and thread of each loop.
    loops: Vec<(usize, usize)>,
    sums: Vec<HashMap<(usize, Cause), Sum>>,
}

#[derive(Debug, Default)]
struct Sum {
    ns: u64,
    worst_ns: u64,
    /// Time in the pass that was added last.
    pass: Option<(u64, u64)>,
    passes: u64,
}

impl<'a> LateChains<'a> {
    /// Of these chains, with the limit of each in nanoseconds.
    pub fn new(chains: &'a [Chain], limit_ns: impl Fn(&Chain) -> u64) -> Self {
        let limits_ns: Vec<u64> = chains.iter().map(limit_ns).collect();
        let late = chains.iter().zip(&limits_ns).enumerate();
        let late = late.filter(|(_, (chain, limit_ns))| {
            let mut passes = chain.passes.iter();
            passes.any(|pass| pass.latency_ns() > **limit_ns)
        });
        let threads = |(at, (chain, _)): (usize, (&Chain, &u64))| {
            (0..chain.threads.len()).map(move |thread| (at, thread))
        };
        Self {
            chains,
            loops: late.flat_map(threads).collect(),
            sums: chains.iter().map(|_| HashMap::new()).collect(),
            limits_ns,
        }
    }

    /// The threads of chains with late passes, each with its part of every pass: the punctual ones show what is usual.
    pub fn to_explain(&self) -> Vec<LoopThread> {
        let loops = self.loops.iter();
        let loops = loops.map(|&(chain, thread)| {
            let chain = &self.chains[chain];
            let passes = (0..).zip(&chain.passes);
            LoopThread {
                thread: chain.threads[thread],
                samples: passes
                    .map(|(number, pass)| part_of(pass, thread, number))
                    .collect(),
                ..LoopThread::default()
            }
        });
        loops.collect()
    }

    /// Adds an explained part, by the number of its loop.
    pub fn add(&mut self, number: usize, part: &Explained) {
        let (chain, thread) = self.loops[number];
        let pass = part.sample.cycle;
        let found = usize::try_from(pass).ok();
        let found = found.and_then(|at| self.chains[chain].passes.get(at));
        if found.is_none_or(|found| found.latency_ns() <= self.limits_ns[chain]) {
            return;
        }
        let pieces = part.latency.iter().chain(&part.execution);
        for piece in pieces.filter(|piece| !piece.cause.is_usual()) {
            let cause = piece.cause.grouped();
            let sum = self.sums[chain].entry((thread, cause)).or_default();
            sum.add(pass, piece.ns());
        }
    }

    /// The parts of each chain's late passes, those with most time first.
    pub fn finish(self) -> Vec<Vec<LatePart>> {
        let of_chain = |sums: HashMap<(usize, Cause), Sum>| {
            let parts = sums.into_iter();
            let parts = parts.map(|((thread, cause), sum)| LatePart {
                thread,
                cause,
                passes: sum.passes,
                ns: sum.ns,
                worst_ns: sum.worst_ns,
            });
            let mut parts: Vec<LatePart> = parts.collect();
            parts.sort_by_cached_key(|of| {
                (std::cmp::Reverse(of.ns), of.thread, of.cause.to_string())
            });
            parts
        };
        self.sums.into_iter().map(of_chain).collect()
    }
}

impl Sum {
    fn add(&mut self, pass: u64, ns: u64) {
        let in_pass = match self.pass {
            Some((last, before)) if last == pass => before + ns,
            _ => {
                self.passes += 1;
                ns
            }
        };
        self.pass = Some((pass, in_pass));
        self.ns += ns;
        self.worst_ns = self.worst_ns.max(in_pass);
    }
}

/// A thread's part of a pass.
fn part_of(pass: &Pass, thread: usize, number: u64) -> Sample {
    let hop = pass.hops[thread];
    let wake_ns = hop.began_ns.max(hop.woken_ns);
    let next = pass.hops.get(thread + 1);
    Sample {
        cycle: number,
        due_ns: hop.woken_ns,
        wake_ns,
        end_ns: next.map_or(pass.end_ns, |next| next.woken_ns).max(wake_ns),
        ..Sample::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cause::RanIn;
    use crate::cycle::{Piece, Stretch, WokenBy};
    use crate::watch::Hop;

    /// Two threads; this pass is due at 0, wakes the second at 10, and ends then.
    fn pass(end_ns: u64) -> Pass {
        let hop = |woken_ns| Hop {
            woken_ns,
            began_ns: woken_ns + 1,
        };
        Pass {
            due_ns: 0,
            hops: vec![hop(0), hop(10)],
            end_ns,
            with_others: false,
        }
    }

    fn explained(pass: u64, pieces: &[(u64, Cause)]) -> Explained {
        let piece = |(ns, cause): &(u64, Cause)| Piece {
            from_ns: 0,
            to_ns: *ns,
            stretch: Stretch::Execution,
            cause: cause.clone(),
        };
        Explained {
            sample: Sample {
                cycle: pass,
                ..Sample::default()
            },
            woken: WokenBy::Direct,
            latency: Vec::new(),
            execution: pieces.iter().map(piece).collect(),
        }
    }

    #[test]
    fn causes_of_late_passes_are_summed_by_thread_and_those_of_others_left_out() {
        let chain = |ends: &[u64]| Chain {
            threads: vec![7, 8],
            period_ns: 100,
            begun: 3,
            passes: ends.iter().map(|end_ns| pass(*end_ns)).collect(),
        };
        let chains = [chain(&[20, 30]), chain(&[20, 300, 250])];
        let mut late = LateChains::new(&chains, |of| of.period_ns);
        let loops = late.to_explain();
        // The chain without a late pass is not explained.
        assert_eq!(
            [loops[0].thread, loops[1].thread, 2],
            [7, 8, loops.len() as u32]
        );
        let spans = loops.iter().map(|of| {
            let of = &of.samples[1];
            (of.cycle, of.due_ns, of.wake_ns, of.end_ns)
        });
        assert_eq!(spans.collect::<Vec<_>>(), [(1, 0, 1, 10), (1, 10, 11, 300)]);
        let code = Cause::UserCode(RanIn::NotRecorded);
        let stalled = Cause::NothingRan;
        late.add(1, &explained(0, &[(9, stalled.clone())]));
        late.add(0, &explained(1, &[(5, code.clone()), (3, Cause::OwnCode)]));
        late.add(1, &explained(1, &[(90, code.clone()), (20, code.clone())]));
        late.add(
            1,
            &explained(2, &[(100, code.clone()), (6, stalled.clone())]),
        );
        let parts = late.finish();
        assert_eq!(parts[0], []);
        let part = |thread, cause: &Cause, passes, ns, worst_ns| LatePart {
            thread,
            cause: cause.clone(),
            passes,
            ns,
            worst_ns,
        };
        let expected = [
            part(1, &code, 2, 210, 110),
            part(1, &stalled, 1, 6, 6),
            part(0, &code, 1, 5, 5),
        ];
        assert_eq!(parts[1], expected);
    }
}
