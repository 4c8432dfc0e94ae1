//! Refusals of the laboratory before anything boots.

use super::{Place, text};

wakepath_test_program::tests![a_wrong_kernel_a_wrong_rate_and_a_real_run_are_refused_in_one_line,];

fn a_wrong_kernel_a_wrong_rate_and_a_real_run_are_refused_in_one_line() {
    let place = Place::new("refused");
    let said = |arguments: &[&str]| {
        let output = place.wakepath(arguments);
        assert_eq!(output.status.code(), Some(1), "{arguments:?}");
        text(&output.stderr)
    };
    let rate = said(&[
        "lab",
        "run",
        "scenario.toml",
        "--kernel",
        "debian:rt",
        "--ns-per-instruction",
        "3",
    ]);
    assert!(
        rate.starts_with("wakepath: 3 ns per instruction is not possible"),
        "{rate}"
    );
    let none = said(&["lab", "run", "scenario.toml"]);
    assert!(none.contains("--kernel"), "{none}");
    let gone = said(&["lab", "diff", "no-run", "scenario.toml"]);
    assert!(gone.contains("no-run"), "{gone}");
    let no_window = said(&["lab", "window", "no-run"]);
    assert!(no_window.contains("no-run"), "{no_window}");
    let no_sections = said(&["lab", "sections", "no-run"]);
    assert!(no_sections.contains("no-run"), "{no_sections}");
    let bisect = ["lab", "bisect", "scenario.toml", "--directory", "bisection"];
    let lonely = said(&[&bisect[..], &["--good", "debian:rt"]].concat());
    assert!(lonely.contains("give --good and --bad"), "{lonely}");
    let twice = said(&[&bisect[..], &["--good", "a", "--kernel", "b", "--bad", "a"]].concat());
    assert!(twice.contains("a is in the row twice"), "{twice}");
    let wrong = said(&["lab", "check", "scenario.toml"]);
    assert!(
        wrong.contains("scenario.toml: no baseline of the laboratory"),
        "{wrong}"
    );
    let kernel = ["--kernel", "debian:rt"];
    let open = [
        &["lab", "exec"],
        &kernel[..],
        &["--before", "doctor 'a", "--", "machine"],
    ]
    .concat();
    let open = said(&open);
    assert!(open.contains("the quote ' is not closed"), "{open}");
    for line in [rate, none, gone, wrong, open, no_sections, lonely, twice] {
        assert_eq!(line.lines().count(), 1, "{line}");
    }
}
