//! A plan as text: changes, reasons, costs, and the exact commands.
//!
//! Commands are broken so that they can still be pasted if the format has a width (`{plan:80}`).

use crate::Plan;
use std::fmt::{self, Display, Formatter};
use wakepath_timeline::columns::{command, cut, width, wrapped};

/// Lines of a plan that leave room for the prompt on a screen of 40; the heading can take two.
const SCREEN: usize = 37;
/// Entries of each list that are shown in short.
const MOST_IN_SHORT: usize = 9;

impl Plan {
    /// One screen: the reason of each step, whole if there is room, else in a line; the rest counted.
    pub fn in_short(&self, columns: usize) -> String {
        let whole = self.laid(|line| wrapped(line, "  ", "      ", columns));
        if whole.lines().count() <= SCREEN {
            return whole;
        }
        self.laid(|line| whole_clauses(&format!("  {line}"), columns) + "\n")
    }

    /// The plan with each line of a list laid out by `line`.
    fn laid(&self, line: impl Fn(&str) -> String) -> String {
        let mut text = format!("a plan for {}\n", self.subject.describe());
        if !self.rivals.is_empty() {
            text += "\nfirst, by hand: these programs would undo the changes\n";
            some(&mut text, self.rivals.iter().map(String::as_str), &line);
        }
        text += "\nwhile the machine runs (wakepath tune apply)\n";
        let steps = self.now.iter().enumerate();
        let steps = steps.map(|(at, step)| format!("{}. {}: {}", at + 1, step.id, step.reason));
        some(&mut text, steps, &line);
        text += "\nat the next boot (wakepath tune boot)\n";
        let boot = self.boot.iter();
        some(
            &mut text,
            boot.map(|step| format!("{}: {}", step.parameter, step.reason)),
            &line,
        );
        if !self.by_hand.is_empty() {
            text += "\nleft to you\n";
            some(&mut text, self.by_hand.iter().map(String::as_str), &line);
        }
        text + "\nwhy, at what cost, how to undo it, and the commands: --all\n"
    }
}

/// The first of a list, laid out by `line`, and how many more there are.
fn some(
    text: &mut String,
    all: impl Iterator<Item = impl AsRef<str>>,
    line: impl Fn(&str) -> String,
) {
    let mut left = 0;
    let mut any = false;
    for (at, one) in all.enumerate() {
        any = true;
        if at < MOST_IN_SHORT {
            *text += &line(one.as_ref());
        } else {
            left += 1
        }
    }
    if left > 0 {
        *text += &format!("  and {left} more\n");
    }
    if !any {
        *text += "  nothing\n";
    }
}

/// The clauses of a line that fit, at least the first; a longer one is cut.
fn whole_clauses(line: &str, columns: usize) -> String {
    if width(line) <= columns {
        return line.to_owned();
    }
    let label = line.find(": ").unwrap_or(0);
    let ends = line.match_indices([';', ',']).map(|(at, _)| &line[..at]);
    let mut fitting = ends.filter(|text| text.len() > label && width(text) <= columns);
    fitting
        .next_back()
        .map_or_else(|| cut(line, columns), str::to_owned)
}

impl Display for Plan {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        writeln!(out, "a plan for {}", self.subject.describe())?;
        if self.others.is_empty() {
            writeln!(out, "no CPU remains for anything else")?
        } else {
            writeln!(out, "everything else on CPU {}", self.others)?
        }
        if !self.idle.is_empty() {
            writeln!(
                out,
                "CPU {} shares the loop's core and stays idle",
                self.idle
            )?;
        }
        if !self.rivals.is_empty() {
            writeln!(
                out,
                "\nfirst, by hand: these programs would undo the changes"
            )?;
            for rival in &self.rivals {
                writeln!(out, "  {rival}")?;
            }
        }
        writeln!(out, "\nwhile the machine runs (wakepath tune apply)")?;
        if self.now.is_empty() {
            writeln!(out, "  nothing to change")?;
        }
        for (position, step) in self.now.iter().enumerate() {
            writeln!(
                out,
                "  {}. {}{}: {}",
                position + 1,
                step.id,
                if step.checks.is_empty() {
                    String::new()
                } else {
                    format!(" ({})", step.checks.join(", "))
                },
                step.reason
            )?;
            writeln!(out, "     effect  {}", step.effect)?;
            writeln!(out, "     cost    {}", step.cost)?;
            writeln!(out, "     undo    {}", step.undo)?;
            for action in &step.actions {
                let columns = out.width().unwrap_or(usize::MAX);
                out.write_str(&command(&action.command(), "       ", columns))?;
            }
        }
        writeln!(out, "\nat the next boot (wakepath tune boot)")?;
        if self.boot.is_empty() {
            writeln!(out, "  nothing")?;
        }
        for step in &self.boot {
            writeln!(
                out,
                "  {:<36} {}: {}",
                step.parameter, step.check, step.reason
            )?;
            writeln!(out, "  {:<36} cost: {}", "", step.cost)?;
        }
        if !self.by_hand.is_empty() {
            writeln!(out, "\nalso bad, and left to you")?;
            for one in &self.by_hand {
                writeln!(out, "  {one}")?;
            }
        }
        if !self.notes.is_empty() {
            writeln!(out, "\nto know")?;
            for note in &self.notes {
                writeln!(out, "  {note}")?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::whole_clauses;

    #[test]
    fn a_long_line_ends_after_a_clause() {
        let line = "  6. memory: the kernel moves pages, and the loop waits; khugepaged does so";
        assert_eq!(
            whole_clauses(line, 60),
            "  6. memory: the kernel moves pages, and the loop waits"
        );
        assert_eq!(
            whole_clauses(line, 50),
            "  6. memory: the kernel moves pages"
        );
        assert_eq!(whole_clauses(line, 20), "  6. memory: the ke…");
    }
}
