//! Success: programs pushed, a scenario run on the selected boards, its outcome fetched.

use crate::world::{Like, World, stand_in};
use std::fs;

wakepath_test_program::tests![
    a_scenario_runs_on_the_boards_that_are_meant_and_comes_back_whole,
    a_board_that_measures_is_neither_asked_nor_pushed_to,
    a_job_goes_on_where_it_was_not_begun,
    a_seal_is_asked_for_and_belongs_to_the_board,
    the_real_program_measures_seals_and_is_verified,
];

const SCENARIO: &str = "aura-logging";

fn push(world: &World) {
    let program = stand_in().to_str().unwrap();
    let (code, out, err) = world.told(&["push", "--on", "all", "--program", program]);
    assert_eq!(code, 0, "{out}{err}");
}

fn a_scenario_runs_on_the_boards_that_are_meant_and_comes_back_whole() {
    let kinds = ["bytes 300000", "code 2", "code 3", ""].map(|behaviour| Like {
        behaviour,
        ..Like::default()
    });
    let world = World::new(&kinds);
    push(&world);
    let program = stand_in().to_str().unwrap();
    let (_, out, _) = world.told(&["push", "--on", "name=board1", "--program", program]);
    assert!(out.contains("there already"), "{out}");

    let (code, out, err) = world.told(&[
        "run",
        SCENARIO,
        "--on",
        "tag=odd",
        "--on",
        "name=board2",
        "--job",
        "a",
    ]);
    assert_eq!(code, 0, "{out}{err}");
    assert!(
        out.contains("board1  measuring") && !out.contains("board4"),
        "{out}"
    );
    world.shell("until [ -e home1/.wakepath-fleet/spool/a/exit ]; do sleep 0.1; done");
    world.shell("until [ -e home2/.wakepath-fleet/spool/a/exit ]; do sleep 0.1; done");
    world.shell("until [ -e home3/.wakepath-fleet/spool/a/exit ]; do sleep 0.1; done");

    // By its own reckoning it is too early to ask.
    let (code, out, _) = world.told(&["status"]);
    assert_eq!(code, 3, "{out}");
    assert!(out.contains("a: 3 measuring"), "{out}");
    let (_, out, _) = world.told(&["status", "--ask"]);
    assert!(out.contains("a: 3 ended"), "{out}");

    let (code, out, err) = world.told(&["fetch", "--json"]);
    assert_eq!(code, 2, "the worst of the three: {out}{err}");
    let told: serde_json::Value = serde_json::from_str(&out).unwrap();
    let states: Vec<&str> = told["boards"]
        .as_array()
        .unwrap()
        .iter()
        .map(|board| board["state"].as_str().unwrap())
        .collect();
    assert_eq!(states, ["passed", "failed", "undecided"]);
    for number in [1, 2, 3] {
        let here = world.path(&format!("wakepath-fleet/runs/a/board{number}/run"));
        let there = world.home(number).join(".wakepath-fleet/spool/a/run");
        for name in ["manifest.json", "samples.parquet"] {
            assert_eq!(
                fs::read(here.join(name)).unwrap(),
                fs::read(there.join(name)).unwrap()
            );
        }
    }
    assert_eq!(
        fs::metadata(world.path("wakepath-fleet/runs/a/board1/run/more"))
            .unwrap()
            .len(),
        300_000
    );

    // Fetched runs are kept, and their boards are not asked again.
    world.shell("ip link set up1 down; ip link set up2 down; ip link set up3 down");
    let (code, _, _) = world.told(&["fetch"]);
    assert_eq!(code, 2);
}

fn a_board_that_measures_is_neither_asked_nor_pushed_to() {
    let world = World::new(&[Like {
        behaviour: "sleep 6",
        ..Like::default()
    }]);
    push(&world);
    let (code, out, _) = world.told(&["run", SCENARIO, "--on", "all", "--job", "a"]);
    assert_eq!(code, 0, "{out}");
    let program = stand_in().to_str().unwrap();
    let (code, out, _) = world.told(&["push", "--on", "all", "--program", program]);
    assert_eq!(code, 1);
    assert!(out.contains("a is measuring: not disturbed"), "{out}");
    let (code, out, _) = world.told(&["run", SCENARIO, "--on", "all", "--job", "b"]);
    assert_eq!(code, 1);
    assert!(out.contains("busy: a is measuring"), "{out}");
    // Asked to read, the board itself refuses.
    let said = world.shell("ssh -F ssh_config board1 sh .wakepath-fleet/board list a || true");
    assert_eq!(said.trim(), "refused: busy: a is measuring");
}

