//! The one way out: all that the command says on standard output and standard error passes here,
//! and no character that could steer a terminal gets through, except our own styling. It
//! decides nothing about the text.
//!
//! `lib.rs` denies `println!` and its kin, so that a new line of output comes here too. That a
//! foreign name can't end its line and forge the next is not seen here, where all line ends look
//! alike: [`wakepath_archive::Run::open`] sees to that.

mod area;
mod pager;

pub use area::{Area, size};

use std::borrow::Cow;
use std::io::{self, IsTerminal, Write};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use wakepath_report::Style;
use wakepath_timeline::columns::folded;
use wakepath_timeline::{is_unprintable, one_line};

/// Says one line on standard error.
#[macro_export]
macro_rules! tell {
    ($($what:tt)*) => { $crate::terminal::tell_line(&format!($($what)*)) };
}
pub use tell;

/// Prints to standard output, on a terminal with the lines that are wider broken between words; elsewhere as
/// they are, for there another program reads line by line. A reader that has had enough (`| head`) is no error.
pub fn print(text: &str) -> io::Result<()> {
    let text = shown(text);
    let laid = Style::of_stdout()
        .columns
        .map(|columns| folded(&text, columns.max(LEAST_COLUMNS)));
    let text = laid.as_deref().unwrap_or(&text);
    if pager::shows(text) {
        return Ok(());
    }
    unless_closed(io::stdout().lock().write_all(text.as_bytes()))
}

/// Whether a pager showed the text, because it exceeds the screen; otherwise it is still to be printed.
pub fn is_paged(text: &str) -> bool {
    pager::shows(text)
}

/// Prints lines that stay whole, on a terminal too: commands that are pasted, forms that programs read.
pub fn print_whole(text: &str) -> io::Result<()> {
    unless_closed(io::stdout().lock().write_all(shown(text).as_bytes()))
}

/// Prints a result as `print` does. As JSON, for a program, every text in it stays exactly what it is, what a
/// terminal must not get as an escape of JSON's own.
pub fn print_result(json: bool, text: &str) -> io::Result<()> {
    if json {
        unless_closed(io::stdout().lock().write_all(escaped(text).as_bytes()))
    } else {
        print(text)
    }
}

/// Columns for text that a person reads: the terminal's, else a hundred.
pub fn columns() -> usize {
    Style::of_stdout().columns.unwrap_or(100).max(LEAST_COLUMNS)
}

/// Text with the lines that are wider than the terminal broken between words; as it is where
/// standard output is no terminal, for there another program reads it line by line.
pub fn laid(text: &str) -> String {
    match Style::of_stdout().columns {
        Some(columns) => folded(text, columns.max(LEAST_COLUMNS)),
        None => text.to_owned(),
    }
}

/// Text with its lines broken between words, in [`columns`]: for what a person reads wherever it
/// goes, as an answer that is mailed or pasted.
pub fn folded_for_people(text: &str) -> String {
    folded(text, columns())
}

/// Narrower than this nothing is laid out for.
const LEAST_COLUMNS: usize = 40;

/// Prints a file that is made of nothing but our own text, such as a shell's completions.
pub fn print_own(text: &str) -> io::Result<()> {
    unless_closed(io::stdout().lock().write_all(text.as_bytes()))
}

/// Standard output for a stream too long to be kept in memory.
pub fn stream() -> Shown<io::StdoutLock<'static>> {
    Shown(io::stdout().lock())
}

/// Standard output for a file that is no text; `None` where a terminal would get it.
pub fn bytes() -> Option<io::StdoutLock<'static>> {
    let out = io::stdout();
    (!out.is_terminal()).then(|| out.lock())
}

/// Passes on the output of a user's own command, which might contain foreign names: every byte for
/// a file or a pipe, and for a terminal only characters that neither steer it nor hide.
pub fn pass_on(bytes: &[u8], to: &mut (impl Write + IsTerminal)) -> io::Result<()> {
    let seen = to.is_terminal().then(|| seen(bytes));
    unless_closed(to.write_all(seen.as_deref().unwrap_or(bytes)))
}

/// Whether a live view fits: on a terminal that can move its cursor, unless plain lines are asked
/// for.
pub fn live_view_fits(plain_wanted: bool) -> bool {
    let dumb = std::env::var_os("TERM").is_none_or(|term| term == "dumb");
    !plain_wanted && !dumb && io::stderr().is_terminal()
}

