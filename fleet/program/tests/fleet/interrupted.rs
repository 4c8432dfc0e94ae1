//! Links that are cut and controllers that are killed: jobs continue, and fetches resume.

use crate::world::{Like, World, stand_in};
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

wakepath_test_program::tests![
    a_transfer_that_was_cut_goes_on_where_it_was,
    a_run_outlives_its_controller_and_its_link,
    what_a_killed_push_left_goes_with_the_next_and_what_is_under_way_stays,
];

const BYTES: u64 = 200_000_000;

fn until(what: &str, is_so: impl Fn() -> bool) {
    let end = Instant::now() + Duration::from_secs(60);
    while !is_so() {
        assert!(Instant::now() < end, "{what}");
        std::thread::sleep(Duration::from_millis(2));
    }
}

fn length(path: &Path) -> u64 {
    fs::metadata(path).map_or(0, |data| data.len())
}

fn begun(behaviour: &'static str) -> World {
    let world = World::new(&[Like {
        behaviour,
        ..Like::default()
    }]);
    let program = stand_in().to_str().unwrap();
    let (code, out, err) = world.told(&["push", "--on", "all", "--program", program]);
    assert_eq!(code, 0, "{out}{err}");
    let (code, out, err) = world.told(&["run", "aura-logging", "--on", "all", "--job", "a"]);
    assert_eq!(code, 0, "{out}{err}");
    world
}

fn a_transfer_that_was_cut_goes_on_where_it_was() {
    let world = begun("bytes 200000000");
    world.shell("until [ -e home1/.wakepath-fleet/spool/a/exit ]; do sleep 0.1; done");
    world.told(&["status", "--ask"]);
    let part = world.path("wakepath-fleet/runs/a/board1.part/run/more");
    let whole = world.path("wakepath-fleet/runs/a/board1/run/more");

    let fetch = world
        .fleet(&["fetch"])
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    until("a first part", || length(&part) > 1_000_000);
    world.shell("ip link set up1 down");
    let (code, out, _) = crate::world::ended(fetch.wait_with_output().unwrap());
    let first = length(&part);
    assert_eq!(code, 3, "{out}");
    assert!(
        out.contains("board1  ended      not fetched: unreachable"),
        "{out}"
    );
    assert!(first < BYTES && !whole.exists(), "{first}");
    world.shell("ip link set up1 up");

    // The controller is killed.
    let mut fetch = world.fleet(&["fetch"]).spawn().unwrap();
    until("a second part", || length(&part) > first + 1_000_000);
    world.shell("kill -9 $(pidof wakepath-fleet)");
    fetch.wait().unwrap();
    let second = length(&part);
    assert!(second > first && second < BYTES, "{first} {second}");

    let (code, out, err) = world.told(&["fetch"]);
    assert_eq!(code, 0, "{out}{err}");
    assert!(!part.exists());
    let there = world.home(1).join(".wakepath-fleet/spool/a/run/more");
    assert!(
        fs::read(&whole).unwrap() == fs::read(there).unwrap(),
        "the same bytes"
    );
}

fn a_run_outlives_its_controller_and_its_link() {
    let world = World::new(&[Like {
        behaviour: "sleep 3",
        ..Like::default()
    }]);
    let program = stand_in().to_str().unwrap();
    world.told(&["push", "--on", "all", "--program", program]);
    // Killed as soon as the board has begun: its record of that might be missing.
    let mut run = world
        .fleet(&["run", "aura-logging", "--on", "all", "--job", "a"])
        .spawn()
        .unwrap();
    let begun = world.home(1).join(".wakepath-fleet/spool/a/begun");
    until("a run on the board", || begun.exists());
    world.shell("kill -9 $(pidof wakepath-fleet); ip link set up1 down");
    run.wait().unwrap();
    until("its end", || {
        world.home(1).join(".wakepath-fleet/spool/a/exit").exists()
    });
    let (code, out, _) = world.told(&["status", "--ask"]);
    assert!(out.contains("unreachable") && code != 0, "{out}");
    world.shell("ip link set up1 up");
    world.told(&["status", "--ask"]);
    let (code, out, err) = world.told(&["fetch"]);
    assert_eq!(code, 0, "{out}{err}");
    assert!(out.contains("board1  passed"), "{out}");
}

fn what_a_killed_push_left_goes_with_the_next_and_what_is_under_way_stays() {
    let world = World::new(&[Like::default()]);
    let program = stand_in().to_str().unwrap();
    let push = ["push", "--on", "all", "--program", program];
    assert_eq!(world.told(&push).0, 0);
    let programs = world.home(1).join(".wakepath-fleet/programs");
    let partial = |of: char| {
        let begin = format!(".{}.", of.to_string().repeat(64));
        let names = fs::read_dir(&programs).unwrap().flatten();
        let mut names = names.map(|entry| entry.file_name().into_string().unwrap());
        names.find(|name| name.starts_with(&begin))
    };
    for of in ['a', 'b'] {
        let digest = of.to_string().repeat(64);
        world.shell(&format!(
            "(sleep 60 | ssh -F ssh_config board1 sh .wakepath-fleet/board take-program {digest}) \
             >/dev/null 2>&1 </dev/null &"
        ));
        until("a program under way", || partial(of).is_some());
    }
    // A power cut would leave as much.
    let killed = partial('a').unwrap();
    let process = killed.rsplit_once('.').unwrap().1;
    world.shell(&format!("kill -9 {process}"));
    let stale = format!(".{}.{process}", "c".repeat(64));
    fs::write(programs.join(&stale), "ha").unwrap();
    fs::remove_file(world.home(1).join(".wakepath-fleet/program")).unwrap();
    let (code, out, err) = world.told(&push);
    assert_eq!(code, 0, "{out}{err}");
    assert_eq!((partial('a'), partial('c')), (None, None));
    assert!(partial('b').is_some(), "it was under way");
}
