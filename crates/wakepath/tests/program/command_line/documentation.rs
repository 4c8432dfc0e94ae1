//! Completions and man pages are made from the same definition as the command line.

use crate::started::{Place, Start, cpus};

wakepath_test_program::tests![
    completions_of_every_shell_know_the_verbs_and_no_internals,
    a_shell_completes_runs_scenarios_policies_and_cpus,
    every_command_has_one_line_in_its_family,
    man_pages_are_written_for_every_verb_and_no_hidden_one,
    the_laboratory_writes_its_own_man_pages,
    a_missing_directory_for_man_pages_is_named,
];

fn completions_of_every_shell_know_the_verbs_and_no_internals() {
    for shell in ["bash", "zsh", "fish"] {
        let finished = Start::command(&["completions", shell]).finish();
        finished.assert_code(0);
        let asks = "wakepath internal candidates -- ";
        assert_eq!(finished.output.matches(asks).count(), 1, "{shell}");
    }
    for shell in ["elvish", "powershell"] {
        let finished = Start::command(&["completions", shell]).finish();
        finished.assert_code(0);
        assert!(!finished.output.contains("internal"), "{shell}");
        for verb in ["check", "recover", "scenario", "lab"] {
            assert!(
                finished.output.contains(verb),
                "{shell} does not know {verb}"
            );
        }
    }
}

/// What shells that are installed here make of a line.
fn a_shell_completes_runs_scenarios_policies_and_cpus() {
    let place = super::shells::place_with_a_run();
    let cpu = cpus()[0].to_string();
    let lines = [
        ("wakepath che", "check"),
        ("wakepath show che", "check-20260101T120000Z"),
        ("wakepath run pi5", "pi5-250hz"),
        ("wakepath check --policy RR", "RR 99"),
        ("wakepath check --quick -c ", &cpu),
        ("wakepath tune re", "revert"),
        ("wakepath show --his", "--histogram"),
        ("wakepath lab ", "bisect"),
        ("wakepath lab run --kern", "--kernel"),
        ("wakepath help lab bis", "bisect"),
        ("wakepath experiment ", "list"),
    ];
    let mut script = "export PATH=\"$PWD/bin:$PATH\"\n".to_owned();
    script += "COMP_WORDBREAKS=$' \\t\\n\"\\'@><=;|&(:'\nsource <(wakepath completions bash)\n";
    for (line, _) in lines
        .iter()
        .chain(&[("wakepath show @", "1"), ("wakepath int", "")])
    {
        script += &format!("COMP_LINE='{line}'; COMP_POINT=${{#COMP_LINE}}; _wakepath\n");
        script += "printf '%s,' \"${COMPREPLY[@]}\"; echo\n";
    }
    std::fs::write(place.path().join("typed"), script).unwrap();
    let in_bash = Start::shell_in(place, "bash ./typed").finish();
    in_bash.assert_code(0);
    let answers: Vec<&str> = in_bash.output.lines().collect();
    assert_eq!(answers.len(), lines.len() + 2, "{}", in_bash.said());
    for ((line, word), answer) in lines.iter().zip(&answers) {
        let known = answer.replace("\\ ", " ");
        assert!(known.split(',').any(|one| one == *word), "{line}: {answer}");
    }
    // What readline puts after the `@`, and nothing of wakepath's own processes.
    assert_eq!(answers[lines.len()..], ["1,", ","]);
}

fn every_command_has_one_line_in_its_family() {
    let finished = Start::command(&["help", "--all"]).finish();
    finished.assert_code(0);
    let page = &finished.output;
    for family in ["Measure:", "Analyse:", "Data:", "Laboratory:"] {
        assert!(page.lines().any(|line| line == family), "{family}: {page}");
    }
    assert!(
        page.contains("  bound ") && !page.contains("internal"),
        "{page}"
    );
    assert!(page.lines().count() <= 55, "{page}");
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
        "wakepath-lab.1",
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
    assert!(
        page.contains(".SH FILES") && page.contains(".SH SEE ALSO"),
        "{page}"
    );
    assert!(page.contains("duration") && page.contains(".TH"), "{page}");
}

fn the_laboratory_writes_its_own_man_pages() {
    let place = Place::new();
    let directory = place.path().join("man");
    std::fs::create_dir(&directory).unwrap();
    let finished = Start::command_in(place, &["lab", "man", "man"]).finish();
    finished.assert_code(0);
    for page in ["wakepath-lab.1", "wakepath-lab-bisect.1"] {
        assert!(directory.join(page).is_file(), "{page}");
    }
    for hidden in ["wakepath-lab-man.1", "wakepath-lab-supervise-emulator.1"] {
        assert!(!directory.join(hidden).exists(), "{hidden}");
    }
}

fn a_missing_directory_for_man_pages_is_named() {
    let finished = Start::command(&["man", "not-there"]).finish();
    finished.assert_refused(1, &["not-there"]);
}
