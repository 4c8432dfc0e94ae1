//! `wakepath help`, `wakepath completions` and `wakepath man`: made from the one definition of the command line.

use crate::command_line::{Kind, candidates, every_command, first_page, visible};
use crate::companion;
use clap::error::ErrorKind;
use std::path::Path;
use std::process::ExitCode;
use wakepath_console::{Outcome, Printing, manual, runs, usage};
use wakepath_timeline::one_line;

/// Prints a shell's completions. Bash, zsh and fish ask the program for each word, so they know runs, scenarios,
/// policies and CPUs.
pub fn completions(shell: clap_complete::Shell) -> Outcome {
    let script = match shell {
        clap_complete::Shell::Bash => BASH.to_owned(),
        clap_complete::Shell::Zsh => ZSH.to_owned(),
        clap_complete::Shell::Fish => FISH.to_owned(),
        other => {
            let mut text = Vec::new();
            clap_complete::generate(other, &mut visible(), "wakepath", &mut text);
            String::from_utf8(text)?
        }
    };
    wakepath_console::terminal::print_own(&script)?;
    Ok(ExitCode::SUCCESS)
}

/// Readline replaces only the part of a word after the last of its word breaks, such as `@` and `=`.
const BASH: &str = r#"# wakepath: completions for bash
_wakepath() {
    local typed before line begin
    typed=${COMP_LINE:0:COMP_POINT}
    typed=${typed##*[[:space:]]}
    before=${COMP_LINE:0:COMP_POINT-${#typed}}
    begin=${typed%"${typed##*[$COMP_WORDBREAKS]}"}
    local -a words
    read -ra words <<< "$before"
    COMPREPLY=()
    while IFS=$'\t' read -r line _; do
        COMPREPLY+=("$(printf '%q' "${line#"$begin"}")")
    done < <(wakepath internal candidates -- "${words[@]:1}" "$typed" 2>/dev/null)
}
complete -o default -F _wakepath wakepath
"#;

const ZSH: &str = r#"#compdef wakepath
_wakepath() {
    local -a found
    local word what
    while IFS=$'\t' read -r word what; do
        found+=("${word//:/\\:}:$what")
    done < <(wakepath internal candidates -- "${(@)words[2,CURRENT-1]}" "${words[CURRENT]}" 2>/dev/null)
    if (( $#found )); then
        _describe -V wakepath found
    else
        _files
    fi
}
if [ "$funcstack[1]" = "_wakepath" ]; then
    _wakepath "$@"
else
    compdef _wakepath wakepath
fi
"#;

const FISH: &str = r#"# wakepath: completions for fish
function __wakepath_candidates
    set -l words (commandline -opc)
    set -l typed (commandline -ct)
    wakepath internal candidates -- $words[2..-1] "$typed" 2>/dev/null
    or __fish_complete_path "$typed"
end
complete -c wakepath -f -a '(__wakepath_candidates)'
"#;

/// Prints the candidates for the last word, each with what it is after a tab; exit code 1 if there are none.
pub fn print_candidates(words: &[String]) -> ExitCode {
    let found = candidates(words, &values);
    let lines = found
        .iter()
        .map(|(word, what)| format!("{}\t{}\n", one_line(word), one_line(what)));
    // A shell that went away needs no candidates.
    let _ = wakepath_console::terminal::print_own(&lines.collect::<String>());
    ExitCode::from(u8::from(found.is_empty()))
}

/// Values of a kind on this machine and in this directory.
fn values(kind: Kind) -> Vec<(String, String)> {
    let with = |what: &str, words: &[&str]| {
        let each = words
            .iter()
            .map(|word| ((*word).to_owned(), what.to_owned()));
        each.collect()
    };
    match kind {
        Kind::Run => {
            let runs = runs::all();
            let number =
                |at: usize, run: &runs::ListedRun| (format!("@{}", at + 1), run.name.clone());
            let numbers = runs.iter().enumerate().map(|(at, run)| number(at, run));
            numbers
                .chain(runs.iter().map(|run| (run.name.clone(), "run".to_owned())))
                .collect()
        }
        Kind::Scenario => {
            let all = wakepath_scenario::builtin::all().iter();
            all.map(|of| (of.name.to_owned(), "built-in scenario".to_owned()))
                .collect()
        }
        Kind::Policy => with(
            "policy",
            &[
                "FIFO 50",
                "FIFO 80",
                "FIFO 99",
                "RR 50",
                "RR 99",
                "DEADLINE 400us",
                "OTHER nice 0",
                "OTHER nice -19",
                "BATCH nice 0",
                "IDLE",
            ],
        ),
        Kind::Cpu => {
            let cpus = wakepath_rt::affinity::current().unwrap_or_default();
            cpus.iter()
                .map(|cpu| (cpu.to_string(), "CPU".to_owned()))
                .collect()
        }
        Kind::Vehicle => {
            let names = wakepath_flight::Vehicle::built_in_names();
            names
                .map(|name| (name.to_owned(), "vehicle".to_owned()))
                .collect()
        }
    }
}

/// Shows the first page, every command, or one command's help.
pub fn help(all: bool, words: &[String]) -> Outcome {
    if words.is_empty() {
        let page = if all { every_command() } else { first_page() };
        wakepath_console::terminal::print(&page)?;
        return Ok(ExitCode::SUCCESS);
    }
    if let Some((first, verb)) = words.split_first()
        && let Some(program) = companion::of_verb(first)
    {
        let words: Vec<&str> = verb.iter().map(String::as_str).chain(["--help"]).collect();
        return companion::run(program, Printing::default(), &words);
    }
    let mut command = visible();
    command.build();
    let mut found = &mut command;
    for word in words {
        found = found
            .find_subcommand_mut(word)
            .ok_or_else(|| unknown(words))?;
    }
    wakepath_console::terminal::print(&found.render_long_help().to_string())?;
    Ok(ExitCode::SUCCESS)
}

/// The same line as for these words as a command.
fn unknown(words: &[String]) -> String {
    let typed = ["wakepath"]
        .into_iter()
        .chain(words.iter().map(String::as_str));
    match visible().try_get_matches_from(typed) {
        Err(error) if error.kind() == ErrorKind::InvalidSubcommand => usage::one_line(&error),
        _ => format!(
            "{}: no such command; see wakepath help --all",
            words.join(" ")
        ),
    }
}

/// Writes a man page for the command and one for each command below it that is not hidden.
pub fn man(directory: &Path) -> Outcome {
    manual::write(visible(), directory)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn help_of_a_misspelt_command_suggests_the_right_one() {
        for (words, meant) in [
            (
                &["chekc"][..],
                "chekc: there is no such command; did you mean check?",
            ),
            (
                &["tune", "aply"],
                "aply: there is no such command; did you mean apply?",
            ),
            (&["zzz"], "zzz: there is no such command; see --help"),
            (
                &["check", "now"],
                "check now: no such command; see wakepath help --all",
            ),
        ] {
            let words: Vec<String> = words.iter().map(ToString::to_string).collect();
            assert_eq!(help(false, &words).unwrap_err().to_string(), meant);
        }
    }
}
