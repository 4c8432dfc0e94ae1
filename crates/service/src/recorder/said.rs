//! What the recorder says: into the history, and what goes wrong on standard error too.

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

    /// The same fault is said once, until something else is.
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

/// On standard error, if anybody has it still: the terminal or the log of years ago may be gone, and a recorder that
/// dies of it would be the worse fault.
fn complain(text: &str) {
    let _ = writeln!(io::stderr(), "wakepath: {text}");
}
