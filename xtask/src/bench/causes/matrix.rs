//! The causes that were injected against those that were named: late cycle by late cycle, and in time. Pure.

use super::kinds::{Kind, named};
use super::watched::{LOOP, LateChain};
use crate::table;
use std::collections::BTreeMap;

/// A stretch in which a kind delayed the loop, as the program itself says.
#[derive(Debug, Clone)]
pub struct Injected {
    pub kind: &'static Kind,
    pub from_ns: u64,
    pub to_ns: u64,
}

/// A stretch of a late cycle with the cause that it was charged to.
#[derive(Debug, Clone)]
pub struct Charged {
    pub from_ns: u64,
    pub to_ns: u64,
    /// Kind of the cause, as in `explanation.json`, and of that cause's own.
    pub word: String,
    pub behind: Option<String>,
    /// The cause as a person reads it.
    pub cause: String,
}

/// Causes that every cycle has.
const USUAL: [&str; 4] = ["path", "timer-delivery", "own-code", "awaiting"];
/// The row of cycles that nothing injected made late.
const NOTHING: &str = "(nothing)";

/// Counts of one injected kind.
#[derive(Debug, Default)]
struct Row {
    /// Late cycles by the kind that was named first.
    cycles: BTreeMap<String, u64>,
    ns: u64,
    right_ns: u64,
    /// Time by what it was charged to wrongly.
    wrong_ns: BTreeMap<String, u64>,
}

/// The matrix.
#[derive(Debug, Default)]
pub struct Matrix {
    rows: BTreeMap<&'static str, Row>,
}

/// Figures over all kinds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Figures {
    pub cycles: u64,
    /// Share of late cycles whose injected cause was named first.
    pub first: f64,
    /// Share of the injected time in late cycles that was charged to its cause.
    pub charged: f64,
}

fn overlap(one: (u64, u64), other: (u64, u64)) -> u64 {
    one.1.min(other.1).saturating_sub(one.0.max(other.0))
}

/// Whether a cause, or its own cause, is a kind. A move to another CPU is a kind itself.
fn is(kind: &Kind, charged: &Charged) -> bool {
    let behind = charged.behind.as_deref();
    let words = [Some(&*charged.word), behind];
    let mut words = words.into_iter().flatten();
    words.any(|word| kind.is_named_by(word, &charged.cause))
}

/// The column of a cause: its kind if it is one of `kinds`, the first that fits, else its word.
fn column(kinds: &[&'static Kind], charged: &Charged) -> String {
    let kind = kinds.iter().find(|kind| is(kind, charged));
    match kind {
        Some(kind) => kind.name.to_owned(),
        None => format!("{}: {}", charged.word, charged.cause),
    }
}

impl Matrix {
    /// Adds a late cycle with all its pieces and the injections of its program.
    pub fn add(&mut self, injected: &[Injected], pieces: &[Charged]) {
        let (Some(first), Some(last)) = (pieces.first(), pieces.last()) else {
            return;
        };
        let cycle = (first.from_ns, last.to_ns);
        let within: Vec<&Injected> = injected
            .iter()
            .filter(|of| overlap((of.from_ns, of.to_ns), cycle) > 0)
            .collect();
        let is_usual = |piece: &Charged| USUAL.contains(&&*piece.word);
        let lost = || pieces.iter().filter(|piece| !is_usual(piece));
        let lost_ns: u64 = lost().map(|piece| piece.to_ns - piece.from_ns).sum();
        let mut truths: BTreeMap<&'static str, (u64, &'static Kind)> = BTreeMap::new();
        for of in &within {
            let (ns, _) = truths.entry(of.kind.name).or_insert((0, of.kind));
            *ns += overlap((of.from_ns, of.to_ns), cycle);
        }
        let mut truths: Vec<_> = truths.into_values().collect();
        truths.sort_by_key(|(ns, _)| std::cmp::Reverse(*ns));
        // An answer that fits two indistinguishable kinds is the one that was there.
        let kinds: Vec<&'static Kind> = truths.iter().map(|(_, kind)| *kind).collect();
        let mut sums: BTreeMap<String, u64> = BTreeMap::new();
        for piece in lost() {
            *sums.entry(column(&kinds, piece)).or_default() += piece.to_ns - piece.from_ns;
        }
        let truth = truths.first().filter(|(ns, _)| ns * 2 > lost_ns);
        let truth = truth.map(|(_, kind)| kind.name);
        let first = sums
            .into_iter()
            .max_by_key(|(_, ns)| *ns)
            .map(|(name, _)| name);
        let row = self.rows.entry(truth.unwrap_or(NOTHING)).or_default();
        *row.cycles
            .entry(first.unwrap_or_else(|| NOTHING.into()))
            .or_default() += 1;
        self.charge(&within, pieces);
    }

    /// Adds the late passes of a chain, all of them by one kind.
    pub fn add_chain(&mut self, kind: &'static Kind, injected_ns: u64, chain: &LateChain) {
        let mut sums: BTreeMap<String, u64> = BTreeMap::new();
        for of in &chain.causes {
            let is_kind = of.thread == LOOP && kind.is_named_by(&of.word, &of.cause);
            let column = match is_kind {
                true => kind.name.to_owned(),
                false => format!("{}: {}: {}", of.thread, of.word, of.cause),
            };
            *sums.entry(column).or_default() += of.ns;
        }
        let row = self.rows.entry(kind.name).or_default();
        let first = sums.iter().max_by_key(|(_, ns)| **ns);
        let first = first.map_or_else(|| NOTHING.to_owned(), |(name, _)| name.clone());
        *row.cycles.entry(first).or_default() += chain.late;
        let right_ns = sums.remove(kind.name).unwrap_or(0).min(injected_ns);
        row.ns += injected_ns;
        row.right_ns += right_ns;
        for (column, ns) in sums {
            *row.wrong_ns.entry(column).or_default() += ns;
        }
    }

    fn charge(&mut self, within: &[&Injected], pieces: &[Charged]) {
        for of in within {
            let row = self.rows.entry(of.kind.name).or_default();
            for piece in pieces {
                let ns = overlap((of.from_ns, of.to_ns), (piece.from_ns, piece.to_ns));
                let both = (of.from_ns.max(piece.from_ns), of.to_ns.min(piece.to_ns));
                // Where two were at work at once, either is right.
                let is_right = within.iter().any(|other| {
                    ns > 0
                        && overlap((other.from_ns, other.to_ns), both) > 0
                        && is(other.kind, piece)
                });
                row.ns += ns;
                if is_right {
                    row.right_ns += ns
                } else {
                    *row.wrong_ns.entry(column(&[], piece)).or_default() += ns
                }
            }
        }
    }

    /// Sums over all injected kinds.
    pub fn figures(&self) -> Figures {
        let rows = || self.rows.iter().filter(|(name, _)| **name != NOTHING);
        let right = |(name, row): (&&str, &Row)| row.cycles.get(*name).copied().unwrap_or(0);
        let cycles: u64 = rows()
            .map(|(_, row)| row.cycles.values().sum::<u64>())
            .sum();
        let ns: u64 = rows().map(|(_, row)| row.ns).sum();
        Figures {
            cycles,
            first: share(rows().map(right).sum(), cycles),
            charged: share(rows().map(|(_, row)| row.right_ns).sum(), ns),
        }
    }

    /// A row for each injected kind: its late cycles, what was named first, and where its time went.
    pub fn text(&self) -> String {
        let head = [
            "injected",
            "late",
            "named first",
            "time",
            "charged",
            "named instead",
        ];
        let mut rows = vec![head.map(str::to_owned).to_vec()];
        let mut wrong = Vec::new();
        for (name, row) in &self.rows {
            let late: u64 = row.cycles.values().sum();
            let right = row.cycles.get(*name).copied().unwrap_or(0);
            let others = row.cycles.iter().filter(|(of, _)| of != name);
            let others: Vec<String> = others
                .map(|(of, count)| format!("{count} × {of}"))
                .collect();
            rows.push(vec![
                (*name).into(),
                late.to_string(),
                percent(right, late),
                format!("{:.1} ms", row.ns as f64 / 1e6),
                percent(row.right_ns, row.ns),
                others.join("; "),
            ]);
            wrong.extend(row.wrong_ns.iter().map(|(of, ns)| (*ns, *name, of)));
        }
        wrong.sort_unstable_by(|a, b| b.cmp(a));
        let mut text = table::aligned(&rows, &[1, 2, 3, 4]);
        text += "\nmost time charged to another cause:\n";
        for (ns, name, of) in wrong.into_iter().take(40) {
            text += &format!("{:>10.1} ms  {name} → {of}\n", ns as f64 / 1e6);
        }
        text
    }
}

