//! The verdicts on a service's history.

use super::{LoopSummary, Summary};
use wakepath_scenario::Criterion;
use wakepath_verdict::{ConditionName, DueTally, Judgement, Reason, judge_so_far};

/// A condition's verdict so far, and the loops that it is on.
#[derive(Debug, Clone, PartialEq)]
pub struct JudgedLoops {
    /// The verdict.
    pub judgement: Judgement,
    /// Its criterion; `None` if the requested one doesn't fit the loop.
    pub criterion: Option<Criterion>,
    /// Names of the loops.
    pub loops: Vec<String>,
}

impl Summary {
    /// The verdict on every condition, over all of its loops' counts.
    pub fn judged(&self) -> Vec<JudgedLoops> {
        let mut conditions: Vec<(&ConditionName, Vec<(&String, &LoopSummary)>)> = Vec::new();
        for (name, of) in &self.loops {
            let known = conditions.iter_mut().find(|(condition, loops)| {
                **condition == of.condition && loops[0].1.criterion == of.criterion
            });
            match known {
                Some((_, loops)) => loops.push((name, of)),
                None => conditions.push((&of.condition, vec![(name, of)])),
            }
        }
        let judged = |(condition, loops): (&ConditionName, Vec<(&String, &LoopSummary)>)| {
            let names = loops.iter().map(|(name, _)| (*name).clone()).collect();
            let loops: Vec<&LoopSummary> = loops.into_iter().map(|(_, of)| of).collect();
            JudgedLoops {
                judgement: judgement(condition, &loops),
                criterion: loops[0].criterion.clone(),
                loops: names,
            }
        };
        conditions.into_iter().map(judged).collect()
    }
}

fn judgement(condition: &ConditionName, loops: &[&LoopSummary]) -> Judgement {
    let mut tally = DueTally::default();
    for (thread, of) in (0..).zip(loops) {
        let threads = [thread].into();
        tally.merge(&DueTally {
            threads,
            ..of.tally.clone()
        });
    }
    let further = loops.iter().flat_map(|of| of.further_reasons());
    let mut reasons: Vec<Reason> = Vec::new();
    for reason in further {
        if !reasons.contains(&reason) {
            reasons.push(reason);
        }
    }
    match loops.iter().find_map(|of| of.criterion.as_ref()) {
        Some(criterion) => judge_so_far(condition, &tally, criterion, reasons),
        None => wakepath_verdict::not_fitting(condition, &tally),
    }
}

impl LoopSummary {
    /// Reasons against passing, or for failing, that no count shows.
    fn further_reasons(&self) -> Vec<Reason> {
        let times = |times: u64, reason: fn(u64) -> Reason| (times > 0).then(|| reason(times));
        let rounds = |(rounds, last): &(u64, String), reason: fn(u64, String) -> Reason| {
            (*rounds > 0).then(|| reason(*rounds, last.clone()))
        };
        [
            times(self.died, |times| Reason::ProgramEnded { times }),
            times(self.switched_off, |times| Reason::MachineWentDown { times }),
            rounds(&self.rounds.invalid, |rounds, last| {
                Reason::RoundsSetAside { rounds, last }
            }),
            rounds(&self.rounds.failed, |rounds, last| Reason::RoundsFailed {
                rounds,
                last,
            }),
            rounds(&self.rounds.undecided, |rounds, last| {
                Reason::RoundsUndecided { rounds, last }
            }),
        ]
        .into_iter()
        .flatten()
        .collect()
    }
}
