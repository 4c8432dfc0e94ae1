//! The recorder's messages: in the history, and errors on standard error too.

use super::{Recorder, Slot};
use crate::history::{Entry, now_ns};
use std::io::{self, Write};

impl Recorder<'_> {
    pub(super) fn ended(&mut self, name: String, how: &str, died: bool) {
        let outcome = self.history.append(&Entry::LoopEnded {
            at_ns: now_ns(),
            name,
            how: how.into(),
            died,
        });
        self.check(outcome);
    }

    /// Reports an ended loop's due times of another clock that it rejected.
    pub(super) fn say_doubted(&mut self, name: &str, sentences: Vec<String>) {
        for sentence in sentences {
            self.say(format!("{name}: {sentence}"));
        }
    }

    /// The same of loops that ended with an earlier recorder: those of another program than this one.
    pub(super) fn say_what_nobody_goes_on_with(&mut self) {
        let (program, resumes) = (self.program, self.settings.resumes);
        let goes_on = |process| resumes && process == program;
        let ended = self
            .reached
            .extract_if(.., |(process, _), _| !goes_on(*process));
        for (_, left) in ended.collect::<Vec<_>>() {
            self.say_doubted(&left.name, left.doubted.sentences().collect());
        }
    }

    pub(super) fn complaints(&mut self) {
        let mut said = Vec::new();
        for slot in &mut self.loops {
            if let Slot::Taken(of) = slot
                && let Some(error) = of.complaint.take()
            {
                said.push(format!("{}: {error}", of.found.name));
            }
        }
        said.into_iter().for_each(|text| self.say(text));
    }

    /// Reports a fault once, until a different one occurs.
    pub(super) fn check(&mut self, outcome: io::Result<()>) {
        if let Err(error) = outcome {
            let text = format!("{}: {error}", self.directory.path().display());
            if self.complained.as_ref() != Some(&text) {
                complain(&text);
                self.complained = Some(text);
            }
        }
    }

    pub(super) fn say(&mut self, text: String) {
        complain(&text);
        let at_ns = now_ns();
        let outcome = self.history.append(&Entry::Note { at_ns, text });
        self.check(outcome);
    }
}

/// Prints on standard error, if it is still open: the terminal or the log might have gone long ago,
/// and a recorder that died of that would be the worse fault.
fn complain(text: &str) {
    let _ = writeln!(io::stderr(), "wakepath: {text}");
}
