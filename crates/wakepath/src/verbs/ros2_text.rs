//! Callbacks and chains of ROS 2 as a table, with what held the executor of the late ones.

use super::ros2_executors;
use super::ros2_shown::{self, Room};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use wakepath_assess::watched::{FirstAbove, Ros2Figures};
use wakepath_console::terminal::columns;
use wakepath_report::{Cell, Table, number};
use wakepath_ros2::{Account, ChainFound, Figures, Holder, Kind, Late, LostBy, Row, Waited};
use wakepath_timeline::duration::{Unit, length, three_digits};
use wakepath_verdict::counted;

/// Less is not worth a word.
const LEAST_NS: u64 = 100_000;
/// Holders of one late run that are named.
const MOST_HOLDERS: usize = 3;

/// Findings about ROS 2.
pub fn text(figures: &Ros2Figures, limit_ns: Option<u64>, room: &Room) -> String {
    let mut text = String::new();
    if figures.callbacks.is_empty() {
        return "ROS 2: no callback ran\n".into();
    }
    let names = names(&figures.callbacks);
    let all: Vec<(&Row, &str)> = figures
        .callbacks
        .iter()
        .zip(names.iter().map(String::as_str))
        .collect();
    let shown = ros2_shown::rows(&all, room);
    let table = match room.is_whole {
        true => table(&shown),
        false => short_table(&shown),
    };
    text += &table.to_terminal(Some(columns()));
    text += &ros2_shown::hidden(all.len(), shown.len());
    let is_late = |(row, _): &&(&Row, &str)| row.late.is_some_and(|count| count > 0);
    let late_rows: Vec<_> = all.iter().filter(is_late).copied().collect();
    let shown = ros2_shown::late(all.len(), &late_rows, room);
    for (row, name) in &shown {
        text += &late(row, name, figures.began_ns, room.runs);
    }
    if let Some(more @ 1..) = late_rows.len().checked_sub(shown.len()) {
        let more = counted(more as u64, "more callback was", "more callbacks were");
        let _ = writeln!(text, "\n{more} late too: --json has the gaps of each");
    }
    text += &ros2_executors::text(figures, &all, room.executors);
    for chain in figures.chains.iter().take(room.chains) {
        text += &chain_text(chain, limit_ns, room.is_whole);
    }
    if let Some(more @ 1..) = figures.chains.len().checked_sub(room.chains) {
        let _ = writeln!(
            text,
            "and {}",
            counted(more as u64, "more chain", "more chains")
        );
    }
    let unknown = figures.callbacks.iter();
    let unknown = unknown.filter(|row| row.callback.kind == Kind::Unknown);
    let unknown = unknown.count() as u64;
    if unknown > 0 {
        let _ = writeln!(
            text,
            "{} made before the recording or while events were lost, so that node, topic and due times are unknown: \
             start the nodes after the recording, as `wakepath watch -- ros2 launch …` does",
            counted(unknown, "callback was", "callbacks were")
        );
    }
    if figures.unpaired > 0 {
        let _ = writeln!(
            text,
            "{} left out, whose beginning or end was not recorded",
            counted(
                figures.unpaired,
                "run of a callback is",
                "runs of callbacks are"
            )
        );
    }
    text
}

/// The run that a watch was to stop at.
pub fn first_above(of: &FirstAbove, began_ns: u64, above_ns: u64) -> String {
    let at = of.late.at_ns.saturating_sub(began_ns) as f64 / 1e9;
    format!(
        "\nstopped: {}: a latency of {}, above {}, at {at:.3} s: {}\n",
        of.callback,
        three_digits(of.late.latency_ns.cast_signed()),
        length(above_ns),
        why(&of.late)
    )
}

/// A name for each row, with the process where others have one of that name.
fn names(rows: &[Row]) -> Vec<String> {
    let mut processes: BTreeMap<String, BTreeSet<u32>> = BTreeMap::new();
    for row in rows {
        let of_name = processes.entry(row.callback.to_string()).or_default();
        of_name.insert(row.callback.process);
    }
    let name = |row: &Row| {
        let name = row.callback.to_string();
        match processes.get(&name).map_or(0, BTreeSet::len) {
            0 | 1 => name,
            _ => format!("{name} (process {})", row.callback.process),
        }
    };
    rows.iter().map(name).collect()
}