static QUIET: AtomicBool = AtomicBool::new(false);

/// From now on only results, warnings and errors are shown: lines that begin with `wakepath:` or `warning:`.
pub fn be_quiet() {
    QUIET.store(true, Relaxed);
}

/// See [`be_quiet`].
pub fn is_quiet() -> bool {
    QUIET.load(Relaxed)
}

/// One line on standard error; what would be further lines is drawn into it.
pub fn tell_line(line: &str) {
    let is_trouble = ["wakepath: ", "warning: "]
        .iter()
        .any(|begin| line.starts_with(begin));
    if is_quiet() && !is_trouble {
        return;
    }
    let one = line.trim_end().replace('\n', "; ");
    // Nobody left to read it changes nothing about what is done.
    let _ = writeln!(io::stderr().lock(), "{}", laid_for_complaints(&shown(&one)));
}

/// Several lines on standard error.
pub fn tell_text(text: &str) {
    let laid = laid_for_complaints(&shown(text)) + "\n";
    let _ = io::stderr().lock().write_all(laid.as_bytes());
}

/// As [`laid`], for standard error; without its last line end.
fn laid_for_complaints(text: &str) -> String {
    let laid = match Style::of_stderr().columns {
        Some(columns) => folded(text, columns.max(LEAST_COLUMNS)),
        None => text.to_owned(),
    };
    laid.trim_end_matches('\n').to_owned()
}

/// Why a verb failed. A scenario's faults take a line each; those after the first are set in, so
/// that none looks like a result.
pub fn tell_failure(error: &dyn std::fmt::Display) {
    let text = failure_text(error);
    tell_text(&format!("wakepath: {}\n", text.replace('\n', "\n  ")));
}

/// An error's text, with the limit that the system met, if it did.
pub fn failure_text(error: &dyn std::fmt::Display) -> String {
    let text = error.to_string();
    let limit = crate::limits::named(&text).map_or(String::new(), |limit| format!("; {limit}"));
    let text = without_numbers(text.trim_end()) + &limit;
    text.trim_end().to_owned()
}

/// The text without the system's numbers for what its words say already.
fn without_numbers(text: &str) -> String {
    let mut parts = text.split(" (os error ");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |said, part| {
        let digits = part.trim_start_matches(|c: char| c.is_ascii_digit());
        match digits.strip_prefix(')') {
            Some(rest) => said + rest,
            None => said + " (os error " + part,
        }
    })
}

/// How far it is, on a line of standard error that is written over.
pub fn tell_progress(line: &str) {
    if is_quiet() {
        return;
    }
    let mut out = io::stderr().lock();
    let line = shown(line).replace('\n', " ");
    let _ = if out.is_terminal() {
        write!(out, "\r{line}\x1b[K")
    } else {
        writeln!(out, "{line}")
    };
    let _ = out.flush();
}

/// Clears what [`tell_progress`] left on a terminal.
pub fn end_progress() {
    let mut out = io::stderr().lock();
    if out.is_terminal() {
        let _ = write!(out, "\r\x1b[K");
    }
}

/// A question; the answer is typed after it.
pub fn ask(question: &str) -> io::Result<()> {
    let mut out = io::stderr().lock();
    write!(out, "{} ", shown(question))?;
    out.flush()
}

fn unless_closed(outcome: io::Result<()>) -> io::Result<()> {
    match outcome {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        outcome => outcome,
    }
}

/// A path for people: the names of its directories can neither steer a terminal nor forge a line.
pub trait OneLine {
    /// It as one line, replacement characters for what must not be shown.
    fn in_one_line(&self) -> String;
}

impl OneLine for Path {
    fn in_one_line(&self) -> String {
        one_line(&self.display().to_string())
    }
}

/// Characters for a terminal: our own styling, line ends, and visible ones.
fn shown(text: &str) -> Cow<'_, str> {
    if !text.contains(|c| c != '\n' && is_unprintable(c)) {
        return Cow::Borrowed(text);
    }
    let mut kept = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(character) = rest.chars().next() {
        let styling = Style::SEQUENCES.iter().find(|own| rest.starts_with(**own));
        let (length, piece) = match styling {
            Some(own) => (own.len(), *own),
            None if character != '\n' && is_unprintable(character) => {
                (character.len_utf8(), "\u{fffd}")
            }
            None => (character.len_utf8(), &rest[..character.len_utf8()]),
        };
        kept.push_str(piece);
        rest = &rest[length..];
    }
    Cow::Owned(kept)
}

