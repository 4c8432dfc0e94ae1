//! All output of the command, filtered so that no character can control a terminal.

use std::io::{self, Write};
use wakepath_timeline::{is_unprintable, one_line};

/// Prints to standard output. A reader that closes it early (`| head`) is no error.
pub fn print(text: &str) -> io::Result<()> {
    match io::stdout().lock().write_all(shown(text).as_bytes()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        outcome => outcome,
    }
}

/// Prints one line on standard error; further lines are joined to it.
pub fn tell_line(line: &str) {
    let one = line.trim_end().replace('\n', "; ");
    // The work doesn't depend on a reader.
    let _ = writeln!(io::stderr().lock(), "{}", one_line(&one));
}

fn shown(text: &str) -> String {
    let seen = |c: char| {
        if c != '\n' && is_unprintable(c) {
            '\u{fffd}'
        } else {
            c
        }
    };
    text.chars().map(seen).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn line_ends_pass_and_nothing_that_steers() {
        assert_eq!(
            shown("µs\n\u{1b}[2J\u{202e}\t"),
            "µs\n\u{fffd}[2J\u{fffd}\u{fffd}"
        );
    }
}
