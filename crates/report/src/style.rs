//! How text may be shown: with colour or without, in how many columns.

use crate::table::Tone;
use std::io::IsTerminal;
use std::os::fd::AsFd;
use std::sync::OnceLock;

/// When text is coloured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Colour {
    /// On a terminal, unless `NO_COLOR` is set.
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// The command line's choice, once for the process.
static CHOICE: OnceLock<Colour> = OnceLock::new();

/// Chooses it for every [`Style`] from now on; the first choice stays.
pub fn choose_colour(colour: Colour) {
    let _ = CHOICE.set(colour);
}

/// Abilities of the reader's terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Style {
    /// Whether escape sequences for colour may be used.
    pub colour: bool,
    /// Columns; `None` for a file or a pipe, where lines may be as long as they are.
    pub columns: Option<usize>,
}

impl Style {
    /// Every escape sequence that styling makes: what writes text to a terminal lets these pass
    /// and no other.
    pub const SEQUENCES: [&'static str; 5] =
        ["\x1b[0m", "\x1b[1m", "\x1b[31m", "\x1b[32m", "\x1b[33m"];

    /// That of standard output: colour on a terminal only, and not under `NO_COLOR`.
    pub fn of_stdout() -> Self {
        Self::new(&std::io::stdout())
    }

    /// That of standard error, likewise.
    pub fn of_stderr() -> Self {
        Self::new(&std::io::stderr())
    }

    fn new(stream: &(impl IsTerminal + AsFd)) -> Self {
        let colour = match CHOICE.get() {
            Some(Colour::Always) => true,
            Some(Colour::Never) => false,
            _ => {
                stream.is_terminal()
                    && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
            }
        };
        if !stream.is_terminal() {
            let columns = None;
            return Self { colour, columns };
        }
        let columns = rustix::termios::tcgetwinsize(stream)
            .ok()
            .map(|size| size.ws_col.into());
        Self {
            colour,
            columns: columns.filter(|&columns| columns > 0),
        }
    }

    /// Headings, and work under way.
    pub fn bold(self, text: &str) -> String {
        self.with("1", text)
    }

    /// Unknown results.
    pub fn doubtful(self, text: &str) -> String {
        self.toned(Tone::Doubtful, text)
    }

    /// Failures.
    pub fn bad(self, text: &str) -> String {
        self.toned(Tone::Bad, text)
    }

    pub(crate) fn toned(self, tone: Tone, text: &str) -> String {
        let code = match tone {
            Tone::Good => "32",
            Tone::Bad => "31",
            Tone::Doubtful => "33",
        };
        self.with(code, text)
    }

    fn with(self, code: &str, text: &str) -> String {
        if self.colour {
            format!("\x1b[{code}m{text}\x1b[0m")
        } else {
            text.into()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_styling_is_missing_from_what_may_pass() {
        let style = Style {
            colour: true,
            columns: None,
        };
        for styled in [
            style.bold("x"),
            style.toned(Tone::Good, "x"),
            style.bad("x"),
            style.toned(Tone::Doubtful, "x"),
        ] {
            let (before, after) = styled.split_once('x').unwrap();
            for sequence in [before, after] {
                assert!(Style::SEQUENCES.contains(&sequence), "{sequence:?}");
            }
        }
    }
}
