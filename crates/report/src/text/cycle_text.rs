//! One late cycle as text: in a line, or as a timeline. Repeated causes are summed, and a long list is
//! truncated only in the output, never in the counts.

use super::explanation::time;
use std::fmt::Write;
use wakepath_explain::{LateCycle, LatePiece, LateSection, LateShare};
use wakepath_timeline::count;

/// Causes that a line names of each stretch.
const MOST_OF_STRETCH: usize = 2;
/// Causes in the sums of one cycle.
const MOST_SHARES: usize = 12;
/// Functions of a stack.
const MOST_FUNCTIONS: usize = 8;
/// Pieces in the timeline of one cycle, latency and execution each.
const MOST_PIECES: usize = 40;

/// A cycle in one line: its stretches, and in each what is not the path's own, largest first.
pub fn line(cycle: &LateCycle) -> String {
    let mut stretches: Vec<(&str, u64, Vec<&LateShare>)> = Vec::new();
    for share in &cycle.shares {
        match stretches.last_mut().filter(|last| last.0 == share.stretch) {
            Some((_, ns, shares)) => {
                *ns += share.ns;
                shares.push(share);
            }
            None => stretches.push((&share.stretch, share.ns, vec![share])),
        }
    }
    let shown = stretches.iter().map(|(stretch, ns, shares)| {
        let causes = shares
            .iter()
            .filter(|share| !matches!(&*share.kind, "path" | "timer-delivery"));
        let causes: Vec<&&LateShare> = causes.collect();
        let mut named: Vec<String> = causes
            .iter()
            .take(MOST_OF_STRETCH)
            .map(|share| format!("{} {}", counted(share), time(share.ns)))
            .collect();
        let rest = causes.get(MOST_OF_STRETCH..).unwrap_or_default();
        if !rest.is_empty() {
            let rest_ns = rest.iter().map(|share| share.ns).sum();
            named.push(format!("{} more {}", rest.len(), time(rest_ns)));
        }
        if named.is_empty() {
            format!("{stretch} {}", time(*ns))
        } else {
            format!("{stretch} {} ({})", time(*ns), named.join(", "))
        }
    });
    let shown: Vec<String> = shown.collect();
    format!(
        "segment {} cycle {}: {}, {}: {}{}",
        cycle.segment,
        cycle.cycle,
        time(cycle.latency_ns.unsigned_abs()),
        cycle.woken.replace('-', " "),
        shown.join(" · "),
        longest_section(cycle)
    )
}

/// A cycle that took long by itself, in one line: how long, its longest section, what ran in it.
pub fn long_line(cycle: &LateCycle) -> String {
    format!(
        "segment {} cycle {}: took {}{}",
        cycle.segment,
        cycle.cycle,
        time(cycle.execution_ns.unsigned_abs()),
        longest_section(cycle)
    )
}

/// The longest section, and of those within each other that take the same time the innermost.
fn longest_section(cycle: &LateCycle) -> String {
    let is_most = |of: &&LateSection| of.ns * 10 >= cycle.execution_ns.unsigned_abs() * 9;
    let sections = &cycle.sections;
    let longest = sections.iter().filter(is_most).min_by_key(|of| of.ns);
    let longest = longest.or_else(|| sections.iter().max_by_key(|of| of.ns));
    longest.map_or_else(String::new, |of| {
        format!(" · {} of it in {}", time(of.ns), of.why(time))
    })
}

