//! The catalogue of fixes: one row for each, with the words that are printed. Which row fits a cause is in `remedy`;
//! the table of the guide is made from it.

mod calls;
mod fill;
mod machine;
mod memory;
mod program;
mod scheduling;
mod table;
mod waits;

pub use calls::*;
pub use machine::*;
pub use memory::*;
pub use program::*;
pub use scheduling::*;
pub use table::table;
pub use waits::*;

/// A fix. `{}` in its texts are places for names, in order.
#[derive(Debug)]
pub struct Fix {
    /// A few words for the table.
    pub name: &'static str,
    /// One sentence, as printed.
    pub words: &'static str,
    /// The state that it changes.
    pub changes: &'static str,
    /// Who can change it.
    pub who: &'static [Who],
    /// As `wakepath try` takes it, if it can apply it.
    pub trial: Option<&'static str>,
    /// Whether it is known to cure.
    pub proof: Proof,
}

/// Who can apply a fix.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Who {
    /// The user who starts the program.
    User,
    /// The administrator of this machine.
    Root,
    /// The person who builds or chooses its kernel.
    KernelBuilder,
    /// The author of the program.
    Programmer,
    /// The administrator of the machine that this one is a guest of, or of its firmware.
    Host,
}

/// Whether a fix is known to cure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Proof {
    /// These tests apply it as it is printed, and the time charged to its cause falls by nine tenths or more.
    Tests(&'static [&'static str]),
    /// No test can, for this reason.
    NotHere(&'static str),
}

impl Fix {
    /// The sentence with these names in it.
    pub fn with(&'static self, names: &[&str]) -> Remedy {
        Remedy {
            fix: self,
            text: fill::fill(self.words, names),
            trial: None,
        }
    }

    /// The sentence without names.
    pub fn plain(&'static self) -> Remedy {
        self.with(&[])
    }
}

/// A fix for one cause.
#[derive(Debug, Clone)]
pub struct Remedy {
    /// Its row.
    pub fix: &'static Fix,
    /// One sentence.
    pub text: String,
    trial: Option<String>,
}

impl Remedy {
    /// With the command that tries it, with these names.
    pub(crate) fn with_trial(mut self, names: &[&str]) -> Self {
        self.trial = self.fix.trial.map(|command| fill::fill(command, names));
        self
    }

    /// The sentence, with the command that tries it if `wakepath try` can apply it. `thread`: the one to be tried, as a
    /// word of a shell; `try` takes the most urgent one otherwise.
    pub fn printed(self, thread: Option<&str>) -> String {
        let text = self.text;
        match (self.trial, thread) {
            (Some(fix), Some(thread)) => {
                format!("{text}. To try it: wakepath try {fix} --thread={thread} -- PROGRAM")
            }
            (Some(fix), None) => format!("{text}. To try it: wakepath try {fix} -- PROGRAM"),
            (None, _) => text,
        }
    }
}

/// All of them, by what they are about.
pub fn all() -> impl Iterator<Item = &'static Fix> {
    let parts = [
        scheduling::ROWS,
        memory::ROWS,
        calls::ROWS,
        waits::ROWS,
        program::ROWS,
        machine::ROWS,
    ];
    parts.into_iter().flatten().copied()
}

/// Rows, and the list of them: no row can be left out of it.
macro_rules! rows {
    ($($name:ident: $row:expr;)*) => {
        $(#[expect(missing_docs, reason = "its words say it")] pub static $name: Fix = $row;)*
        pub(super) static ROWS: &[&Fix] = &[$(&$name),*];
    };
}
use rows;

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn each_fix_has_a_name_of_its_own_someone_who_applies_it_and_a_proof_or_a_reason() {
        let names: HashSet<&str> = all().map(|fix| fix.name).collect();
        assert_eq!(names.len(), all().count());
        for fix in all() {
            assert!(
                !fix.who.is_empty() && !fix.changes.is_empty(),
                "{}",
                fix.name
            );
            match fix.proof {
                Proof::Tests(tests) => assert!(!tests.is_empty(), "{}", fix.name),
                Proof::NotHere(why) => assert!(!why.is_empty(), "{}", fix.name),
            }
        }
    }

    #[test]
    fn no_sentence_is_written_twice() {
        let words: HashSet<&str> = all()
            .map(|fix| fix.words)
            .filter(|it| *it != "{}")
            .collect();
        let all = all().filter(|fix| fix.words != "{}").count();
        assert_eq!(words.len(), all);
    }
}
