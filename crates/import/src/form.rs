//! Forms of files: a word, how such a file is recognized, and its reader. One table lists them all.

use crate::{
    Asked, ImportError, Imported, Part, csv, cyclictest_text, cyclictest_verbose, decode, ftrace,
    hackbench, jitterdebugger, latency_lines, latmus_plot, lttng, oslat, pairs_text, perf_data,
    perf_latency, perf_sched, ros2, ros2_control, rt_tests_json, rteval, rtla, status_text,
    stress_ng, trace_dat, tracers,
};
use std::borrow::Cow;
use std::fmt;
use wakepath_timeline::decoded;

/// A form of files that can be read. Two are the same if their words are.
pub struct Form {
    /// Its word on the command line.
    pub(crate) word: &'static str,
    /// The command that writes such a file.
    pub(crate) written_by: &'static str,
    /// Options that apply to it.
    pub(crate) uses: &'static [Use],
    pub(crate) reader: Reader,
}

/// An option that applies to some forms.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Use {
    /// The file has all threads of a machine: `--thread` selects some.
    Threads,
    /// The file does not say whether its numbers are micro- or nanoseconds: `--nanoseconds`.
    Nanoseconds,
    /// The file is a table: `--columns` and `--unit`.
    Columns,
    /// The file has callbacks of ROS 2: `--chain`, `--limit` and `--worst`.
    Callbacks,
}

/// How well a file fits a form.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Fit {
    No,
    /// As any tool could have written it.
    Possible,
    /// As this tool alone writes it.
    Certain,
}

impl Fit {
    /// `Certain` if the tool's own words are in the file.
    pub(crate) fn certain_if(is_it: bool) -> Self {
        if is_it { Self::Certain } else { Self::No }
    }
}

/// How files of a form are recognized, from their beginning, and read.
pub(crate) enum Reader {
    Text(
        fn(&str) -> Fit,
        fn(&str, &Asked<'_>) -> Result<Imported, ImportError>,
    ),
    Bytes(
        fn(&[u8]) -> Fit,
        fn(&[u8], &Asked<'_>) -> Result<Imported, ImportError>,
    ),
    Directory(
        fn(&[Part]) -> Fit,
        fn(&[Part], &Asked<'_>) -> Result<Imported, ImportError>,
    ),
}

/// Every form, in the order of the guide's table.
static FORMS: [&Form; 31] = [
    &cyclictest_text::FORM,
    &rt_tests_json::FORM,
    &cyclictest_verbose::FORM,
    &oslat::FORM,
    &status_text::CYCLICDEADLINE,
    &status_text::SIGNALTEST,
    &pairs_text::FORM,
    &hackbench::FORM,
    &rteval::FORM,
    &stress_ng::FORM,
    &latency_lines::FORM,
    &latmus_plot::FORM,
    &rtla::TIMERLAT,
    &rtla::OSNOISE,
    &rtla::TOP,
    &jitterdebugger::RESULTS,
    &jitterdebugger::SAMPLES,
    &status_text::JITTERDEBUGGER,
    &perf_data::FORM,
    &perf_sched::FORM,
    &perf_latency::FORM,
    &csv::FORM,
    &ftrace::FORM,
    &tracers::TIMERLAT,
    &tracers::OSNOISE,
    &tracers::HWLAT,
    &tracers::WAKEUP,
    &trace_dat::FORM,
    &lttng::FORM,
    &ros2::FORM,
    &ros2_control::FORM,
];

/// A file is recognized by this much of its beginning.
const BEGINNING: usize = 1 << 16;
/// Characters of an unknown file's first line that a message quotes.
const QUOTED: usize = 60;

impl Form {
    /// Every form.
    pub fn all() -> impl ExactSizeIterator<Item = &'static Self> {
        FORMS.iter().copied()
    }

    /// Its word on the command line.
    pub fn word(&self) -> &'static str {
        self.word
    }

    /// The command that writes such a file.
    pub fn written_by(&self) -> &'static str {
        self.written_by
    }

    /// Whether an option applies to its files.
    pub fn uses(&self, of: Use) -> bool {
        self.uses.contains(&of)
    }

