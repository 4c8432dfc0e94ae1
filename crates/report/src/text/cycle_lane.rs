//! The worst cycle as a sentence and a lane: a bar from its due time to its first instruction, or to its end if it
//! overran, in the order of time, each stretch of it marked by its cause.

use super::explanation::time;
use std::fmt::Write;
use wakepath_explain::{LateCycle, LatePiece, LateShare};

/// Characters of the bar.
const CELLS: usize = 48;
/// Marks of the causes, the one that took most first.
const MARKS: [char; 3] = ['█', '▓', '▒'];
/// Mark of all other causes.
const OTHERS: char = '░';
/// Mark of the kernel's own path and the loop's usual work.
const PATH: char = '·';

/// A cause with its part of the latency.
struct Part<'a> {
    cause: &'a str,
    times: u64,
    ns: u64,
}

/// The sentence, the bar and the largest causes with their marks, at most `most`. `limit_ns`: the response above which
/// it overran, 0 for none.
pub fn lane(cycle: &LateCycle, limit_ns: u64, most: usize) -> String {
    let latency_ns = cycle.latency_ns.unsigned_abs();
    let work_ns = cycle.execution_ns.unsigned_abs();
    let overran = limit_ns > 0 && latency_ns + work_ns > limit_ns;
    let done = if overran {
        format!(", done after {}", time(latency_ns + work_ns))
    } else {
        String::new()
    };
    let mut text = format!(
        "\n  worst cycle: {} late{done} (segment {} cycle {})\n",
        time(latency_ns),
        cycle.segment,
        cycle.cycle
    );
    let (pieces, length_ns) = if overran {
        (&*cycle.execution, latency_ns + work_ns)
    } else {
        (&[][..], latency_ns)
    };
    let parts = parts(&cycle.shares, pieces);
    let named = &parts[..parts.len().min(most).min(MARKS.len())];
    if named.is_empty() {
        return text;
    }
    let mark = |kind: &str, cause: &str| {
        let place = named.iter().position(|part| part.cause == cause);
        match place.and_then(|place| MARKS.get(place)) {
            _ if is_path(kind) => PATH,
            Some(mark) => *mark,
            None => OTHERS,
        }
    };
    let _ = writeln!(text, "    {}", bar(cycle, length_ns, mark));
    for (part, mark) in named.iter().zip(MARKS) {
        let times = match part.times {
            0 | 1 => String::new(),
            times => format!("{times} × "),
        };
        let _ = writeln!(
            text,
            "    {mark} {:>7}  {:>5}  {times}{}",
            time(part.ns),
            share(part.ns, length_ns),
            part.cause
        );
    }
    let rest = &parts[named.len()..];
    if !rest.is_empty() {
        let ns = rest.iter().map(|part| part.ns).sum();
        let _ = writeln!(
            text,
            "    {OTHERS} {:>7}  {:>5}  {} more",
            time(ns),
            share(ns, length_ns),
            rest.len()
        );
    }
    text
}

/// Part of the bar in whole percent.
fn share(ns: u64, length_ns: u64) -> String {
    match (ns as f64 * 100.0 / length_ns.max(1) as f64).round() {
        ..1.0 => "< 1 %".to_owned(),
        percent => format!("{percent} %"),
    }
}

fn is_path(kind: &str) -> bool {
    matches!(kind, "path" | "timer-delivery" | "own-code")
}

/// The causes over all stretches and these pieces of its work, the largest first, without the kernel's own path and the
/// loop's usual work.
fn parts<'a>(shares: &'a [LateShare], work: &'a [LatePiece]) -> Vec<Part<'a>> {
    let shares = shares
        .iter()
        .map(|of| (&*of.kind, &*of.cause, of.times, of.ns));
    let work = work.iter().map(|of| (&*of.kind, &*of.cause, 1, of.ns));
    let mut parts: Vec<Part<'_>> = Vec::new();
    for (_, cause, times, ns) in shares.chain(work).filter(|of| !is_path(of.0)) {
        match parts.iter_mut().find(|part| part.cause == cause) {
            Some(part) => {
                part.ns += ns;
                part.times += times;
            }
            None => parts.push(Part { cause, times, ns }),
        }
    }
    parts.sort_by_cached_key(|part| std::cmp::Reverse(part.ns));
    parts
}