/// Another program's output, tabs and line ends as they are, what else is not seen replaced.
fn seen(bytes: &[u8]) -> Vec<u8> {
    let text = String::from_utf8_lossy(bytes).replace("\r\n", "\n");
    let one = |piece: &str| shown(piece).into_owned();
    let pieces: Vec<_> = text.split('\t').map(one).collect();
    pieces.join("\t").into_bytes()
}

/// JSON in which characters that are not seen are escaped: outside of its strings it has none but
/// line ends.
fn escaped(json: &str) -> Cow<'_, str> {
    if !json.contains(|c| c != '\n' && is_unprintable(c)) {
        return Cow::Borrowed(json);
    }
    let mut kept = String::with_capacity(json.len());
    for character in json.chars() {
        if character == '\n' || !is_unprintable(character) {
            kept.push(character);
            continue;
        }
        for unit in character.encode_utf16(&mut [0; 2]) {
            kept += &format!("\\u{unit:04x}");
        }
    }
    Cow::Owned(kept)
}

/// A writer of text that lets through what `print` does, however the text is cut into writes.
pub struct Shown<W>(W);

impl<W: Write> Write for Shown<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        // Control characters beyond ASCII are recognized by their neighbours only: a stream is a
        // table of samples, with ASCII and labels that are clean.
        let clean = |byte: &u8| *byte == b'\n' || *byte == b'\r' || !byte.is_ascii_control();
        match bytes.iter().position(|byte| !clean(byte)) {
            None => self.0.write(bytes),
            Some(0) => self.0.write_all(b"?").map(|()| 1),
            Some(until) => self.0.write(&bytes[..until]),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_system_says_is_told_in_its_words_alone() {
        let error = io::Error::from_raw_os_error(2);
        let said = format!("a.toml: {error}; b.toml: {error}, as told");
        assert_eq!(
            without_numbers(&said),
            "a.toml: No such file or directory; b.toml: No such file or directory, as told"
        );
        let said_by_others = "a (os error of theirs) b";
        assert_eq!(without_numbers(said_by_others), said_by_others);
    }

    #[test]
    fn our_own_styling_and_line_ends_pass_and_nothing_else_that_steers() {
        assert_eq!(shown("plain µs\n"), "plain µs\n");
        assert_eq!(
            shown("\u{1b}[32mPASSED\u{1b}[0m\n\u{1b}[2J\u{1b}[1m\u{202e}\t\r\u{9b}\u{7}"),
            "\u{1b}[32mPASSED\u{1b}[0m\n\u{fffd}[2J\u{1b}[1m\u{fffd}\u{fffd}\u{fffd}\u{fffd}\u{fffd}"
        );
    }

    #[test]
    fn what_a_guest_wrote_reaches_a_terminal_harmless_and_a_file_exactly() {
        let wrote = b"a\tb\r\nc\x1b[2J\x1b]0;title\x07\xff\xe2\x80\xae\n";
        let replaced = "a\tb\nc\u{fffd}[2J\u{fffd}]0;title\u{fffd}\u{fffd}\u{fffd}\n";
        assert_eq!(String::from_utf8(seen(wrote)).unwrap(), replaced);
        let mut file = tempfile::tempfile().unwrap();
        pass_on(wrote, &mut file).unwrap();
        let mut kept = Vec::new();
        io::Seek::rewind(&mut file).unwrap();
        io::Read::read_to_end(&mut file, &mut kept).unwrap();
        assert_eq!(kept, wrote);
    }

    #[test]
    fn json_keeps_exactly_what_it_says() {
        let value = serde_json::json!({ "a\u{202e}": "\u{1b}[2J\n\u{7f}\u{9b}\u{e0001}ü" });
        let text = serde_json::to_string_pretty(&value).unwrap();
        let passed = escaped(&text);
        assert!(
            !passed.contains(|c| c != '\n' && is_unprintable(c)),
            "{passed}"
        );
        assert_eq!(
            serde_json::from_str::<serde_json::Value>(&passed).unwrap(),
            value
        );
    }

    #[test]
    fn a_stream_has_no_control_characters_however_it_is_cut() {
        let mut out = Shown(Vec::new());
        for piece in ["a,b\r\n", "\u{1b}[2J", "c\u{7}d", ""] {
            out.write_all(piece.as_bytes()).unwrap();
        }
        assert_eq!(out.0, b"a,b\r\n?[2Jc?d");
    }
}
