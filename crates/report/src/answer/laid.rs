//! The short answer on a terminal, within its lines and columns whatever names the run holds.
//! What does not fit is left out from the end of the table and counted.

mod policies;
mod steps;
#[cfg(test)]
mod tests;

use super::{Answer, COLUMNS, LINES, Matter, variants_table};
use crate::Style;
use crate::text::tone;
use wakepath_archive::command_about;
use wakepath_readiness::fix_lines;
use wakepath_timeline::columns::{cut, width, wrapped};

/// No narrower terminal is laid out for.
const LEAST_COLUMNS: usize = 40;
/// Factor on a text's lines if there is room.
const WHOLE: usize = 8;
/// Rows and lines of next steps are added in this order: this many rows, then this many lines, then more
/// rows.
const ROWS_FIRST: usize = 8;
/// See [`ROWS_FIRST`].
const NEXT_FIRST: usize = 8;

/// How and where an answer is shown.
#[derive(Debug, Clone, Copy, Default)]
pub struct Shown<'a> {
    /// Colours and columns.
    pub style: Style,
    /// The run's name in a command; empty if none is needed.
    pub run: &'a str,
    /// Where the recording lies.
    pub recording: &'a str,
    /// Lines that the caller adds.
    pub lines_more: usize,
}

impl Answer {
    /// The answer in at most 40 lines, the caller's included, and at most 100 columns.
    pub fn to_text(&self, shown: &Shown<'_>) -> String {
        let columns = shown.style.columns.unwrap_or(COLUMNS);
        let columns = columns.clamp(LEAST_COLUMNS, COLUMNS);
        // Everything whole if there is room; otherwise fewer problems, since a part of a sentence helps nobody;
        // otherwise each text in a few lines.
        let most = self.matter_count();
        let whole = (most.min(1)..=most)
            .rev()
            .find_map(|matters| self.laid(shown, columns, WHOLE, matters));
        let text = whole.or_else(|| self.laid(shown, columns, 1, most));
        let text = text.unwrap_or_default();
        match text.split_once('\n') {
            Some((first, rest)) => format!("{}\n{rest}", self.coloured(first, shown.style)),
            None => text,
        }
    }

    /// With `more` times as many lines for each text as there are in need, and the first `matters` problems of the
    /// machine; `None` if more than one time leaves no room for something.
    fn laid(
        &self,
        shown: &Shown<'_>,
        columns: usize,
        more: usize,
        matters: usize,
    ) -> Option<String> {
        let mut above = self.verdict(columns, more);
        if !self.criterion.is_empty() {
            let criterion = format!("criterion: {}", self.criterion);
            above += &lines(&criterion, "  ", columns, 3 * more);
        }
        above.push('\n');
        let matters = self.matters(columns, more, matters);
        let mut notes = String::from("\n");
        notes += &lines(&self.limits, "  ", columns, 2 * more);
        let recording = format!("recording: {}", shown.recording);
        notes += &lines(&recording, "  ", columns, more);
        let used = [&above, &matters, &notes].map(|text| text.lines().count());
        let used = used.iter().sum::<usize>() + shown.lines_more;
        let rows_first = match (more, self.variants.len()) {
            (1, 0) => ROWS_FIRST,
            _ => usize::MAX,
        };
        let some = self.row_count().min(rows_first);
        let table = self.table(some, columns, more).lines().count() + 1;
        let least = if self.variants.is_empty() {
            NEXT_FIRST
        } else {
            NEXT_FIRST / 2
        };
        let room = LINES.saturating_sub(used + table + 1).max(least);
        let (next, is_all) = self.next(shown.run, columns, room);
        let used = used + next.lines().count();
        if more > 1 && (!is_all || used + table >= LINES) {
            return None;
        }
        let table = self.table_within(LINES.saturating_sub(used), columns, more, shown.run);
        Some(format!("{above}{table}{matters}{next}{notes}"))
    }

