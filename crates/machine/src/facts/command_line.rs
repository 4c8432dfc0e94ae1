//! The kernel's command line, set by the boot loader.
//!
//! A parameter on it isn't necessarily in effect: it can be misspelt, unknown to this kernel or
//! overridden.

use serde::{Deserialize, Serialize};

use crate::{Reading, Root};

/// Parameters whose values identify a machine or open it; only their names are kept.
const MASKED: &[&str] = &[
    "serialno", "macaddr", "hostname", "password", "secret", "token",
];

/// The kernel's parameters.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct CommandLine {
    /// As in `/proc/cmdline` up to ` -- ` (init's arguments follow), with host names, serial
    /// numbers and secrets masked as `…`.
    pub text: Reading<String>,
}

impl CommandLine {
    pub(super) fn read(root: &Root) -> Self {
        Self {
            text: root.text("/proc/cmdline").map(|text| for_the_record(&text)),
        }
    }

    /// The parameters in order: name, and value if given.
    pub fn parameters(&self) -> impl Iterator<Item = (&str, Option<&str>)> {
        split(self.text.known().map_or("", String::as_str)).map(|word| match word.split_once('=') {
            Some((name, value)) => (name, Some(value.trim_matches('"'))),
            None => (word, None),
        })
    }

    /// The last value of a parameter, which the kernel uses for most of them.
    pub fn value(&self, name: &str) -> Option<&str> {
        self.parameters()
            .filter(|(found, _)| *found == name)
            .last()?
            .1
    }
}

fn for_the_record(text: &str) -> String {
    let mut kept = Vec::new();
    for word in split(text) {
        if word == "--" {
            break;
        }
        match word.split_once('=') {
            Some((name, _)) if is_private(name) => kept.push(format!("{name}=…")),
            _ => kept.push(word.to_owned()),
        }
    }
    kept.join(" ")
}

fn is_private(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    MASKED.iter().any(|part| name.contains(part))
}

/// Splits words at white space outside double quotes, like the kernel's `next_arg`.
fn split(text: &str) -> impl Iterator<Item = &str> {
    let mut quoted = false;
    text.split(move |c: char| {
        quoted ^= c == '"';
        c.is_whitespace() && !quoted
    })
    .filter(|word| !word.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(text: &str) -> CommandLine {
        CommandLine {
            text: Reading::found(for_the_record(text), "/proc/cmdline"),
        }
    }

    #[test]
    fn quoted_values_keep_their_spaces_and_the_last_value_counts() {
        let line = with("quiet isolcpus=1 dyndbg=\"file a +p\" isolcpus=2-3");
        assert_eq!(line.value("dyndbg"), Some("file a +p"));
        assert_eq!(line.value("isolcpus"), Some("2-3"));
        assert_eq!(line.value("quiet"), None);
    }

    #[test]
    fn arguments_of_init_and_identities_are_not_recorded() {
        let line = with("smsc95xx.macaddr=B8:27:EB:00:00:01 quiet -- --token=abc");
        assert_eq!(line.text.known().unwrap(), "smsc95xx.macaddr=… quiet");
    }
}
