//! Controllers that are killed with SIGKILL at random times while they add.
//!
//! Everything in the archive is complete, it holds all runs that they had reported, and adding
//! again completes it.

use crate::scratch::{Scratch, board, nobody};
use std::collections::BTreeSet;
use std::env;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;
use wakepath_directory::Trust;
use wakepath_fleet_archive::{DirectoryStore, Retention, add, catalogue, sweep};
use wakepath_fleet_made_up::MadeUp;
use wakepath_statistics::SplitMix;

const DIRECTORY: &str = "WAKEPATH_TEST_KILLED_CONTROLLER";
const RUNS: u64 = 12;
/// Kills of two controllers at once; a campaign sets more.
const KILLS: &str = "WAKEPATH_KILLS";

/// The process that is killed: adds all runs repeatedly, and prints each.
fn add_for_ever(scratch: &Path) -> ! {
    let store = DirectoryStore::make(&scratch.join("archive"), Trust::Any).unwrap();
    loop {
        for number in 0..RUNS {
            let run = scratch.join(format!("2026-{number:08}"));
            add(&store, &run, &board(), &nobody()).unwrap();
            println!("\nadded {number}");
        }
    }
}

fn controller(scratch: &Scratch) -> Child {
    Command::new(env::current_exe().unwrap())
        .args([
            "--exact",
            "killed::what_killed_controllers_said_is_there_and_whole",
            "--nocapture",
        ])
        .env(DIRECTORY, scratch.path())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

#[test]
fn what_killed_controllers_said_is_there_and_whole() {
    if let Some(scratch) = env::var_os(DIRECTORY) {
        add_for_ever(scratch.as_ref());
    }
    let scratch = Scratch::new();
    for number in 0..RUNS {
        scratch.run(&MadeUp {
            cycles: 20_000,
            ..MadeUp::number(number)
        });
    }
    let seed = std::process::id().into();
    eprintln!("seed {seed}");
    let mut random = SplitMix::from_state(seed);
    let (mut said, mut partials, mut visible) = (BTreeSet::new(), 0, 0);
    let kills = env::var(KILLS).map_or(5, |kills| kills.parse().unwrap());
    for kill in 0..kills {
        // Restarted from time to time, so that runs are added again and not only found.
        if kill % 5 == 0 {
            let _ = std::fs::remove_dir_all(scratch.path().join("archive"));
            said.clear();
        }
        // Two at once.
        let mut controllers = [controller(&scratch), controller(&scratch)];
        std::thread::sleep(Duration::from_micros(100_000 + random.bits() % 900_000));
        for controller in &mut controllers {
            controller.kill().unwrap();
            controller.wait().unwrap();
            let lines = BufReader::new(controller.stdout.take().unwrap()).lines();
            let added = lines.map_while(Result::ok).filter_map(|line| {
                line.strip_prefix("added ")
                    .and_then(|n| n.parse::<u64>().ok())
            });
            said.extend(added);
        }
        let store = scratch.store();
        let all = catalogue(&store).unwrap();
        let names: BTreeSet<_> = all.records.iter().map(|r| r.run_id.clone()).collect();
        for number in &said {
            assert!(
                names.contains(&format!("2026-{number:08}")),
                "run {number} was promised"
            );
        }
        let problems = wakepath_fleet_archive::check(&store, &all).unwrap();
        assert_eq!(problems, Vec::<String>::new());
        visible += all.records.len();
        partials += scratch
            .files()
            .iter()
            .filter(|n| n.contains(".partial"))
            .count();
    }
    // Nothing was left that is in the way.
    let store = scratch.store();
    for number in 0..RUNS {
        let run = scratch.path().join(format!("2026-{number:08}"));
        add(&store, &run, &board(), &nobody()).unwrap();
    }
    sweep(&store, &Retention::default(), false).unwrap();
    let files = scratch.files();
    assert_eq!(files.len(), 4 * RUNS as usize, "{files:?}");
    eprintln!(
        "{} kills of two controllers: {visible} runs were visible in all, {partials} partial files left",
        2 * kills
    );
}
