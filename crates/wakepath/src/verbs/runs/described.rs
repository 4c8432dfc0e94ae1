//! A run in a few words, for a list of many.

use wakepath_console::usage::quoted;

/// The command as it was typed, without the program and the run's directory.
pub fn what(command: &[String], scenario: &str) -> String {
    let mut words = Vec::new();
    let mut rest = command.iter().skip(1);
    while let Some(word) = rest.next() {
        match word.as_str() {
            "--directory" => drop(rest.next()),
            "--json" | "--no-tui" | "--trust-directory" => {}
            word => words.push(quoted(word)),
        }
    }
    match words.is_empty() {
        true => scenario.to_owned(),
        false => words.join(" "),
    }
}

/// Processors and kernel: what tells machines apart at a glance.
pub fn in_short(machine: &[(String, String)]) -> String {
    let of = |label: &str| {
        let found = machine.iter().find(|(name, _)| name == label);
        found.map_or("", |(_, text)| {
            text.split([',', ';']).next().unwrap_or_default()
        })
    };
    let parts = [of("CPUs"), of("Kernel")];
    let known: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    known.join(", Linux ")
}

#[cfg(test)]
mod tests {
    use super::what;

    #[test]
    fn a_command_is_told_as_it_is_typed_again() {
        let of = |words: &[&str]| {
            what(
                &words.iter().map(ToString::to_string).collect::<Vec<_>>(),
                "check",
            )
        };
        let words = [
            "wakepath",
            "check",
            "--policy",
            "FIFO 80",
            "--directory",
            "a",
            "--no-tui",
        ];
        assert_eq!(of(&words), "check --policy 'FIFO 80'");
        assert_eq!(of(&["wakepath", "check", "--json"]), "check");
        assert_eq!(of(&["wakepath"]), "check");
    }
}