fn table(rows: &[(&Row, &str)]) -> Table {
    let mut table = Table::of("callback")
        .column(number("runs"))
        .group("latency", "ms", &["median", "p99", "max"].map(number))
        .group("gap", "ms", &["median", "max"].map(number))
        .group("run time", "ms", &["median", "max"].map(number))
        .column(number("gaps > 1.5 T"))
        .column(number("skipped"));
    for (row, name) in rows {
        let latency = row.latency_ns.or(row.waited_ns);
        let of = |figures: Option<Figures>, which: fn(&Figures) -> i64| -> Cell {
            let shown = figures.as_ref().map(which);
            shown.map(|ns| Cell::of(Unit::Millis.figure(ns, 3))).into()
        };
        table.row(
            *name,
            vec![
                Cell::of(row.count),
                of(latency, |of| of.median),
                of(latency, |of| of.p99),
                of(latency, |of| of.max),
                of(row.gap_ns, |of| of.median),
                of(row.gap_ns, |of| of.max),
                of(row.run_ns, |of| of.median),
                of(row.run_ns, |of| of.max),
                row.late.map(Cell::of).into(),
                row.skipped.map(Cell::of).into(),
            ],
        );
    }
    table
}

/// The figures that matter first.
fn short_table(rows: &[(&Row, &str)]) -> Table {
    let mut table = Table::of("callback")
        .column(number("runs"))
        .group("longest, ms", "", &["latency", "gap", "run"].map(number))
        .column(number("late"))
        .column(number("skipped"));
    for (row, name) in rows {
        let of = |figures: Option<Figures>| -> Cell {
            figures
                .map(|of| Cell::of(Unit::Millis.figure(of.max, 2)))
                .into()
        };
        table.row(
            *name,
            vec![
                Cell::of(row.count),
                of(row.latency_ns.or(row.waited_ns)),
                of(row.gap_ns),
                of(row.run_ns),
                row.late.map(Cell::of).into(),
                row.skipped.map(Cell::of).into(),
            ],
        );
    }
    table
}

/// The late runs of a callback, each with what held its executor.
fn late(row: &Row, name: &str, began_ns: u64, most: usize) -> String {
    let (Some(count @ 1..), Some(period_ns)) = (row.late, row.period_ns) else {
        return String::new();
    };
    let mut text = format!(
        "\n{name}: {} above {}, the longest:\n",
        counted(count, "gap", "gaps"),
        length(period_ns * 3 / 2)
    );
    for late in row.worst.iter().take(most) {
        let at = late.at_ns.saturating_sub(began_ns) as f64 / 1e9;
        let gap = three_digits(late.gap_ns.cast_signed());
        let _ = writeln!(text, "  gap {gap} at {at:.3} s: {}", why(late));
    }
    text
}

/// What held the executor, in one line, the longest first.
fn why(late: &Late) -> String {
    let holders = late.holders.iter().filter(|of| of.share_ns >= LEAST_NS);
    let mut parts: Vec<String> = holders.clone().take(MOST_HOLDERS).map(held).collect();
    let more = holders.count().saturating_sub(MOST_HOLDERS) as u64;
    if let more @ 1.. = more + late.more_holders {
        parts.push(format!("{more} more"));
    }
    let unheld_ns = late.unheld_ns();
    if unheld_ns >= LEAST_NS && unheld_ns * 10 >= late.latency_ns {
        let longest_ns = late.holders.first().map_or(0, |of| of.share_ns);
        match unheld_ns > longest_ns {
            true => parts.insert(0, unheld(late, unheld_ns)),
            false => parts.push(unheld(late, unheld_ns)),
        }
    }
    match parts.is_empty() {
        true => "no callback held its thread: the cause is unknown".into(),
        false => parts.join("; "),
    }
}

/// The part of a latency in no callback's run, with what its thread did in the longest piece of it.
fn unheld(late: &Late, unheld_ns: u64) -> String {
    let account = late.unheld.as_ref().and_then(|of| of.account.as_ref());
    match account {
        Some(of) if is_most(of.ready_ns, of) => format!(
            "its thread was ready to run for {}, {}",
            three_digits(of.ready_ns.cast_signed()),
            others(account)
        ),
        _ => {
            let outside = three_digits(unheld_ns.cast_signed());
            match account.and_then(outside_callbacks) {
                Some(what) => format!("no callback held its thread for {outside}, {what}"),
                None => format!("no callback held its thread for {outside}: the cause is unknown"),
            }
        }
    }
}

