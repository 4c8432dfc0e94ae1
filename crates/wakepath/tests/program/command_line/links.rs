//! Root and other people's directories: refused in one line unless they are trusted; and even then
//! nothing outside is written, whatever links lie in the place of a run's files.

use crate::started::{Finished, Place, Start, is_root, loop_cpu, not_run};
use std::os::unix::fs::{chown, symlink};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use wakepath_archive::Run;

wakepath_test_program::tests![
    root_recovers_in_nobody_elses_directory_and_through_no_link,
    a_live_run_writes_through_no_link_that_is_put_in_its_way,
    the_laboratory_writes_in_nobody_elses_directory,
    two_runs_that_start_in_one_second_have_a_directory_each,
];

const NOBODY: u32 = 65_534;

/// Every name that a run, its recovery or its report is written under.
const NAMES: [&str; 22] = [
    "manifest.json",
    "manifest.json.partial",
    "samples.parquet",
    "samples.parquet.partial",
    "samples.log.partial",
    "samples.log.damaged",
    "samples.reserve",
    "segment-0.events",
    "explanation.json",
    "explanation.json.partial",
    "overheads.json",
    "overheads.json.partial",
    "watch.json",
    "watch.json.partial",
    "report.html",
    "report.html.partial",
    "windows.json.partial",
    "stacks.json",
    "stacks.json.partial",
    "pin.json",
    "pin.json.partial",
    "scratch",
];

/// A file that must stay as it is, and a directory of nobody's.
fn outside_and_run(place: &Place) -> (PathBuf, PathBuf) {
    let outside = place.path().join("outside");
    std::fs::write(&outside, "root's").unwrap();
    (outside, place.path().join("run"))
}

fn assert_untouched(outside: &Path, said: &Finished) {
    let now = std::fs::read_to_string(outside).unwrap();
    assert_eq!(now, "root's", "{}", said.said());
    let names = std::fs::read_dir(outside.parent().unwrap())
        .unwrap()
        .flatten();
    let names: Vec<_> = names.map(|entry| entry.file_name()).collect();
    assert!(!names.iter().any(|name| name == "not-there"), "{names:?}");
}

fn assert_refused(finished: &Finished) {
    finished.assert_code(1);
    let errors = finished.errors();
    assert_eq!(errors.len(), 1, "{}", finished.said());
    for part in ["belongs to user 65534", "--trust-directory"] {
        assert!(errors[0].contains(part), "{}", finished.said());
    }
}

/// A run without its end, made by root in a directory that nobody owns then.
fn cut_short(directory: &Path) {
    let fixture =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../archive/tests/fixtures/format-1/log");
    std::fs::create_dir(directory).unwrap();
    let mut log = std::fs::read(fixture.join("samples.log")).unwrap();
    log.truncate(log.len() - 10);
    std::fs::write(directory.join("samples.log"), log).unwrap();
    chown(directory, Some(NOBODY), Some(NOBODY)).unwrap();
}

fn recover(directory: &Path, options: &[&str]) -> Finished {
    Start::command(&["recover"])
        .with(options)
        .with(&[directory])
        .finish()
}

fn root_recovers_in_nobody_elses_directory_and_through_no_link() {
    if !is_root() {
        not_run("a directory of another user", "only root has any");
    }
    for name in NAMES {
        let place = Place::new();
        let (outside, directory) = outside_and_run(&place);
        cut_short(&directory);
        for (link, target) in [(name, &outside), ("x", &place.path().join("not-there"))] {
            symlink(target, directory.join(link)).unwrap();
        }
        let refused = recover(&directory, &[]);
        assert_refused(&refused);
        assert_untouched(&outside, &refused);
        let trusted = recover(&directory, &["--trust-directory"]);
        assert_untouched(&outside, &trusted);
        let recorded = Run::open(&directory).map(|run| run.manifest.recorded());
        assert!(
            recorded.is_ok_and(|count| count > 0),
            "{name}: {}",
            trusted.said()
        );
    }
}