    /// The form of a word.
    ///
    /// # Errors
    /// For a word that no form has.
    pub fn named(word: &str) -> Result<&'static Self, UnknownForm> {
        let found = Self::all().find(|form| form.word == word);
        found.ok_or_else(|| UnknownForm(word.to_owned()))
    }

    /// The form of a file, by its content.
    ///
    /// # Errors
    /// If none or several fit.
    pub fn of_file(bytes: &[u8]) -> Result<&'static Self, Unrecognized> {
        let text = decode::beginning(beginning(bytes));
        best(|form| form.fit(bytes, text.as_deref())).map_err(|among| match among {
            Among::None if bytes.is_empty() => Unrecognized::Empty,
            Among::None => Unrecognized::Unknown(first_line(text.as_deref())),
            Among::Several(words) => Unrecognized::Several(words),
        })
    }

    fn fit(&self, bytes: &[u8], text: Option<&str>) -> Fit {
        match (&self.reader, text) {
            (Reader::Text(fits, _), Some(text)) => fits(text),
            (Reader::Text(fits, _), None) if self.uses(Use::Threads) => {
                let own = beginning(bytes);
                if own.contains(&0) {
                    Fit::No
                } else {
                    fits(&decoded(own))
                }
            }
            (Reader::Bytes(fits, _), _) => fits(bytes),
            _ => Fit::No,
        }
    }

    /// The form of a directory; `None` if it holds files that are forms of their own.
    pub fn of_directory(parts: &[Part]) -> Option<&'static Self> {
        let fits = |form: &Self| match &form.reader {
            Reader::Directory(fits, _) => fits(parts),
            _ => Fit::No,
        };
        best(fits).ok()
    }

    /// Whether it is a directory's form, read with [`Form::read_directory`].
    pub fn is_directory(&self) -> bool {
        matches!(self.reader, Reader::Directory(..))
    }

    /// Reads a directory of this form, all files of it.
    ///
    /// # Errors
    /// The first file that is not as the tool writes it.
    pub fn read_directory(
        &self,
        parts: &[Part],
        asked: &Asked<'_>,
    ) -> Result<Imported, ImportError> {
        match &self.reader {
            Reader::Directory(_, read) => read(parts, asked),
            _ => Err(ImportError::whole(format!(
                "is a directory; {} reads a file",
                self.word
            ))),
        }
    }

    /// Reads a file of this form.
    ///
    /// # Errors
    /// For a file of another form, which is named; otherwise the first thing that is not as the tool writes
    /// it, with its line.
    pub fn read(&self, bytes: &[u8], asked: &Asked<'_>) -> Result<Imported, ImportError> {
        let text = decode::beginning(beginning(bytes));
        if self.fit(bytes, text.as_deref()) == Fit::No
            && let Ok(known) = Self::of_file(bytes)
        {
            return Err(ImportError::whole(format!(
                "is not of the form {}: it is of the form {}, as `{}` writes it",
                self.word, known.word, known.written_by
            )));
        }
        match &self.reader {
            // Names of threads are in it, which the kernel cuts within a character too.
            Reader::Text(_, read) if self.uses(Use::Threads) => {
                let text = decode::text(bytes);
                read(&text.unwrap_or_else(|_| decoded(bytes)), asked)
            }
            Reader::Text(_, read) => read(&decode::text(bytes)?, asked),
            Reader::Bytes(_, read) => read(bytes, asked),
            Reader::Directory(..) => Err(ImportError::whole(format!(
                "is a file; {} reads the directory that `{}` made",
                self.word, self.written_by
            ))),
        }
    }
}

impl PartialEq for Form {
    fn eq(&self, other: &Self) -> bool {
        self.word == other.word
    }
}

impl Eq for Form {}

impl fmt::Debug for Form {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word)
    }
}

fn beginning(bytes: &[u8]) -> &[u8] {
    &bytes[..bytes.len().min(BEGINNING)]
}

enum Among {
    None,
    Several(Vec<&'static str>),
}

/// The form that fits best, if it is one.
fn best(fits: impl Fn(&Form) -> Fit) -> Result<&'static Form, Among> {
    for wanted in [Fit::Certain, Fit::Possible] {
        let mut found: Vec<&'static Form> =
            Form::all().filter(|form| fits(form) == wanted).collect();
        match (found.pop(), found.is_empty()) {
            (None, _) => {}
            (Some(only), true) => return Ok(only),
            (Some(last), false) => {
                found.push(last);
                return Err(Among::Several(found.into_iter().map(Form::word).collect()));
            }
        }
    }
    Err(Among::None)
}

fn first_line(text: Option<&str>) -> Option<String> {
    let line = text?.lines().map(str::trim).find(|line| !line.is_empty())?;
    let shown: Cow<'_, str> = line
        .chars()
        .take(QUOTED)
        .map(|c| if c.is_control() { '?' } else { c })
        .collect();
    Some(shown.into_owned())
}

/// A word that no form has.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "there is no form `{0}`; there are {all}",
    all = FORMS.map(Form::word).join(", ")
)]
pub struct UnknownForm(pub String);

/// Why the form of a file is not known.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unrecognized {
    /// There is nothing in it.
    #[error("is empty")]
    Empty,
    /// No form fits. With its first line, if it is text.
    #[error(
        "is not a file that can be imported{}; `wakepath import --help` lists the forms",
        .0.as_ref().map_or(String::new(), |line| format!(": it begins with `{line}`"))
    )]
    Unknown(Option<String>),
    /// Several fit equally well.
    #[error("matches several forms: give one of {}", .0.iter().map(|word| format!("--form {word}")).collect::<Vec<_>>().join(", "))]
    Several(Vec<&'static str>),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_leads_to_its_form_and_no_two_are_the_same() {
        for form in Form::all() {
            assert_eq!(Form::named(form.word()), Ok(form));
        }
        let unknown = Form::named("perf-mem").unwrap_err().to_string();
        assert!(unknown.contains("cyclictest-verbose"), "{unknown}");
    }

    #[test]
    fn what_fits_nothing_is_quoted_by_its_first_line() {
        let refused = |bytes: &[u8]| Form::of_file(bytes).unwrap_err().to_string();
        assert_eq!(refused(b""), "is empty");
        let words = refused(b"\n  Dear reader,\x1b[3A\nall is well.\n");
        assert!(words.contains("begins with `Dear reader,?[3A`"), "{words}");
        assert!(refused(&[0, 1, 2]).starts_with("is not a file"));
    }
}