/// Each character shows what took most of its time.
fn bar(cycle: &LateCycle, length_ns: u64, mark: impl Fn(&str, &str) -> char) -> String {
    let cell = |number: usize| {
        let at = |number: usize| length_ns * number as u64 / CELLS as u64;
        let (from, to) = (at(number), at(number + 1));
        let mut sums: Vec<(char, u64)> = Vec::new();
        for piece in cycle.pieces.iter().chain(&cycle.execution) {
            let begin = piece.from_ns.max(from);
            let end = (piece.from_ns + piece.ns).min(to);
            let ns = end.saturating_sub(begin);
            let of = mark(&piece.kind, &piece.cause);
            match sums.iter_mut().find(|(other, _)| *other == of) {
                Some((_, sum)) => *sum += ns,
                None => sums.push((of, ns)),
            }
        }
        let most = sums.iter().max_by_key(|(_, ns)| *ns);
        most.filter(|(_, ns)| *ns > 0)
            .map_or(PATH, |(mark, _)| *mark)
    };
    (0..CELLS).map(cell).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn piece(kind: &str, cause: &str, from_ns: u64, ns: u64) -> LatePiece {
        LatePiece {
            stretch: "waking → switch-in".into(),
            kind: kind.into(),
            cause: cause.into(),
            from_ns,
            ns,
            stack: None,
            behind: None,
        }
    }

    fn share(kind: &str, cause: &str, times: u64, ns: u64) -> LateShare {
        LateShare {
            stretch: "waking → switch-in".into(),
            kind: kind.into(),
            cause: cause.into(),
            times,
            ns,
        }
    }

    fn cycle() -> LateCycle {
        LateCycle {
            segment: 2,
            cycle: 31,
            due_ns: 0,
            latency_ns: 4_800_000,
            execution_ns: 50_000,
            woken: "direct".into(),
            shares: vec![
                share("path", "kernel wake-up path", 1, 600_000),
                share("thread", "hog", 2, 2_400_000),
                share("irq", "eth0", 1, 1_200_000),
                share("irq", "usb", 1, 600_000),
            ],
            pieces: vec![
                piece("path", "kernel wake-up path", 0, 600_000),
                piece("thread", "hog", 600_000, 1_200_000),
                piece("irq", "eth0", 1_800_000, 1_200_000),
                piece("thread", "hog", 3_000_000, 1_200_000),
                piece("irq", "usb", 4_200_000, 600_000),
            ],
            execution: Vec::new(),
            sections: Vec::new(),
            said: Vec::new(),
        }
    }

    #[test]
    fn the_bar_has_each_cause_where_and_as_long_as_it_ran() {
        let text = lane(&cycle(), 0, 2);
        let lines: Vec<&str> = text.lines().skip(1).collect();
        let [hog, eth0] = [MARKS[0], MARKS[1]].map(|mark| mark.to_string().repeat(12));
        let bar = format!("    ······{hog}{eth0}{hog}░░░░░░");
        assert_eq!(
            lines,
            [
                "  worst cycle: 4.80 ms late (segment 2 cycle 31)",
                &bar,
                "    █ 2.40 ms   50 %  2 × hog",
                "    ▓ 1.20 ms   25 %  eth0",
                "    ░  600 µs   13 %  1 more",
            ]
        );
    }

    #[test]
    fn a_cycle_that_only_took_the_kernel_s_path_is_a_sentence() {
        let mut cycle = cycle();
        cycle.shares.truncate(1);
        assert_eq!(lane(&cycle, 0, 3).lines().count(), 2);
    }
    #[test]
    fn the_bar_of_a_cycle_that_overran_goes_to_its_end() {
        let mut cycle = cycle();
        cycle.execution_ns = 4_800_000;
        cycle.execution = vec![
            piece("own-code", "the loop's own code", 4_800_000, 1_200_000),
            piece(
                "blocked",
                "in futex(): blocked on logger",
                6_000_000,
                3_600_000,
            ),
        ];
        let within = lane(&cycle, 10_000_000, 1);
        assert!(
            within.contains("worst cycle: 4.80 ms late (seg"),
            "{within}"
        );
        assert!(
            within.contains("hog") && !within.contains("logger"),
            "{within}"
        );
        let over = lane(&cycle, 9_000_000, 1);
        let lines: Vec<&str> = over.lines().skip(1).collect();
        let [blocked, others] =
            [(MARKS[0], 18), (OTHERS, 21)].map(|(of, n)| of.to_string().repeat(n));
        let bar = format!("    ···{others}······{blocked}");
        assert_eq!(
            lines,
            [
                "  worst cycle: 4.80 ms late, done after 9.60 ms (segment 2 cycle 31)",
                &bar,
                "    █ 3.60 ms   38 %  in futex(): blocked on logger",
                "    ░ 4.20 ms   44 %  3 more",
            ]
        );
    }
}