fn share(part: u64, whole: u64) -> f64 {
    match whole {
        0 => 0.0,
        _ => part as f64 / whole as f64,
    }
}

fn percent(part: u64, whole: u64) -> String {
    match whole {
        0 => "–".into(),
        _ => format!("{:.1} %", 100.0 * share(part, whole)),
    }
}

/// The injections that a program wrote down.
pub fn injections(text: &str) -> Result<Vec<Injected>, String> {
    let line = |line: &str| {
        let mut words = line.split(' ');
        let kind = named(words.next()?)?;
        let (from_ns, to_ns) = (words.next()?.parse().ok()?, words.next()?.parse().ok()?);
        Some(Injected {
            kind,
            from_ns,
            to_ns,
        })
    };
    let read = |text: &str| line(text).ok_or_else(|| format!("no injection: {text:?}"));
    text.lines().map(read).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn piece(from_ns: u64, to_ns: u64, word: &str, cause: &str) -> Charged {
        Charged {
            from_ns,
            to_ns,
            word: word.into(),
            behind: None,
            cause: cause.into(),
        }
    }

    const CODE: &str = "the loop's own code ran longer than usual (user code)";

    #[test]
    fn a_right_and_a_wrong_cycle_are_counted_as_such() {
        let injected = injections("call 100 200\ncode 1000 1100\n").unwrap();
        let mut matrix = Matrix::default();
        let call = "the loop's system call getrandom()";
        matrix.add(
            &injected,
            &[
                piece(90, 100, "own-code", "own work"),
                piece(100, 200, "system-call", call),
            ],
        );
        matrix.add(
            &injected,
            &[
                piece(1000, 1080, "page-fault", "page faults of the loop"),
                piece(1080, 1100, "user-code", CODE),
            ],
        );
        let figures = matrix.figures();
        assert_eq!(figures.cycles, 2);
        assert_eq!(figures.first, 0.5);
        assert_eq!(figures.charged, 0.6);
        let text = matrix.text();
        assert!(
            text.contains("1 × page-fault: page faults of the loop"),
            "{text}"
        );
    }

    #[test]
    fn a_cycle_that_nothing_injected_delayed_is_counted_apart() {
        let injected = injections("code 10 20\n").unwrap();
        let mut matrix = Matrix::default();
        matrix.add(
            &injected,
            &[
                piece(0, 90, "nothing-ran", "the CPU stood still"),
                piece(90, 100, "user-code", CODE),
            ],
        );
        assert_eq!(matrix.figures().cycles, 0);
        assert!(matrix.text().contains(NOTHING));
    }

    #[test]
    fn a_line_of_another_form_is_refused() {
        assert!(injections("code 1\n").is_err() && injections("nothing 1 2\n").is_err());
    }
}