/// The pieces of the work with its sections and what the loop said among them.
fn with_sections(cycle: &LateCycle) -> Vec<LatePiece> {
    let stretch = cycle
        .execution
        .first()
        .map_or("execution", |of| &of.stretch);
    let sections = cycle.sections.iter().map(|of| LatePiece {
        stretch: stretch.to_owned(),
        kind: "section".into(),
        cause: of.why(time),
        from_ns: of.from_ns,
        ns: of.ns,
        stack: None,
        behind: None,
    });
    let said = cycle.said.iter().map(|of| LatePiece {
        stretch: stretch.to_owned(),
        kind: "said".into(),
        cause: format!("the loop said: {}", of.text),
        from_ns: of.from_ns,
        ns: 0,
        stack: None,
        behind: None,
    });
    let mut all: Vec<LatePiece> = sections
        .chain(said)
        .chain(cycle.execution.iter().cloned())
        .collect();
    all.sort_by_cached_key(|piece| piece.from_ns);
    all
}

/// "27 × wakepath-load": a cause with its count, if that is more than one.
fn counted(share: &LateShare) -> String {
    match share.times {
        0 | 1 => share.cause.clone(),
        times => format!("{times} × {}", share.cause),
    }
}

/// One cycle: its causes summed, then each piece with its begin, length and cause.
pub fn cycle_text(cycle: &LateCycle, heading: &str) -> String {
    written(cycle, heading, MOST_SHARES, MOST_PIECES)
}

/// The same with the longest causes and pieces, up to a number.
pub fn cycle_text_of(cycle: &LateCycle, heading: &str, most: usize) -> String {
    written(cycle, heading, most, most)
}

fn written(cycle: &LateCycle, heading: &str, shares: usize, most: usize) -> String {
    let mut text = String::new();
    let _ = writeln!(text, "{heading}");
    let _ = writeln!(
        text,
        "  latency {}, execution {}, woken: {}",
        time(cycle.latency_ns.unsigned_abs()),
        time(cycle.execution_ns.unsigned_abs()),
        cycle.woken.replace('-', " ")
    );
    if cycle.latency_ns < 0 {
        let _ = writeln!(text, "  it woke before it was due");
    }
    sums(&mut text, &cycle.shares, shares);
    let _ = writeln!(text, "\n  {:>12}  {:>12}", "after due", "length");
    let mut last = String::new();
    for pieces in [&cycle.pieces, &with_sections(cycle)] {
        timeline(&mut text, pieces, &mut last, most.max(1));
    }
    text
}

/// The causes, largest first, if any appears more than once; otherwise the timeline shows the same.
fn sums(text: &mut String, shares: &[LateShare], most: usize) {
    if shares.iter().all(|share| share.times < 2) {
        return;
    }
    let _ = writeln!(text, "\n  {:>12}", "in all");
    let mut ranked: Vec<&LateShare> = shares.iter().collect();
    ranked.sort_by_cached_key(|share| std::cmp::Reverse(share.ns));
    for share in ranked.iter().take(most) {
        let _ = writeln!(
            text,
            "  {:>12}  {}: {}",
            time(share.ns),
            share.stretch,
            counted(share)
        );
    }
    let rest = ranked.get(most..).unwrap_or_default();
    if !rest.is_empty() {
        let rest_ns = rest.iter().map(|share| share.ns).sum();
        let _ = writeln!(text, "  {:>12}  {} more", time(rest_ns), rest.len());
    }
}

/// The pieces in their order; of a long row the longest ones, and the others between them together.
fn timeline(text: &mut String, pieces: &[LatePiece], last: &mut String, most: usize) {
    let mut lengths: Vec<u64> = pieces.iter().map(|piece| piece.ns).collect();
    lengths.sort_unstable_by_key(|&ns| std::cmp::Reverse(ns));
    let shortest_ns = if pieces.len() > most {
        lengths[most - 1]
    } else {
        0
    };
    let mut left_out = (0_u64, 0_u64);
    for piece in pieces {
        let is_the_loops = matches!(&*piece.kind, "section" | "said");
        if piece.ns < shortest_ns && !is_the_loops {
            left_out = (left_out.0 + 1, left_out.1 + piece.ns);
            continue;
        }
        say_left_out(text, &mut left_out);
        if piece.stretch != *last {
            let _ = writeln!(text, "  {}", piece.stretch);
            last.clone_from(&piece.stretch);
        }
        let _ = writeln!(
            text,
            "  {:>12}  {:>12}  {}",
            time(piece.from_ns),
            time(piece.ns),
            piece.cause
        );
        if let Some(stack) = &piece.stack {
            say_stack(text, "in", &stack.user);
            say_stack(text, "kernel:", &stack.kernel);
        }
    }
    say_left_out(text, &mut left_out);
}

