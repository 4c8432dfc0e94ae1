//! `wakepath help`, `wakepath completions` and `wakepath man`: made from the one definition of the command line.

use crate::command_line::{every_command, first_page, visible};
use crate::companion;
use clap::error::ErrorKind;
use std::path::Path;
use std::process::ExitCode;
use wakepath_console::{Outcome, Printing, candidates, manual, usage};

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

/// Prints the candidates for the last word, each with what it is after a tab; exit code 1 if there are none. Another
/// program answers for its own family.
pub fn print_candidates(words: &[String]) -> ExitCode {
    if let Some((program, words)) = companions(words) {
        let asked = ["candidates", "--"].into_iter();
        let words: Vec<&str> = asked.chain(words.iter().map(String::as_str)).collect();
        // A program that is not installed has no candidates, and a prompt no room for the reason.
        let found = companion::run(program, Printing::default(), &words);
        return found.unwrap_or(ExitCode::FAILURE);
    }
    candidates::print(visible(), words)
}

/// The other program that these words are for, and those that it gets.
fn companions(words: &[String]) -> Option<(&'static str, &[String])> {
    let options = words.iter().take_while(|word| word.starts_with('-'));
    let words = &words[options.count()..];
    let (first, rest) = words.split_first()?;
    let (first, rest) = match rest {
        [family, _] if first == "help" => (family, &rest[1..]),
        [] => return None,
        _ => (first, rest),
    };
    Some((companion::of_verb(first)?, rest))
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

    fn of(words: &[&str]) -> Vec<String> {
        let words: Vec<String> = words.iter().map(ToString::to_string).collect();
        let values =
            |kind: candidates::Kind| vec![(format!("{kind:?}-1").to_lowercase(), String::new())];
        candidates::candidates(visible(), &words, &values)
            .into_iter()
            .map(|(word, _)| word)
            .collect()
    }

    #[test]
    fn every_kind_of_word_has_its_candidates_and_internals_have_none() {
        assert_eq!(of(&["che"]), ["check"]);
        assert!(of(&["int"]).is_empty());
        assert!(!of(&[""]).contains(&"internal".to_owned()));
        assert_eq!(of(&["check", "--policy", ""]), ["policy-1"]);
        assert_eq!(of(&["check", "-p", "pol"]), ["policy-1"]);
        assert_eq!(of(&["check", "--policy=p"]), ["--policy=policy-1"]);
        assert_eq!(of(&["rate", "--cpu", ""]), ["cpu-1"]);
        assert_eq!(of(&["run", ""]), ["scenario-1"]);
        for verb in ["show", "check"] {
            assert_eq!(of(&["scenario", verb, ""]), ["scenario-1"], "{verb}");
        }
        assert_eq!(of(&["export", "--format", "m"]), ["mcap", "markdown"]);
        assert_eq!(of(&["fly", "--vehicle", ""]), ["vehicle-1"]);
        for verb in [
            "show", "explain", "report", "bound", "fly", "compare", "tiers",
        ] {
            assert_eq!(of(&[verb, "r"]), ["run-1"], "{verb}");
        }
        assert_eq!(of(&["tune", "pl"]), ["plan"]);
        assert!(of(&["show", "--det"]).contains(&"--details".to_owned()));
        assert_eq!(of(&["show", "--color", "ne"]), ["never"]);
        assert_eq!(of(&["help", "expl"]), ["explain"]);
        assert!(of(&["watch", "--", "./l"]).is_empty());
        assert!(of(&[]).is_empty());
    }

    #[test]
    fn words_of_another_program_s_family_are_asked_of_that_program() {
        let asked = |words: &[&str]| {
            let words: Vec<String> = words.iter().map(ToString::to_string).collect();
            companions(&words).map(|(program, words)| (program, words.join(" ")))
        };
        let lab = |words: &str| Some((companion::LAB, words.to_owned()));
        assert_eq!(asked(&["lab", ""]), lab(""));
        assert_eq!(asked(&["-q", "lab", "run", "--k"]), lab("run --k"));
        assert_eq!(asked(&["help", "lab", "r"]), lab("r"));
        assert_eq!(
            asked(&["experiment", "l"]),
            Some((companion::EXPERIMENT, "l".into()))
        );
        for own in [
            &["lab"][..],
            &["la"],
            &["help", "lab"],
            &["show", "lab", ""],
            &[],
        ] {
            assert_eq!(asked(own), None, "{own:?}");
        }
    }
}
