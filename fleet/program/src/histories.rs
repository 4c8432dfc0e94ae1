//! Histories for the search for regressions: the runs of each board under each condition.

use crate::verbs::standings::LeftOut;
use std::collections::BTreeMap;
use wakepath_fleet_archive::Catalogue;
use wakepath_fleet_regression::{Figure, History, RunFigures};

/// Facts that differ with every boot, and so explain nothing.
const OF_THE_BOOT: [&str; 1] = ["boot_id"];

/// Every history, by board and condition. A run that does not count because of its seal is invalid
/// in it.
pub fn histories(catalogue: &Catalogue, left_out: &LeftOut) -> Vec<History> {
    let mut all: BTreeMap<(String, String), Vec<RunFigures>> = BTreeMap::new();
    for record in &catalogue.records {
        let mut facts = record.facts.clone();
        facts.retain(|name, _| !OF_THE_BOOT.contains(&&**name));
        for condition in &record.conditions {
            let names = [&condition.phase, &condition.policy, &condition.task];
            let names = names.into_iter().filter(|name| !name.is_empty()).cloned();
            let name = names.collect::<Vec<_>>().join(", ");
            // The scenario is a part of it: another one measures something else.
            let scenario = facts.get("scenario").cloned().unwrap_or_default();
            let key = (record.board.clone(), format!("{scenario}: {name}"));
            let values = [
                (Figure::P50, condition.p50_ns),
                (Figure::P999, condition.p999_ns),
                (Figure::Max, condition.max_ns),
            ];
            all.entry(key).or_default().push(RunFigures {
                run_id: record.run_id.clone(),
                started: record.started.clone(),
                is_invalid: condition.outcome == "invalid"
                    || left_out.why.contains_key(&record.run_id),
                figures: values
                    .into_iter()
                    .filter_map(|(f, v)| Some((f, v?)))
                    .collect(),
                facts: facts.clone(),
            });
        }
    }
    let history = |((board, condition), runs)| History::new(board, condition, runs);
    all.into_iter().map(history).collect()
}
