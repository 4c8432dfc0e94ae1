//! Causes of the late passes of chains of threads: each thread's part of every pass is explained as a loop's cycle is,
//! due when the thread was woken and done when it woke the next one.

use crate::cause::Cause;
use crate::cycle::{Explained, Piece};
use crate::loop_thread::LoopThread;
use crate::once::Once;
use crate::ranked::ranked;
use crate::summary::CauseFigures;
use crate::totals::{CauseSum, Counted, add_causes};
use crate::watch::{Chain, Pass};
use foldhash::{HashMap, HashMapExt};
use wakepath_timeline::Sample;

/// Chains with late passes, on the way through an [`Explainer`](crate::Explainer).
#[derive(Debug)]
pub struct LateChains<'a> {
    chains: &'a [Chain],
    limits_ns: Vec<u64>,
    loops: Vec<Part>,
}

/// A thread's part in the passes of a chain.
#[derive(Debug)]
struct Part {
    chain: usize,
    thread: usize,
    late: HashMap<Cause, CauseSum>,
    counted: Once,
}

impl<'a> LateChains<'a> {
    /// Of these chains, with the limit of each in nanoseconds.
    pub fn new(chains: &'a [Chain], limit_ns: impl Fn(&Chain) -> u64) -> Self {
        let limits_ns: Vec<u64> = chains.iter().map(limit_ns).collect();
        let mut loops = Vec::new();
        for (at, (chain, limit_ns)) in chains.iter().zip(&limits_ns).enumerate() {
            let mut passes = chain.passes.iter();
            if passes.any(|pass| pass.latency_ns() > *limit_ns) {
                loops.extend((0..chain.threads.len()).map(|thread| Part {
                    chain: at,
                    thread,
                    late: HashMap::new(),
                    counted: Once::default(),
                }));
            }
        }
        Self {
            chains,
            limits_ns,
            loops,
        }
    }

    /// The threads of chains with late passes, each with its part of every pass: the punctual ones show what is usual.
    pub fn to_explain(&self) -> Vec<LoopThread> {
        let loops = self.loops.iter();
        let loops = loops.map(|part| {
            let chain = &self.chains[part.chain];
            // The time of merged ones is that of the one before.
            let passes = (0..).zip(&chain.passes).filter(|(_, of)| !of.is_merged);
            let samples = passes.map(|(number, pass)| part_of(pass, part.thread, number));
            LoopThread {
                thread: chain.threads[part.thread],
                samples: samples.collect(),
                ..LoopThread::default()
            }
        });
        loops.collect()
    }

    /// Adds an explained part, by the number of its loop.
    pub fn add(&mut self, number: usize, explained: &Explained) {
        let part = &mut self.loops[number];
        let pass = explained.sample.cycle;
        let found = usize::try_from(pass).ok();
        let found = found.and_then(|at| self.chains[part.chain].passes.get(at));
        if found.is_none_or(|found| found.latency_ns() <= self.limits_ns[part.chain]) {
            return;
        }
        let pieces = explained.latency.iter().chain(&explained.execution);
        let pieces = pieces.filter(|piece| !piece.cause.is_usual());
        let pieces: Vec<Piece> = pieces.cloned().map(on_its_own).collect();
        let counted = part.counted.take(&pieces);
        let counted = Counted {
            all: &counted,
            late: Some(&counted),
        };
        add_causes(&mut part.late, &pieces, &counted, pass);
    }

    /// The causes of each chain's late passes, those with most time first, with the thread by its place in the chain.
    /// A cycle of these figures is a pass.
    pub fn finish(self) -> Vec<Vec<(usize, CauseFigures)>> {
        let causes = |part: &Part| -> Vec<CauseFigures> {
            let causes = ranked(&part.late, None).into_iter().rev();
            causes.map(|of| of.figures).collect()
        };
        let of_chain = |chain: usize| {
            let parts = self.loops.iter().filter(|part| part.chain == chain);
            merged(parts.map(causes).collect())
        };
        (0..self.chains.len()).map(of_chain).collect()
    }
}

/// The causes of several threads, each with the most time last, as one list with the most time first.
fn merged(mut threads: Vec<Vec<CauseFigures>>) -> Vec<(usize, CauseFigures)> {
    let mut all = Vec::new();
    loop {
        let next = threads.iter_mut().enumerate();
        let next = next.max_by_key(|(_, causes)| causes.last().map(|of| of.late_ns));
        let Some((thread, Some(cause))) = next.map(|(thread, causes)| (thread, causes.pop()))
        else {
            return all;
        };
        all.push((thread, cause));
    }
}

/// A piece of a pass that waited behind another, as what held up that one.
fn on_its_own(piece: Piece) -> Piece {
    match piece.cause {
        Cause::Overrun(because) if !because.is_usual() => on_its_own(Piece {
            cause: *because,
            ..piece
        }),
        _ => piece,
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
    use crate::cycle::{Stretch, WokenBy};
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
            earliest_end_ns: end_ns,
            with_others: false,
            is_merged: false,
        }
    }

    fn explained(pass: u64, pieces: &[(u64, Cause)]) -> Explained {
        // One after the other, those of the next pass when these are done.
        let mut at_ns = pass * 1_000;
        let piece = |(ns, cause): &(u64, Cause)| {
            let from_ns = at_ns;
            at_ns += ns;
            Piece {
                from_ns,
                to_ns: at_ns,
                stretch: Stretch::Execution,
                cause: cause.clone(),
            }
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
            with_queued: true,
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
        let found = parts[1].iter().map(|(thread, of)| {
            let figures = (of.late_cycles, of.late_ns, of.late_worst_ns);
            (*thread, of.cause.clone(), figures)
        });
        let [code, stalled] = [code, stalled].map(|of| of.to_string());
        let expected = [
            (1, code.clone(), (2, 210, 110)),
            (1, stalled, (1, 6, 6)),
            (0, code, (1, 5, 5)),
        ];
        assert_eq!(found.collect::<Vec<_>>(), expected);
    }
}
