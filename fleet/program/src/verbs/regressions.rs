//! `wakepath-fleet regressions`: runs of one kind against runs of another, on every board.

use super::Outcome;
use super::archive::{Opened, look};
use crate::command_line::Regressions;
use crate::histories::histories;
use crate::terminal::print;
use std::process::ExitCode;
use wakepath_fleet_regression::{
    Blocks, Compared, Figure, Outcome as Found, RunFigures, Terms, compare,
};

/// Compares them.
pub fn run(arguments: &Regressions) -> Outcome {
    let sides = [&arguments.first, &arguments.second].map(|side| {
        side.split_once('=')
            .ok_or_else(|| format!("{side:?} is not a FACT=VALUE, such as kernel=6.12.9-rt"))
    });
    let [first, second] = sides;
    let (first, second) = (first?, second?);
    if !(arguments.margin > 0.0 && arguments.margin <= 1000.0) {
        return Err(format!("--margin {} is not a percentage above 0", arguments.margin).into());
    }
    let blocks = arguments.blocks.as_deref().map(blocks);
    let Opened { all, left_out, .. } = look(&arguments.at)?;
    let histories = histories(&all, &left_out);
    for (fact, value) in [first, second] {
        let runs = histories.iter().flat_map(|history| &history.runs);
        let mut known = runs.filter_map(|run| run.facts.get(fact));
        if !known.any(|found| found == value) {
            return Err(format!("no run has {fact}={value}").into());
        }
    }
    let takes = |(fact, value): (&str, &str)| {
        let (fact, value) = (fact.to_owned(), value.to_owned());
        move |run: &RunFigures| run.facts.get(&fact).is_some_and(|found| *found == value)
    };
    let (is_first, is_second) = (takes(first), takes(second));
    let mut runs = histories.iter().flat_map(|history| &history.runs);
    if let Some(both) = runs.find(|run| is_first(run) && is_second(run)) {
        let run = &both.run_id;
        return Err(
            format!("run {run} is on both sides; the sides must exclude each other").into(),
        );
    }
    if let Some(Blocks::Fact(fact)) = &blocks {
        let mut runs = histories.iter().flat_map(|history| &history.runs);
        if !runs.any(|run| run.facts.contains_key(fact)) {
            return Err(
                format!("--blocks {fact}: no run has such a fact; give turns, day or one").into(),
            );
        }
    }
    let terms = Terms {
        margin: arguments.margin / 100.0,
        blocks,
        ..Terms::default()
    };
    let all = compare(&histories, &Figure::ALL, &is_first, &is_second, &terms);
    print(&if arguments.json {
        serde_json::to_string(&all)? + "\n"
    } else {
        shown(&all, &terms)
    })?;
    let any = |outcomes: &[Found]| all.iter().any(|one| outcomes.contains(&one.outcome));
    Ok(match () {
        () if any(&[Found::Regressed]) => ExitCode::from(2),
        () if any(&[Found::Inconclusive, Found::Invalid]) => ExitCode::from(3),
        () => ExitCode::SUCCESS,
    })
}

fn blocks(text: &str) -> Blocks {
    match text {
        "turns" => Blocks::Turns,
        "day" => Blocks::Day,
        fact => Blocks::Fact(fact.to_owned()),
    }
}

fn shown(all: &[Compared], terms: &Terms) -> String {
    let mut text = String::new();
    for one in all {
        let factor = match (one.factor, one.interval) {
            (Some(factor), Some((lower, upper))) => {
                format!("{factor:.3} times (90 %: {lower:.3} to {upper:.3})")
            }
            (Some(factor), None) => format!("{factor:.3} times (too few runs for an interval)"),
            (None, _) => "not to be compared".to_owned(),
        };
        let p = |p: Option<f64>| p.map_or("–".to_owned(), |p| format!("{p:.2e}"));
        let mut line = format!(
            "{:<12}  {}, {}, {}: {factor}; {} against {} runs, p {}, p of a difference beyond the margin {}",
            one.outcome.word(),
            one.board,
            one.condition,
            one.figure.name(),
            one.runs.0,
            one.runs.1,
            p(one.p),
            p(one.p_equivalent),
        );
        if one.left_out != (0, 0) {
            line += &format!(
                "; left out{}: {} and {}",
                match terms.blocks {
                    None => " as invalid",
                    Some(_) => " as invalid, or alone in their block",
                },
                one.left_out.0,
                one.left_out.1
            );
        }
        if one
            .least_p
            .is_some_and(|least| least > terms.false_findings)
        {
            line += "; more runs are needed to show anything";
        }
        text += &(line + "\n");
    }
    let test = match terms.blocks {
        None => "exact rank tests over runs, Hodges–Lehmann factor",
        Some(_) => "runs exchanged within their blocks, the factor in the middle of all exchanges",
    };
    text + &format!(
        "The run is the replicate: {test}, Benjamini–Hochberg at {} % over all lines, margin {} %.\n",
        100.0 * terms.false_findings,
        100.0 * terms.margin
    )
}