    fn verdict(&self, columns: usize, more: usize) -> String {
        let outcome = self.outcome.to_string().to_uppercase();
        let Some((first, others)) = self.because.split_first() else {
            return format!("verdict: {outcome}\n");
        };
        let mut text = lines(
            &format!("verdict: {outcome}: {first}"),
            "  ",
            columns,
            3 * more,
        );
        for because in others.iter().take(2) {
            text += &lines(&format!("  {because}"), "  ", columns, 2 * more);
        }
        text
    }

    /// The first line with the outcome in its colour.
    fn coloured(&self, line: &str, style: Style) -> String {
        let outcome = self.outcome.to_string().to_uppercase();
        let toned = style.toned(tone(self.outcome), &outcome);
        line.replacen(&outcome, &style.bold(&toned), 1)
    }

    /// As many rows as there are lines for, and how many more there are.
    fn table_within(&self, most: usize, columns: usize, more: usize, run: &str) -> String {
        if self.classes.is_empty() {
            return String::new();
        }
        // A policy takes a line at least.
        let mut shown = match self.variants.len() {
            0 => self.rows.len().min(most),
            variants => variants,
        };
        loop {
            let mut text = self.table(shown, columns, more);
            let left_out = self.row_count() - shown;
            if left_out > 0 {
                let all = command_about("show", run, "--details");
                text += &cut(&format!("  and {left_out} more: {all}"), columns);
                text.push('\n');
            }
            if shown == 0 || text.lines().count() < most {
                return text + "\n";
            }
            shown -= 1;
        }
    }

    fn row_count(&self) -> usize {
        match self.variants.len() {
            0 => self.rows.len(),
            variants => variants,
        }
    }

    /// The first `shown` rows: programs side by side, if the run compares those, or policies.
    fn table(&self, shown: usize, columns: usize, more: usize) -> String {
        let text = if self.variants.is_empty() {
            self.policies(shown, columns, more)
        } else {
            variants_table(&self.variants[..shown]).to_terminal(Some(columns))
        };
        let kept: Vec<String> = text.lines().map(|line| cut(line, columns)).collect();
        kept.join("\n") + "\n"
    }

    /// Number of problems of the machine that can be shown. If programs are compared, they come before the machine
    /// that they share.
    fn matter_count(&self) -> usize {
        match self.variants.len() {
            0 => self.machine.len(),
            _ => self.machine.len().min(1),
        }
    }

    fn matters(&self, columns: usize, more: usize, most: usize) -> String {
        if self.machine.is_empty() {
            return String::new();
        }
        let left_out = self.machine.iter().skip(most).filter(|of| of.is_check);
        let others = match self.more_bad + left_out.count() {
            0 => String::new(),
            others => format!(" ({others} more: {})", self.doctor),
        };
        let heading = format!("what matters most on this machine{others}");
        // A command that is cut can't be typed.
        let mut text = lines(&heading, "  ", columns, 2 * more);
        let shown = self.machine.iter().take(most);
        for Matter {
            what, size, remedy, ..
        } in shown
        {
            // The size is not what is cut.
            let room = match more {
                1 => columns.saturating_sub(width(size) + 6).max(columns / 3),
                _ => usize::MAX,
            };
            text += &lines(
                &format!("  {}; {size}", cut(what, room)),
                "    ",
                columns,
                more,
            );
            if !remedy.is_empty() {
                text += &fix_lines(&format!("fix: {remedy}"), columns, 2 * more);
            }
        }
        text + "\n"
    }
}

/// At most `most` lines; a truncated text is marked.
fn lines(text: &str, rest: &str, columns: usize, most: usize) -> String {
    let begin = &text[..text.len() - text.trim_start().len()];
    let laid = wrapped(text, begin, rest, columns);
    if laid.lines().count() <= most {
        return laid;
    }
    let mut kept: Vec<String> = laid.lines().take(most).map(str::to_owned).collect();
    if let Some(last) = kept.last_mut() {
        *last = cut(&format!("{last} …………"), columns.min(width(last) + 2));
    }
    kept.join("\n") + "\n"
}