fn a_job_goes_on_where_it_was_not_begun() {
    let world = World::new(&[Like::default(), Like::default()]);
    push(&world);
    world.shell("ip link set up2 down");
    let (code, out, _) = world.told(&["run", SCENARIO, "--on", "all", "--job", "a"]);
    assert_eq!(code, 1);
    assert!(
        out.contains("board1  measuring") && out.contains("board2  not begun: unreachable"),
        "{out}"
    );
    world.shell("ip link set up2 up");
    let begun = world.home(1).join(".wakepath-fleet/spool/a/begun");
    let before = fs::metadata(&begun).unwrap().modified().unwrap();
    let (code, out, _) = world.told(&["run", SCENARIO, "--on", "all", "--job", "a"]);
    assert_eq!(code, 0, "{out}");
    assert_eq!(
        fs::metadata(&begun).unwrap().modified().unwrap(),
        before,
        "begun once"
    );
    let (code, _, err) = world.told(&["run", "pi5-250hz", "--on", "all", "--job", "a"]);
    assert_eq!(code, 1);
    assert!(err.contains("a job with another scenario"), "{err}");
}

fn a_seal_is_asked_for_and_belongs_to_the_board() {
    let world = World::new(&[Like::default(), Like::default(), Like::default()]);
    let Some(program) = std::env::var_os("WAKEPATH_BINARY") else {
        wakepath_test_program::not_run("WAKEPATH_BINARY names no static wakepath");
    };
    for number in 1..=3 {
        world.lay(&program, number);
    }
    push(&world);
    for number in [1, 2] {
        let key = format!("home{number}/.wakepath-fleet/key");
        world.shell(&format!(
            "ssh-keygen -q -t ed25519 -N '' -f {key} && chown board{number} {key}"
        ));
    }
    // The second board's key is trusted for another one.
    world.shell(
        "{ printf 'board1 '; cat home1/.wakepath-fleet/key.pub; printf 'board3 '; cat home2/.wakepath-fleet/key.pub; } \
         | sed 's/ssh-ed25519 \\([^ ]*\\).*/ssh-ed25519 \\1/' > trust",
    );
    let (code, out, _) = world.told(&["run", SCENARIO, "--on", "all", "--job", "a"]);
    assert_eq!(code, 0, "{out}");
    world.shell("for n in 1 2 3; do until [ -e home$n/.wakepath-fleet/spool/a/exit ]; do sleep 0.1; done; done");
    world.told(&["status", "--ask"]);
    let (code, out, err) = world.told(&["fetch", "--trust", "trust"]);
    assert_eq!(code, 1, "{out}{err}");
    assert!(out.contains("board1  passed"), "{out}");
    assert!(
        out.contains("board2  invalid    its seal: another board's key"),
        "{out}"
    );
    assert!(out.contains("board3  invalid    it is not sealed"), "{out}");
}

fn the_real_program_measures_seals_and_is_verified() {
    let program = std::env::var("WAKEPATH_BINARY");
    let program = program
        .unwrap_or_else(|_| wakepath_test_program::not_run("WAKEPATH_BINARY names no wakepath"));
    let world = World::new(&[Like::default()]);
    let (code, out, err) = world.told(&["push", "--on", "all", "--program", &program]);
    if err.contains("not static") {
        // A development build, which needs libraries that these boards do have: laid there by hand.
        push(&world);
        world.shell(&format!(
            "cd home1/.wakepath-fleet && sum=$(sha256sum < {program} | cut -d' ' -f1) && cp {program} programs/$sum && \
             echo $sum > program && chown board1 programs/$sum program"
        ));
    } else {
        assert_eq!(code, 0, "{out}{err}");
    }
    world.shell(
        "cat > own.toml <<E\nname = \"own\"\nrate = \"100 Hz\"\nduration = \"1 s\"\npolicies = [\"OTHER\"]\nE",
    );
    let key = "home1/.wakepath-fleet/key";
    world.shell(&format!(
        "ssh-keygen -q -t ed25519 -N '' -f {key} && chown board1 {key} && \
         echo \"board1 $(cut -d' ' -f1,2 {key}.pub)\" > trust"
    ));
    let (code, out, err) = world.told(&["run", "own.toml", "--on", "all", "--job", "a"]);
    assert_eq!(code, 0, "{out}{err}");
    let (code, out, err) = world.told(&["fetch", "--wait", "--trust", "trust"]);
    // Whether this machine sustains 100 Hz doesn't matter here, only that the run was fetched.
    let run = world.path("wakepath-fleet/runs/a/board1/run");
    let said = fs::read_to_string(run.with_file_name("output")).unwrap();
    assert!(
        run.join("manifest.json").is_file(),
        "{code}: {out}{err}{said}"
    );
    assert!(
        run.join("seal.dsse.json").is_file(),
        "{code}: {out}{err}{said}"
    );
    assert!(!out.contains("seal"), "{out}");
    let mut verify = std::process::Command::new(&program);
    verify
        .args(["verify", "--board", "board1", "--trust"])
        .arg(world.path("trust"))
        .arg(&run);
    let (code, out, err) = crate::world::ended(verify.output().unwrap());
    assert_eq!(code, 0, "{out}{err}");
}
