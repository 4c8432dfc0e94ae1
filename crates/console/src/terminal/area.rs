//! A few lines at the bottom of the terminal on standard error, overwritten in place; lines above
//! stay as they were. It asks the terminal nothing and reads nothing from it: text typed in the
//! meantime stays for the shell. It does not know the meaning of the lines.

use super::shown;
use std::io::{self, Write};
use wakepath_timeline::columns::width;

/// Lines that are on the terminal now.
#[derive(Debug, Default)]
pub struct Area {
    /// Columns of each.
    widths: Vec<usize>,
}

/// Columns and lines of the terminal on standard error; `None` without a terminal.
pub fn size() -> Option<(usize, usize)> {
    let size = rustix::termios::tcgetwinsize(io::stderr()).ok()?;
    let size = (usize::from(size.ws_col), usize::from(size.ws_row));
    (size.0 > 0 && size.1 > 0).then_some(size)
}

impl Area {
    /// Shows these lines in the place of those before. None of them is wider than the terminal.
    pub fn show(&mut self, lines: &[String], columns: usize) {
        let mut text = self.to_the_top(columns);
        let lines: Vec<String> = lines.iter().map(|line| one(line)).collect();
        for (number, line) in lines.iter().enumerate() {
            if number > 0 {
                text += "\r\n";
            }
            text += line;
            text += "\x1b[K";
        }
        // Old lines below.
        text += "\x1b[J";
        self.widths = lines.iter().map(|line| width(line)).collect();
        write(&text);
    }

    /// Removes the lines: the next output replaces them.
    pub fn clear(&mut self, columns: usize) {
        if !self.widths.is_empty() {
            let text = self.to_the_top(columns) + "\x1b[J";
            self.widths.clear();
            write(&text);
        }
    }

    /// Moves to the first line. A terminal that has become narrower has broken the wide ones.
    fn to_the_top(&self, columns: usize) -> String {
        let broken = |width: &usize| width.max(&1).div_ceil(columns.max(1));
        let lines: usize = self.widths.iter().map(broken).sum();
        match lines {
            0 | 1 => "\r".to_owned(),
            lines => format!("\r\x1b[{}A", lines - 1),
        }
    }
}

/// A line without what would steer the terminal or end it.
fn one(line: &str) -> String {
    shown(line).replace('\n', " ")
}

fn write(text: &str) {
    // A terminal that is gone loses the view, not what is measured. One write: nothing of another
    // comes between.
    let mut out = io::stderr().lock();
    let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_name_steers_the_terminal_or_takes_another_line() {
        let hostile = "x\u{1b}[2J\nverdict: PASSED\r\u{9b}31m\u{202e}";
        assert_eq!(
            one(hostile),
            "x\u{fffd}[2J verdict: PASSED\u{fffd}\u{fffd}31m\u{fffd}"
        );
    }

    #[test]
    fn a_terminal_that_became_narrower_is_gone_up_by_what_it_broke() {
        let area = Area {
            widths: vec![79, 0, 40],
        };
        assert_eq!(area.to_the_top(80), "\r\x1b[2A");
        // 79 takes two lines of 40; 40 takes one.
        assert_eq!(area.to_the_top(40), "\r\x1b[3A");
    }
}