fn a_live_run_writes_through_no_link_that_is_put_in_its_way() {
    if !is_root() {
        not_run("a directory of another user", "only root has any");
    }
    let place = Place::new();
    let (outside, directory) = outside_and_run(&place);
    std::fs::create_dir(&directory).unwrap();
    chown(&directory, Some(NOBODY), Some(NOBODY)).unwrap();
    let scenario = place.path().join("scenario.toml");
    let text = format!(
        "name = \"links\"\nrate = \"500 Hz\"\ncycles = 300\nwarm-up = \"0 ms\"\ncpu = {}\n\
         policies = [\"OTHER\"]\ntrace = true\n",
        loop_cpu()
    );
    std::fs::write(&scenario, text).unwrap();
    let run = |options: &[&str]| {
        let words = [Path::new("--directory"), &directory, &scenario];
        Start::command(&["run"]).with(options).with(&words).finish()
    };
    assert_refused(&run(&[]));
    let done = AtomicBool::new(false);
    let finished = std::thread::scope(|scope| {
        scope.spawn(|| {
            // As soon as there is a run, its owner puts links wherever a file is to be.
            while !done.load(Ordering::Relaxed) {
                if directory.join("samples.log").exists() {
                    // The loads' directory is made before anything is measured: one in its place ends
                    // the run at once.
                    for name in NAMES.iter().filter(|name| **name != "scratch") {
                        let _ = symlink(&outside, directory.join(name));
                    }
                }
                std::thread::sleep(std::time::Duration::from_millis(1));
            }
        });
        let finished = run(&["--trust-directory"]);
        done.store(true, Ordering::Relaxed);
        finished
    });
    assert_untouched(&outside, &finished);
    assert!(finished.took.as_millis() > 500, "{}", finished.said());
}

fn two_runs_that_start_in_one_second_have_a_directory_each() {
    let place = Place::new();
    let scenario = place.path().join("scenario.toml");
    let text = format!(
        "name = \"twice\"\nrate = \"500 Hz\"\ncycles = 50\nwarm-up = \"0 ms\"\ncpu = {}\n\
         policies = [\"OTHER\"]\ncriterion = {{ miss-fraction = \"99 %\" }}\n",
        loop_cpu()
    );
    std::fs::write(&scenario, text).unwrap();
    let start = || {
        std::process::Command::new(crate::started::binary())
            .args(["run", "--json", "scenario.toml"])
            .current_dir(place.path())
            .stdout(std::process::Stdio::null())
            .spawn()
            .unwrap()
    };
    let children: Vec<_> = (0..4).map(|_| start()).collect();
    for mut child in children {
        let ended = child.wait().unwrap();
        assert!(ended.code().is_some_and(|code| code != 1), "{ended}");
    }
    let runs = std::fs::read_dir(place.path().join("wakepath-runs")).unwrap();
    let runs: Vec<_> = runs.map(|entry| entry.unwrap().path()).collect();
    assert_eq!(runs.len(), 4, "{runs:?}");
    for run in runs {
        assert!(Run::open(&run).unwrap().manifest.recorded() > 0);
    }
}

fn the_laboratory_writes_in_nobody_elses_directory() {
    if !is_root() {
        not_run("whose directories root writes in", "needs root");
    }
    let place = Place::new();
    let (_, directory) = outside_and_run(&place);
    let run = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/runs/format-1");
    std::fs::create_dir(&directory).unwrap();
    for name in ["manifest.json", "samples.parquet"] {
        std::fs::copy(run.join(name), directory.join(name)).unwrap();
    }
    let empty = place.path().join("empty");
    std::fs::create_dir(&empty).unwrap();
    for theirs in [&directory, &empty] {
        chown(theirs, Some(NOBODY), Some(NOBODY)).unwrap();
    }
    let window = |more: &[&str]| {
        let words = Start::command(&["lab", "window"]).with(&[&directory]);
        words.with(more).finish()
    };
    let exec = |more: &[&str]| {
        let words = Start::command(&["lab", "exec", "--kernel", "no:such:kernel", "--directory"]);
        words
            .with(&[&empty])
            .with(more)
            .with(&["--", "true"])
            .finish()
    };
    assert_refused(&window(&[]));
    assert_refused(&exec(&[]));
    // Trusted, they fail on what comes next: a run of a real machine, a kernel that is none.
    for (trusted, next) in [
        (window(&["--trust-directory"]), "no run of the laboratory"),
        (exec(&["--trust-directory"]), "is not a kernel"),
    ] {
        trusted.assert_code(1);
        assert!(trusted.errors()[0].contains(next), "{}", trusted.said());
    }
}
