//! A night scaled down: boards, links cut at random, controllers killed, a disk that fills. Every run
//! that ended is in the archive once, whole; every other one has a line with its reason.

use crate::world::{Like, World, ended, open_to_all, stand_in};
use std::collections::BTreeMap;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use wakepath_fleet_made_up::MadeUp;

const PROGRAM: &str = env!("CARGO_BIN_EXE_wakepath-fleet");

wakepath_test_program::tests![
    ;
    a_short_night_is_accounted_for,
    a_night_of_500_runs_is_accounted_for,
];

fn a_short_night_is_accounted_for() {
    night(6, 5, 2);
}

fn a_night_of_500_runs_is_accounted_for() {
    night(20, 25, 10);
}

/// The same night each time: xorshift.
struct Random(u64);

impl Random {
    fn below(&mut self, most: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % most
    }
}

/// `jobs` jobs on `count` boards, the last of which has a disk for few runs; at least `kills`
/// controllers are killed. All runs end in one archive.
fn night(count: usize, jobs: usize, kills: usize) {
    let sealed = std::env::var_os("WAKEPATH_BINARY");
    let mut kinds = vec![
        Like {
            before: "",
            behaviour: "bytes 1000000"
        };
        count
    ];
    kinds[count - 1] = Like {
        before: "mkdir $home/.wakepath-fleet; mount -t tmpfs -o size=72m,uid=$user none $home/.wakepath-fleet",
        behaviour: "bytes 30000000",
    };
    let world = World::new(&kinds);
    let program = stand_in().to_str().unwrap();
    for job in 0..jobs {
        for number in 1..=world.count {
            let run = world.home(number).join(format!("fixture/job{job}"));
            made_up(job, number).write(&run);
            open_to_all(&run);
        }
    }
    let (code, out, err) = world.told(&["push", "--on", "all", "--program", program]);
    assert_eq!(code, 0, "{out}{err}");
    if let Some(program) = &sealed {
        trust(&world, program);
    }
    let is_sealed = sealed.is_some();

    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let over = AtomicBool::new(false);
    let (mut killed, mut cuts) = (0, 0);
    std::thread::scope(|scope| {
        let cutter = scope.spawn(|| {
            let (mut random, mut cuts) = (Random(7), 0);
            while !over.load(Ordering::Relaxed) {
                let up = 1 + random.below(count as u64);
                let (cut, between) = (500 + random.below(1500), 300 + random.below(1500));
                world.shell(&format!("ip link set up{up} down"));
                std::thread::sleep(Duration::from_millis(cut));
                world.shell(&format!("ip link set up{up} up"));
                std::thread::sleep(Duration::from_millis(between));
                cuts += 1;
            }
            cuts
        });
        for job in 0..jobs {
            let name = format!("job{job}");
            let run = ["run", "aura-logging", "--on", "all", "--job", &name];
            // One controller is killed in each job, each time at other work.
            let mut kill = |at: usize, within: u64| {
                let is_meant = job % 3 == at;
                is_meant.then(|| 20 + random.below(within))
            };
            let after = kill(0, 600);
            let hit = once(world.fleet(&run), &world, after);
            // A night's timer retries boards that were not reached.
            for _ in 0..2 {
                once(world.fleet(&run), &world, None);
            }
            once(world.fleet(&["status", &name, "--ask"]), &world, None);
            let after = kill(1, 600);
            let fetched = once(world.fleet(&fetch(&name, is_sealed)), &world, after);
            let after = kill(2, 300);
            // Two at once.
            let mut beside = adding(&world, &name, is_sealed).spawn().unwrap();
            let added = once(adding(&world, &name, is_sealed), &world, after);
            beside.wait().unwrap();
            killed += hit + fetched + added;
        }
        over.store(true, Ordering::Relaxed);
        cuts = cutter.join().unwrap();
    });
    for number in 1..=count {
        world.shell(&format!("ip link set up{number} up"));
    }
    std::thread::sleep(Duration::from_secs(3));

    let (mut here, mut listed) = (0, BTreeMap::<String, usize>::new());
    let mut passed = BTreeMap::new();
    for job in 0..jobs {
        let name = format!("job{job}");
        for _ in 0..3 {
            world.told(&["status", &name, "--ask"]);
            let (_, out, _) = world.told(&fetch(&name, is_sealed));
            if !out.contains("unreachable") && !out.contains("not fetched") {
                break;
            }
        }
        let (_, out, err) = world.told(&["status", &name, "--offline", "--json"]);
        let told: serde_json::Value =
            serde_json::from_str(&out).unwrap_or_else(|_| panic!("{out}{err}"));
        let boards = told["boards"].as_array().unwrap();
        assert_eq!(boards.len(), count, "{name}: a board is missing");
        for board in boards {
            let number: u32 = board["board"].as_str().unwrap()["board".len()..]
                .parse()
                .unwrap();
            let place = world.path(&format!("wakepath-fleet/runs/{name}/board{number}"));
            let remote = format!("home{number}/.wakepath-fleet/spool/{name}/exit");
            let has_ended = world.shell(&format!(
                "ssh -F ssh_config board{number} 'test -e .wakepath-fleet/spool/{name}/exit && echo ended' || true"
            ));
            let state = board["state"].as_str().unwrap();
            if has_ended.contains("ended") {
                assert!(
                    place.join("output").is_file(),
                    "{remote}: ended, and is not here: {board}"
                );
                here += 1;
            } else {
                assert!(!place.exists() && board["reason"].is_string(), "{board}")
            }
            if state == "passed" {
                assert!(place.join("run/manifest.json").is_file(), "{board}");
                passed.insert(made_up(job, number).run_id, format!("board{number}"));
            } else {
                let reason = board["reason"]
                    .as_str()
                    .unwrap_or_else(|| panic!("no reason: {board}"));
                *listed.entry(reason.chars().take(60).collect()).or_default() += 1;
            }
            assert!(
                !place.with_extension("part").exists(),
                "{name}: a part is left of board{number}"
            );
        }
        adding(&world, &name, is_sealed).status().unwrap();
    }
    assert_eq!(
        archived(&world),
        passed,
        "the archive holds each run that ended well, once, and no other"
    );
    let trust: &[&str] = if is_sealed {
        &["--trust", "trust"]
    } else {
        &[]
    };
    let check = [&["check", "--archive", "archive"], trust].concat();
    let output = world.command(PROGRAM).args(check).output().unwrap();
    let (code, out, err) = ended(output);
    let count_of = passed.len();
    let expected = if is_sealed {
        format!("{count_of} runs: all there and as they were; {count_of} count by their seals\n")
    } else {
        format!("{count_of} runs: all there and as they were\n")
    };
    assert_eq!((code, &*out), (0, &*expected), "{out}{err}");
    let all = count * jobs;
    assert_eq!(count_of + listed.values().sum::<usize>(), all);
    println!(
        "{all} runs on {count} boards, {cuts} links cut, {killed} controllers killed: {here} ended and are here, \
         {count_of} in the archive{}; the others by reason: {listed:?}",
        if is_sealed {
            ", sealed and verified"
        } else {
            ""
        }
    );
    // All boards except the last had space, and were reached in the end.
    assert!(here >= (count - 1) * jobs * 9 / 10, "{here} of {all}");
    assert!(killed >= kills, "{killed} kills");
}