fn held(holder: &Holder) -> String {
    let ran = three_digits((holder.to_ns - holder.from_ns).cast_signed());
    let what = match (holder.is_itself, holder.same_thread) {
        (true, _) => format!("its own run before took {ran}"),
        (false, true) => format!("{} ran {ran}", holder.callback),
        (false, false) => format!(
            "{} of the same node ran {ran} on another thread",
            holder.callback
        ),
    };
    match holder.account.as_ref().and_then(inside) {
        Some(inside) => format!("{what}, {inside}"),
        None => what,
    }
}

/// Threads that had the CPU in that time.
fn others(account: Option<&Account>) -> String {
    match account.and_then(|of| of.others.as_ref()) {
        Some((ns, name)) => format!(
            "while others ran on its CPU, {name} longest ({})",
            three_digits(ns.cast_signed())
        ),
        None => "while others ran on its CPU".into(),
    }
}

/// Time of a run that was not running, if it is half of it or more.
fn inside(account: &Account) -> Option<String> {
    if is_most(account.ready_ns, account) {
        let ready = three_digits(account.ready_ns.cast_signed());
        return Some(format!("{ready} of it ready {}", others(Some(account))));
    }
    let (longest_ns, waited) = account.longest.as_ref()?;
    if !is_most(account.waiting_ns, account) || *longest_ns < LEAST_NS {
        return None;
    }
    let waiting = three_digits(longest_ns.cast_signed());
    Some(match waited {
        Waited::Timer => format!("{waiting} of it asleep until a timer"),
        Waited::Thread(name) => format!("{waiting} of it waiting until {name} woke it"),
        Waited::Interrupt => format!("{waiting} of it waiting for an interrupt"),
    })
}

/// Time of a thread in no callback: its program may sleep or work between callbacks.
fn outside_callbacks(account: &Account) -> Option<String> {
    match is_most(account.on_cpu_ns, account) {
        true => {
            let ran = three_digits(account.on_cpu_ns.cast_signed());
            Some(format!(
                "{ran} of it on a CPU, in the program outside callbacks"
            ))
        }
        false => inside(account),
    }
}

/// Whether a part of an account is half of it or more, and worth a word.
fn is_most(part_ns: u64, account: &Account) -> bool {
    let all_ns = account.on_cpu_ns + account.ready_ns + account.waiting_ns;
    part_ns * 2 >= all_ns && part_ns >= LEAST_NS
}

fn chain_text(chain: &ChainFound, limit_ns: Option<u64>, by_hops: bool) -> String {
    let mut text = format!("\nchain {} to {}: ", chain.chain.from, chain.chain.to);
    if chain.begun == 0 {
        let _ = writeln!(
            text,
            "no message was published on {}, or by a node that was made before the recording",
            chain.chain.from
        );
        return text;
    }
    let _ = write!(
        text,
        "{} of {} came to the end",
        chain.ended,
        counted(chain.begun, "message", "messages")
    );
    if let Some(of) = chain.latency_ns {
        let [median, p99, max] = [of.median, of.p99, of.max].map(three_digits);
        let _ = write!(text, "; latency median {median}, p99 {p99}, max {max}");
    }
    if let (Some(above), Some(limit_ns)) = (chain.above, limit_ns) {
        let _ = write!(text, "; {above} above {}", length(limit_ns));
    }
    text.push('\n');
    if !by_hops {
        return text;
    }
    for hop in &chain.hops {
        let of = |figures: Option<Figures>| {
            figures.map_or_else(
                || "unknown".into(),
                |of| format!("{} (max {})", three_digits(of.median), three_digits(of.max)),
            )
        };
        let _ = writeln!(
            text,
            "  {}: waited {}, worked {}",
            hop.callback,
            of(hop.waiting_ns),
            of(hop.working_ns)
        );
    }
    for lost in &chain.lost {
        let count = counted(lost.count, "message", "messages");
        let why = match &lost.by {
            LostBy::NothingLeadsOn => "the callback published nothing that leads on".to_owned(),
            LostBy::Overwritten { callback, depth } => format!(
                "newer ones took their place in the queue of {callback}, which holds {depth}: a greater depth of its \
                 QoS keeps more"
            ),
            LostBy::Missed { callback } => {
                format!("{callback} took newer ones, but not these; its queue could hold them")
            }
            LostBy::NotTaken => "no watched callback took them, nor newer ones".to_owned(),
        };
        let _ = writeln!(text, "  {count} ended at {}: {why}", lost.topic);
    }
    if chain.under_way > 0 {
        let _ = writeln!(text, "  {} under way at the end", chain.under_way);
    }
    text
}