/// The innermost functions of a stack, each with its caller after it.
fn say_stack(text: &mut String, whose: &str, functions: &[String]) {
    if functions.is_empty() {
        return;
    }
    let shown = functions.iter().take(MOST_FUNCTIONS).map(|of| &**of);
    let shown = shown.collect::<Vec<&str>>().join(" ← ");
    let more = match functions.len().saturating_sub(MOST_FUNCTIONS) {
        0 => String::new(),
        more => format!(" ← {more} more"),
    };
    let _ = writeln!(text, "  {:>28}{whose} {shown}{more}", "");
}

fn say_left_out(text: &mut String, (pieces, ns): &mut (u64, u64)) {
    if *pieces > 0 {
        let _ = writeln!(
            text,
            "  {:>12}  {:>12}  {}",
            "…",
            time(*ns),
            count::counted(*pieces, "shorter one", "shorter ones")
        );
        (*pieces, *ns) = (0, 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WAITING: &str = "waking → switch-in";

    fn share(cause: &str, times: u64, ns: u64) -> LateShare {
        LateShare {
            stretch: WAITING.into(),
            kind: "thread".into(),
            cause: cause.into(),
            times,
            ns,
        }
    }

    /// 5.9 ms behind 54 short runs.
    fn crowded() -> LateCycle {
        let piece = |number: u64| LatePiece {
            stretch: WAITING.into(),
            kind: "thread".into(),
            cause: format!("thread {number}"),
            from_ns: number * 100_000,
            ns: 100_000 + number,
            stack: None,
            behind: None,
        };
        LateCycle {
            segment: 1,
            cycle: 7,
            due_ns: 0,
            latency_ns: 5_900_000,
            execution_ns: 50_000,
            woken: "direct".into(),
            shares: vec![
                share("wakepath-load (OTHER)", 27, 5_100_000),
                share("hog-200 (OTHER)", 1, 400_000),
                share("a", 13, 300_000),
                share("b", 13, 100_000),
            ],
            pieces: (0..54).map(piece).collect(),
            execution: Vec::new(),
            sections: Vec::new(),
            said: Vec::new(),
        }
    }

    #[test]
    fn a_line_names_what_many_short_runs_of_one_program_took_together() {
        let line = line(&crowded());
        let expected = "(27 × wakepath-load (OTHER) 5.10 ms, hog-200 (OTHER) 400 µs, 2 more \
            400 µs)";
        assert!(line.contains(expected), "{line}");
    }

    #[test]
    fn the_text_of_a_cycle_begins_with_sums_and_cuts_its_list() {
        let text = cycle_text(&crowded(), "cycle 7");
        assert!(
            text.contains("5.10 ms  waking → switch-in: 27 × wakepath-load"),
            "{text}"
        );
        let shown = text
            .lines()
            .filter(|line| line.contains("µs  thread "))
            .count();
        assert_eq!(shown, MOST_PIECES, "{text}");
        // 100 000 + 0 … 13.
        assert!(text.contains("1.40 ms  14 shorter ones"), "{text}");
    }

    #[test]
    fn in_short_the_longest_are_told_and_the_others_counted() {
        let short = cycle_text_of(&crowded(), "FIFO 50, stress", 3);
        let whole = cycle_text(&crowded(), "FIFO 50, stress");
        assert!(short.lines().count() < 20, "{short}");
        assert!(whole.lines().count() > 40, "{whole}");
        assert!(short.contains("shorter ones"), "{short}");
    }
}