fn fetch(job: &str, sealed: bool) -> Vec<&str> {
    let trust: &[&str] = if sealed { &["--trust", "trust"] } else { &[] };
    [&["fetch", job], trust].concat()
}

/// The run of a job on a board: each is another.
fn made_up(job: usize, number: u32) -> MadeUp {
    MadeUp {
        cycles: MadeUp::PASSES,
        ..MadeUp::number(job as u64 * 100 + u64::from(number))
    }
}

/// A shell command that adds the fetched runs of a job, as in a real night.
fn adding(world: &World, job: &str, sealed: bool) -> Command {
    let trust = if sealed { "--trust trust" } else { "" };
    let mut command = world.command("sh");
    command.arg("-c").arg(format!(
        "for run in wakepath-fleet/runs/{job}/*/run; do board=${{run%/run}}; board=${{board##*/}}; \
         [ -e \"$run/manifest.json\" ] && {PROGRAM} add --archive archive {trust} --board \"$board\" \"$run\"; \
         done >/dev/null 2>&1; true"
    ));
    command
}

/// The runs of the archive, each with its board, from its records.
fn archived(world: &World) -> BTreeMap<String, String> {
    let records = std::fs::read_dir(world.path("archive/runs")).unwrap();
    let records = records.map(|entry| entry.unwrap().path());
    let records = records.filter(|path| path.extension().is_some_and(|of| of == "json"));
    let read = |path: std::path::PathBuf| {
        let bytes = std::fs::read(&path).unwrap();
        let record: serde_json::Value = serde_json::from_slice(&bytes).unwrap();
        let text = |name: &str| record[name].as_str().unwrap().to_owned();
        (text("run_id"), text("board"))
    };
    let all: Vec<_> = records.map(read).collect();
    let count = all.len();
    let by_run: BTreeMap<_, _> = all.into_iter().collect();
    assert_eq!(by_run.len(), count, "a run is there twice");
    by_run
}

/// Calls the controller, and kills the programs that still run after `kill_after` milliseconds;
/// returns how many.
fn once(mut command: Command, world: &World, kill_after: Option<u64>) -> usize {
    command.stdout(Stdio::null()).stderr(Stdio::null());
    let mut controller = command.spawn().unwrap();
    let mut hit = 0;
    if let Some(after) = kill_after {
        std::thread::sleep(Duration::from_millis(after));
        let killed = world.shell(
            "for process in $(pidof wakepath-fleet); do kill -9 $process && echo killed; done; true",
        );
        hit = killed.matches("killed").count();
    }
    controller.wait().unwrap();
    hit
}

/// A key for each board, a real program to seal with, and a file that trusts the keys.
fn trust(world: &World, program: &std::ffi::OsStr) {
    for number in 1..=world.count {
        world.lay(program, number);
        world.shell(&format!(
            "ssh-keygen -q -t ed25519 -N '' -f key{number} && printf 'board{number} %s\\n' \
             \"$(cut -d' ' -f1,2 key{number}.pub)\" >> trust && \
             ssh -F ssh_config board{number} 'umask 077; cat > .wakepath-fleet/key' < key{number}"
        ));
    }
}
