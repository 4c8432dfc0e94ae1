//! Watched threads of any name.

use super::Beat;
use crate::started::{Start, needs_tracing};
use wakepath_archive::Run;

wakepath_test_program::tests![threads_of_any_name_are_recorded,];

fn threads_of_any_name_are_recorded() {
    let what = "watching threads with unusual names";
    needs_tracing(what);
    // Linux cuts the last one within a character, of the process as of the thread.
    let names = ["io/worker", ".hidden", "x-äöüäöüäöü"];
    std::fs::write("/proc/self/comm", &names[2].as_bytes()[..15]).unwrap();
    let beats = names.map(|name| Beat::start(name, 5_000_000));
    let pid = std::process::id().to_string();
    let watched = |which: &[&str], directory: &str| {
        let words = [
            &["watch"],
            which,
            &["--for", "1s", "--directory", directory],
        ]
        .concat();
        let finished = Start::command(&words).finish();
        finished.skip_unless_watched(what);
        finished.assert_code(0);
        let run = Run::open(&finished.place.path().join(directory)).unwrap();
        let threads = run.manifest.segments[0].threads.iter();
        threads.map(|of| of.name.clone()).collect::<Vec<_>>()
    };
    let by_number = watched(&["-p", &pid], "by-number");
    let by_name = watched(&["--comm", names[0]], "by-name");
    let by_cut_name = watched(&["--comm", names[2]], "by-cut-name");
    for beat in beats {
        beat.end();
    }
    for name in ["io-worker", "-hidden", "x-äöüäöü-"] {
        assert!(by_number.iter().any(|of| of == name), "{by_number:?}");
    }
    assert_eq!(by_name, ["io-worker"]);
    assert!(
        by_cut_name.iter().any(|of| of == "x-äöüäöü-"),
        "{by_cut_name:?}"
    );
}
