//! Which timing tiers a run's policies reach, as a table and a line for each policy that does not.

use super::ToText;
use crate::Style;
use crate::table::{Cell, Table, Tone, number, words};
use std::fmt::Write;
use wakepath_archive::command_about;
use wakepath_assess::{PolicyInTier, ReachedTier, Tiers};
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

/// One row for each tier, with the policy that comes nearest to it and why it is no better. `run` is the run's name in a
/// command.
pub fn tiers_in_short(tiers: &Tiers, style: Style, run: &str) -> String {
    let mut text = short_table(tiers).to_terminal(style.columns) + "\n";
    for tier in &tiers.tiers {
        text += &no_thread(tier);
        text.extend(nearest(tier).map(|policy| reason(tier, policy)));
    }
    if tiers.tiers.iter().any(|tier| tier.policies.len() > 1) {
        text += &format!("each policy: {}\n", command_about("tiers", run, "--all"));
    }
    // Writing to a String can't fail.
    let _ = write_evidence(tiers, &mut text, style);
    text
}

/// The policy that is nearest to reaching the tier: by its outcome, then by its misses.
fn nearest(tier: &ReachedTier) -> Option<&PolicyInTier> {
    tier.policies.iter().min_by_key(|policy| {
        let order = match policy.outcome {
            Outcome::Passed => 0,
            Outcome::Undecided => 1,
            Outcome::Failed => 2,
            _ => 3,
        };
        (order, policy.missed)
    })
}

fn short_table(tiers: &Tiers) -> Table {
    let mut table = Table::new("Tier")
        .column(words("serves"))
        .column(words("reached"))
        .column(words("nearest policy"));
    for tier in &tiers.tiers {
        let reach = tier.policies.iter();
        let reach = reach.filter(|policy| policy.outcome == Outcome::Passed);
        let more = match reach.count() {
            0 | 1 => String::new(),
            all => format!(" +{}", all - 1),
        };
        let name = nearest(tier).map(|policy| one_line(&policy.policy) + &more);
        let cells = vec![tier.tier.serves.into(), word(tier), Cell::from(name)];
        table.row(duration::exact(tier.tier.period_ns), cells);
    }
    table
}

/// Why no thread reaches a tier; empty if one can.
fn no_thread(tier: &ReachedTier) -> String {
    let name = duration::exact(tier.tier.period_ns);
    let why = tier.tier.out_of_reach;
    why.map_or(String::new(), |why| {
        format!("{name}: no Linux thread: {why}\n")
    })
}

/// Why a policy is no better in a tier; empty if it reaches it.
fn reason(tier: &ReachedTier, policy: &PolicyInTier) -> String {
    if policy.why.is_empty() {
        return String::new();
    }
    format!(
        "{}, {}: {}: {}\n",
        duration::exact(tier.tier.period_ns),
        one_line(&policy.policy),
        policy.outcome,
        one_line(&policy.why)
    )
}

/// A rate as an option takes it: `250Hz`, `1kHz`.
fn rate_as_typed(hertz: u64) -> String {
    if hertz >= 1000 && hertz.is_multiple_of(1000) {
        format!("{}kHz", hertz / 1000)
    } else {
        format!("{hertz}Hz")
    }
}

fn write_all(tiers: &Tiers, text: &mut String, style: Style) -> std::fmt::Result {
    text.push_str(&table(tiers).to_terminal(style.columns));
    writeln!(text)?;
    for tier in &tiers.tiers {
        text.push_str(&no_thread(tier));
        text.extend(tier.policies.iter().map(|policy| reason(tier, policy)));
    }
    write_evidence(tiers, text, style)
}

/// The evidence for the answer: the run, what to measure for a shorter tier, the pin.
fn write_evidence(tiers: &Tiers, text: &mut String, style: Style) -> std::fmt::Result {
    let seldom = tiers
        .tiers
        .iter()
        .find(|tier| tier.tier.out_of_reach.is_none() && tier.tier.period_ns < tiers.period_ns);
    if let Some(tier) = seldom {
        writeln!(
            text,
            "\nthe run's loop has a period of {}; for the tier of {}:\n  wakepath check --rate {}",
            duration::exact(tiers.period_ns),
            duration::exact(tier.tier.period_ns),
            rate_as_typed(1_000_000_000 / tier.tier.period_ns)
        )?;
    }
    let kernel = tiers.kernel.as_deref().map(one_line);
    let kernel = kernel.map_or(String::new(), |kernel| format!(", kernel {kernel}"));
    writeln!(
        text,
        "\na tier needs a thread awake within a tenth of it and done within it, in all but 0.5 % of \
         the due times, 95 % confidence\nrecording: {} of {}{kernel}",
        one_line(&tiers.run.directory),
        one_line(&tiers.run.started)
    )?;
    match &tiers.pin {
        Some(pin) => write!(text, "\n{}", pin.to_text(style)),
        None => Ok(()),
    }
}

fn table(tiers: &Tiers) -> Table {
    let mut table = Table::new("Tier")
        .column(words("serves"))
        .column(words("policy"))
        .column(number("due times"))
        .column(number("missed"))
        .column(number("largest latency"))
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
            let cells = vec![
                if first { tier.tier.serves } else { "" }.into(),
                one_line(&policy.policy).into(),
                Cell::new(policy.scheduled),
                Cell::new(policy.missed),
                policy.largest_latency_ns.map(Cell::time).into(),
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
