//! Completions and man pages are made from the same definition as the command line.

use crate::started::{Place, Start};

wakepath_test_program::tests![
    completions_of_every_shell_know_the_verbs,
    man_pages_are_written_for_every_verb_and_no_hidden_one,
    a_missing_directory_for_man_pages_is_named,
];

fn completions_of_every_shell_know_the_verbs() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let finished = Start::command(&["completions", shell]).finish();
        finished.assert_code(0);
        for verb in ["check", "recover", "scenario"] {
            assert!(
                finished.output.contains(verb),
                "{shell} does not know {verb}"
            );
        }
    }
}

fn man_pages_are_written_for_every_verb_and_no_hidden_one() {
    let place = Place::new();
    let directory = place.path().join("man");
    std::fs::create_dir(&directory).unwrap();
    let finished = Start::command_in(place, &["man", "man"]).finish();
    finished.assert_code(0);
    let entries = std::fs::read_dir(&directory).unwrap().flatten();
    let names: Vec<String> = entries
        .map(|e| e.file_name().into_string().unwrap())
        .collect();
    for page in [
        "wakepath.1",
        "wakepath-check.1",
        "wakepath-run.1",
        "wakepath-show.1",
        "wakepath-recover.1",
    ] {
        assert!(
            names.iter().any(|name| name == page),
            "no {page}: {names:?}"
        );
    }
    assert!(
        !names.iter().any(|name| name.contains("internal")),
        "{names:?}"
    );
    let page = std::fs::read_to_string(directory.join("wakepath-check.1")).unwrap();
    assert!(page.contains("duration") && page.contains(".TH"), "{page}");
}

fn a_missing_directory_for_man_pages_is_named() {
    let finished = Start::command(&["man", "not-there"]).finish();
    finished.assert_refused(1, &["not-there"]);
}
