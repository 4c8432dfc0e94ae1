//! A loop's telemetry: times of sections, log lines, values, due times of a foreign clock.
//!
//! Arguments are copied unchanged; nothing here formats, waits, allocates or makes a system call.

mod argument;
mod formats;
mod record;
mod ring;

pub use argument::{Argument, Code};
pub use formats::{FORMAT_BYTES, Formats, MOST_FORMATS, SharedFormat, Style};
pub use record::{Said, Told};
pub use ring::{Reader, ReaderSide, SaidIndices, Word, Writer, WriterSide, reader, writer};

/// The most arguments of a line.
pub const MOST_ARGUMENTS: usize = 8;
/// Stored bytes of a text argument.
pub const TEXT_BYTES: usize = 64;
/// Longest record in words: its head, and texts for all arguments.
pub const MOST_WORDS: usize = 3 + MOST_ARGUMENTS * (1 + TEXT_BYTES / 8);

/// For [`crate::log!`]: fails to compile if a format of `{}` doesn't have a placeholder for each
/// argument.
#[doc(hidden)]
pub const fn fits(format: &str, arguments: usize) {
    let (format, mut at, mut places) = (format.as_bytes(), 0, 0);
    while at < format.len() {
        let doubled = at + 1 < format.len() && format[at + 1] == format[at];
        match format[at] {
            b'{' | b'}' if doubled => at += 1,
            b'{' => places += 1,
            _ => {}
        }
        at += 1;
    }
    assert!(
        places == arguments,
        "the format has not as many places as there are arguments"
    );
    assert!(
        arguments <= MOST_ARGUMENTS,
        "a line has 8 arguments at most"
    );
}
