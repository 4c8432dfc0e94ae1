//! Which timing tiers a run's policies reach, as a table and a line for each policy that does not.

use super::ToText;
use crate::Style;
use crate::table::{Cell, Table, Tone, number, words};
use std::fmt::Write;
use wakepath_assess::{ReachedTier, Tiers};
use wakepath_timeline::{duration, one_line};
use wakepath_verdict::Outcome;

impl ToText for Tiers {
    fn to_text(&self, style: Style) -> String {
        let mut text = String::new();
        // Writing to a String can't fail.
        let _ = write_all(self, &mut text, style);
        text
    }
}

fn write_all(tiers: &Tiers, text: &mut String, style: Style) -> std::fmt::Result {
    text.push_str(&table(tiers).to_terminal(style.columns));
    writeln!(text)?;
    for tier in &tiers.tiers {
        let name = duration::exact(tier.tier.period_ns);
        if let Some(why) = tier.tier.out_of_reach {
            writeln!(text, "{name}: no Linux thread: {why}")?;
        }
        let behind = tier.policies.iter().filter(|one| !one.why.is_empty());
        for policy in behind {
            let (policy, outcome, why) = (&policy.policy, policy.outcome, &policy.why);
            writeln!(
                text,
                "{name}, {}: {outcome}: {}",
                one_line(policy),
                one_line(why)
            )?;
        }
    }
    let seldom = tiers
        .tiers
        .iter()
        .find(|tier| tier.tier.out_of_reach.is_none() && tier.tier.period_ns < tiers.period_ns);
    if let Some(tier) = seldom {
        writeln!(
            text,
            "\nthe run's loop has a period of {}: for the tier of {}, wakepath check --rate {}Hz",
            duration::exact(tiers.period_ns),
            duration::exact(tier.tier.period_ns),
            1_000_000_000 / tier.tier.period_ns
        )?;
    }
    let kernel = tiers.kernel.as_deref().map(one_line);
    let kernel = kernel.map_or(String::new(), |kernel| format!(", kernel {kernel}"));
    writeln!(
        text,
        "\nby the run {} of {}{kernel}; a tier needs a thread awake within a \
         tenth of it and done within it, but for 0.5 % of the due times, 95 % confidence",
        one_line(&tiers.run.directory),
        one_line(&tiers.run.started)
    )?;
    match &tiers.pin {
        Some(pin) => write!(text, "\n{}", pin.to_text(style)),
        None => Ok(()),
    }
}

fn table(tiers: &Tiers) -> Table {
    let mut table = Table::of("Tier")
        .column(words("serves"))
        .column(words("policy"))
        .column(number("due times"))
        .column(number("missed"))
        .column(number("largest latency").unit("µs"))
        .column(words("reached"));
    for tier in &tiers.tiers {
        let name = duration::exact(tier.tier.period_ns);
        if tier.policies.is_empty() {
            let cells = vec![
                tier.tier.serves.into(),
                Cell::from(None::<String>),
                Cell::from(None::<String>),
                Cell::from(None::<String>),
                Cell::from(None::<String>),
                word(tier),
            ];
            table.row(name, cells);
            continue;
        }
        for (at, policy) in tier.policies.iter().enumerate() {
            let first = at == 0;
            let micros = policy
                .largest_latency_ns
                .map(|ns| format!("{:.1}", ns as f64 / 1e3));
            let cells = vec![
                if first { tier.tier.serves } else { "" }.into(),
                one_line(&policy.policy).into(),
                Cell::of(policy.scheduled),
                Cell::of(policy.missed),
                micros.into(),
                reached(policy.outcome),
            ];
            table.row(if first { name.clone() } else { String::new() }, cells);
        }
    }
    table
}

fn word(tier: &ReachedTier) -> Cell {
    match (tier.tier.out_of_reach, tier.outcome) {
        (Some(_), _) | (None, None) => Cell::Toned("by no thread".into(), Tone::Bad),
        (None, Some(outcome)) => reached(outcome),
    }
}

fn reached(outcome: Outcome) -> Cell {
    match outcome {
        Outcome::Passed => Cell::Toned("yes".into(), Tone::Good),
        Outcome::Failed => Cell::Toned("no".into(), Tone::Bad),
        other => other.to_string().into(),
    }
}
