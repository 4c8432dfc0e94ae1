//! The command that measured, in parts. Whatever repeats or suggests a command changes these parts and
//! renders them; nothing reads a command line again.

use serde::{Deserialize, Serialize};
use std::fmt;
use wakepath_timeline::one_line;

/// A verb that measures and can be repeated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MeasuringVerb {
    /// The loop of `wakepath check`.
    Check,
    /// A scenario.
    Run,
    /// The loops of a program.
    Record,
}

impl MeasuringVerb {
    /// As it is typed.
    pub fn word(self) -> &'static str {
        match self {
            Self::Check => "check",
            Self::Run => "run",
            Self::Record => "record",
        }
    }
}

/// An option that a repeated command can change, or that names the measured loop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
pub enum RunOption {
    Rate,
    Cpu,
    Policy,
    Duration,
    Quick,
    Trace,
    Directory,
    TrustDirectory,
    Json,
    NoTui,
}

impl RunOption {
    /// All of them.
    pub const ALL: [Self; 10] = [
        Self::Rate,
        Self::Cpu,
        Self::Policy,
        Self::Duration,
        Self::Quick,
        Self::Trace,
        Self::Directory,
        Self::TrustDirectory,
        Self::Json,
        Self::NoTui,
    ];

    /// Its long name, without dashes.
    pub fn name(self) -> &'static str {
        match self {
            Self::Rate => "rate",
            Self::Cpu => "cpu",
            Self::Policy => "policy",
            Self::Duration => "duration",
            Self::Quick => "quick",
            Self::Trace => "trace",
            Self::Directory => "directory",
            Self::TrustDirectory => "trust-directory",
            Self::Json => "json",
            Self::NoTui => "no-tui",
        }
    }
}

/// An option as it was given.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GivenOption {
    /// Its long name, without dashes.
    pub name: String,
    /// Its value; none for a switch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<String>,
}

/// The command.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Invocation {
    /// Its verb.
    pub verb: MeasuringVerb,
    /// The scenario's file or name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scenario: Option<String>,
    /// Options in their order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub options: Vec<GivenOption>,
    /// The user's program and its arguments.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub program: Vec<String>,
}

impl Invocation {
    /// Without options.
    pub fn new(verb: MeasuringVerb) -> Self {
        Self {
            verb,
            scenario: None,
            options: Vec::new(),
            program: Vec::new(),
        }
    }

    /// Of a scenario's file or name.
    pub fn of_scenario(scenario: impl Into<String>) -> Self {
        Self {
            scenario: Some(scenario.into()),
            ..Self::new(MeasuringVerb::Run)
        }
    }

    /// Whether an option is given.
    pub fn has(&self, option: RunOption) -> bool {
        self.options.iter().any(|of| of.name == option.name())
    }

    /// The values of an option.
    pub fn values(&self, option: RunOption) -> Vec<&str> {
        let own = self.options.iter().filter(|of| of.name == option.name());
        own.filter_map(|of| of.value.as_deref()).collect()
    }

    /// Without these options.
    pub fn without(mut self, options: &[RunOption]) -> Self {
        let is_one = |of: &GivenOption| options.iter().any(|option| of.name == option.name());
        self.options.retain(|of| !is_one(of));
        self
    }

    /// With this value instead of the option's earlier ones.
    pub fn with(self, option: RunOption, value: impl Into<String>) -> Self {
        self.without(&[option])
            .and(option.name(), Some(value.into()))
    }

    /// With this switch.
    pub fn with_switch(self, option: RunOption) -> Self {
        self.without(&[option]).and(option.name(), None)
    }

    /// With one more option.
    pub fn and(mut self, name: &str, value: Option<String>) -> Self {
        self.options.push(GivenOption {
            name: name.to_owned(),
            value,
        });
        self
    }

    /// The words as a program gets them, its own name included.
    pub fn words(&self) -> Vec<String> {
        let mut words = vec!["wakepath".to_owned(), self.verb.word().to_owned()];
        words.extend(self.scenario.clone());
        for GivenOption { name, value } in &self.options {
            words.push(format!("--{name}"));
            words.extend(value.clone());
        }
        if !self.program.is_empty() {
            words.push("--".to_owned());
            words.extend(self.program.clone());
        }
        words
    }
}

/// As it is typed into a shell.
impl fmt::Display for Invocation {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&shell_words(&self.words()))
    }
}

/// A command about a run that was measured, as it is typed. `run` is its name, empty for the latest, which needs none.
pub fn command_about(verb: &str, run: &str, options: &str) -> String {
    let run = if run.is_empty() {
        String::new()
    } else {
        shell_word(run)
    };
    let words = ["wakepath", verb, &run, options];
    let words: Vec<&str> = words.into_iter().filter(|word| !word.is_empty()).collect();
    words.join(" ")
}

/// Words as they are typed into a shell.
pub fn shell_words(words: &[String]) -> String {
    let words = words.iter().map(|word| shell_word(word));
    words.collect::<Vec<_>>().join(" ")
}

/// A word as a shell reads it, and as a terminal may show it: it may come from a file.
pub fn shell_word(text: &str) -> String {
    let text = one_line(text);
    let plain = |c: char| c.is_alphanumeric() || "-_./:=@%+,".contains(c);
    if !text.is_empty() && text.chars().all(plain) {
        text
    } else {
        format!("'{}'", text.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_changed_command_keeps_its_other_options_and_its_program() {
        let given = Invocation {
            program: vec!["./my loop".into(), "--duration".into(), "7".into()],
            ..Invocation::new(MeasuringVerb::Record)
                .with(RunOption::Duration, "4s")
                .and("idle", None)
                .with(RunOption::Directory, "run")
        };
        let again = given.without(&[RunOption::Directory]);
        assert_eq!(
            again.with(RunOption::Duration, "20s").to_string(),
            "wakepath record --idle --duration 20s -- './my loop' --duration 7"
        );
    }

    #[test]
    fn a_command_about_a_run_names_it_unless_it_is_the_latest() {
        assert_eq!(command_about("show", "", ""), "wakepath show");
        let of = |run| command_about("explain", run, "--all");
        assert_eq!(of(""), "wakepath explain --all");
        assert_eq!(of("my runs/1"), "wakepath explain 'my runs/1' --all");
    }

    #[test]
    fn words_are_quoted_for_a_shell_where_they_have_to_be() {
        assert_eq!(shell_word("--rate=1kHz"), "--rate=1kHz");
        assert_eq!(shell_word("FIFO 80"), "'FIFO 80'");
        assert_eq!(shell_word("it's; rm"), r"'it'\''s; rm'");
        assert_eq!(shell_word("\x1b[2J"), "'\u{fffd}[2J'");
        assert_eq!(shell_word(""), "''");
    }
}
