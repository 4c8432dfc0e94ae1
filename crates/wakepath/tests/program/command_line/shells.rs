//! Completions in zsh and fish as a person gets them, if these shells are installed.

use crate::started::{Place, Start, binary};
use wakepath_test_program::not_run;

wakepath_test_program::tests![
    zsh_completes_runs_and_scenarios_at_its_prompt,
    fish_completes_runs_and_scenarios,
];

/// A line at the prompt, and a word of the answer.
const LINES: [(&str, &str); 6] = [
    ("wakepath che", "check"),
    ("wakepath show che", "check-20260101T120000Z"),
    ("wakepath run pi5", "pi5-250hz"),
    ("wakepath show --his", "--histogram"),
    ("wakepath lab bis", "bisect"),
    ("wakepath experiment li", "list"),
];

/// Types each line at a prompt of its own terminal, then Tab; reads for a second.
const IN_ZSH: &str = r#"
zmodload zsh/zpty
zpty typed zsh -f -i
zpty -w typed "autoload -U compinit && compinit -u -D; source <(wakepath completions zsh); echo REA''DY"
until [[ $said == *READY* ]]; do zpty -r typed said || exit 1; done
for line in "$@"; do
    zpty -n -w typed "$line"$'\t'
    sleep 1
    answer= part=
    while zpty -r -t typed part; do answer+=$part; done
    print -r -- "${answer//[$'\r\n']/}"
    zpty -n -w typed $'\x15'
done
zpty -d typed
"#;

/// A place with a run, and this program on its PATH.
pub(super) fn place_with_a_run() -> Place {
    let place = Place::new();
    let run = place.path().join("wakepath-runs/check-20260101T120000Z");
    std::fs::create_dir_all(&run).unwrap();
    std::fs::write(run.join("manifest.json"), "{}").unwrap();
    std::fs::create_dir(place.path().join("bin")).unwrap();
    std::os::unix::fs::symlink(binary(), place.path().join("bin/wakepath")).unwrap();
    place
}

/// Answers of this shell, one for each line.
fn answers(shell: &str, command: &str, place: Place) -> Vec<String> {
    let line = format!(
        "command -v {shell} >/dev/null || exit 9; export HOME=$PWD TERM=dumb PATH=\"$PWD/bin:$PATH\"; {command}"
    );
    let finished = Start::shell_in(place, &line).finish();
    if finished.code() == Some(9) {
        not_run(format!("needs {shell}"));
    }
    finished.assert_code(0);
    let answers: Vec<String> = finished.output.lines().map(str::to_owned).collect();
    assert_eq!(answers.len(), LINES.len(), "{}", finished.said());
    answers
}

fn zsh_completes_runs_and_scenarios_at_its_prompt() {
    let place = place_with_a_run();
    std::fs::write(place.path().join("typed"), IN_ZSH).unwrap();
    let lines = LINES.map(|(line, _)| format!("'{line}'")).join(" ");
    let answers = answers("zsh", &format!("zsh -f ./typed {lines}"), place);
    for ((line, word), answer) in LINES.iter().zip(answers) {
        assert!(answer.contains(word), "{line}: {answer}");
    }
}

fn fish_completes_runs_and_scenarios() {
    let each = LINES.map(|(line, _)| format!("complete -C '{line}' | head -n 1"));
    let typed = format!("wakepath completions fish | source\n{}\n", each.join("\n"));
    let place = place_with_a_run();
    std::fs::write(place.path().join("typed"), typed).unwrap();
    let answers = answers("fish", "fish ./typed", place);
    for ((line, word), answer) in LINES.iter().zip(answers) {
        let known = answer.split('\t').next();
        assert_eq!(known, Some(*word), "{line}: {answer}");
    }
}
