//! Sweeps on a Dask cluster of this machine, one of whose workers is killed: the examples, as their users
//! start them. It installs Dask into a separate directory, and runs only if that is available.

use crate::started::{Place, Start, binary, not_run};
use std::path::Path;
use std::process::Command;

wakepath_test_program::tests![
    ;
    a_cluster_that_loses_a_worker_finds_the_same_bytes,
    flights_on_a_cluster_that_loses_a_worker_are_those_of_one_worker_and_failures_are_named,
];

const GRID: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../examples/sweep/grid_on_dask.py"
);

const FLOWN: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/runs/format-1");

const EXAMPLE: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../examples/sweep/on_dask.py"
);

fn a_cluster_that_loses_a_worker_finds_the_same_bytes() {
    let place = Place::new();
    let python = with_dask(place.path());
    let found = place.path().join("dask.json");
    let status = Command::new(python)
        .arg(EXAMPLE)
        .arg("--program")
        .arg(binary())
        .args(["--workers", "3", "--kill-one", "--output"])
        .arg(&found)
        .args(["--", "--sets", "500"])
        .current_dir(place.path())
        .status()
        .unwrap();
    assert!(status.success(), "{status}");
    let words = ["schedulability", "sweep", "--sets", "500", "--json"];
    let alone = Start::command_in(Place::new(), &words).finish();
    alone.assert_code(0);
    assert!(std::fs::read_to_string(found).unwrap() == alone.output);
}

fn flights_on_a_cluster_that_loses_a_worker_are_those_of_one_worker_and_failures_are_named() {
    let place = Place::new();
    let python = with_dask(place.path());
    let grid = |workers: &str, more: &[&str], vehicles: &str| {
        let found = place.path().join("flights.jsonl");
        let status = Command::new(&python)
            .arg(GRID)
            .arg("--program")
            .arg(binary())
            .args(["--workers", workers, "--vary", "seed=0..2", "--vary"])
            .arg(format!("vehicle={vehicles}"))
            .args(more)
            .arg("--output")
            .arg(&found)
            .args(["--", "fly", FLOWN])
            .current_dir(place.path())
            .status()
            .unwrap();
        (status.code(), std::fs::read_to_string(found).unwrap())
    };
    let (code, alone) = grid("1", &[], "crazyflie,hummingbird");
    assert_eq!((code, alone.lines().count()), (Some(0), 6));
    let (code, lost) = grid("3", &["--kill-one"], "crazyflie,hummingbird");
    assert_eq!(code, Some(0));
    assert!(lost == alone, "other flights");
    let (code, failed) = grid("2", &[], "nowhere");
    assert_eq!(code, Some(1));
    assert_eq!(
        failed
            .matches("exit code 1: wakepath: --vehicle nowhere")
            .count(),
        3
    );
}

/// A Python with Dask's scheduler and workers.
fn with_dask(place: &Path) -> std::path::PathBuf {
    let environment = place.join("python");
    let made = Command::new("python3")
        .args(["-m", "venv"])
        .arg(&environment)
        .status();
    if !made.is_ok_and(|status| status.success()) {
        not_run("a sweep on Dask", "python3 -m venv fails here");
    }
    let python = environment.join("bin/python");
    let fetched = Command::new(&python)
        .args(["-m", "pip", "install", "--quiet", "distributed"])
        .status();
    if !fetched.is_ok_and(|status| status.success()) {
        not_run("a sweep on Dask", "pip can't install distributed here");
    }
    python
}
