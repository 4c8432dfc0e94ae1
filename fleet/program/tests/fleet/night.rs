//! A night scaled down: boards, links cut at random, controllers killed, a disk that fills. Every run
//! that ended is here once, whole; every other one has a line with its reason.

use crate::world::{Like, World, stand_in};
use std::collections::BTreeMap;
use std::process::Stdio;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

wakepath_test_program::tests![
    ;
    a_short_night_is_accounted_for,
    a_night_of_500_runs_is_accounted_for,
];

fn a_short_night_is_accounted_for() {
    night(6, 5, 4);
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

/// `jobs` jobs on `count` boards, the last of which has a disk for few runs.
fn night(count: usize, jobs: usize, kills: usize) {
    let sealed = std::env::var_os("WAKEPATH_BINARY");
    let mut kinds = vec![
        Like {
            before: "",
            behaviour: "bytes 3000000"
        };
        count
    ];
    kinds[count - 1] = Like {
        before: "mkdir $home/.wakepath-fleet; mount -t tmpfs -o size=72m,uid=$user none $home/.wakepath-fleet",
        behaviour: "bytes 30000000",
    };
    let world = World::of(&kinds);
    let program = stand_in().to_str().unwrap();
    let (code, out, err) = world.told(&["push", "--on", "all", "--program", program]);
    assert_eq!(code, 0, "{out}{err}");
    if let Some(program) = &sealed {
        trust(&world, program);
    }

    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let over = AtomicBool::new(false);
    let mut killed = 0;
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut random = Random(7);
            while !over.load(Ordering::Relaxed) {
                let up = 1 + random.below(count as u64);
                let (cut, between) = (500 + random.below(1500), 300 + random.below(1500));
                world.shell(&format!("ip link set up{up} down"));
                std::thread::sleep(Duration::from_millis(cut));
                world.shell(&format!("ip link set up{up} up"));
                std::thread::sleep(Duration::from_millis(between));
            }
        });
        for job in 0..jobs {
            let name = format!("job{job}");
            let run = ["run", "aura-logging", "--on", "all", "--job", &name];
            let kill = killed < kills && random.below(jobs as u64) < kills as u64;
            killed += usize::from(kill) * 2;
            once(&world, &run, kill.then(|| 100 + random.below(600)));
            // A night's timer comes again where boards were not reached.
            for _ in 0..2 {
                once(&world, &run, None);
            }
            once(&world, &["status", &name, "--ask"], None);
            once(
                &world,
                &fetch(&name, sealed.is_some()),
                kill.then(|| 100 + random.below(600)),
            );
        }
        over.store(true, Ordering::Relaxed);
    });
    for number in 1..=count {
        world.shell(&format!("ip link set up{number} up"));
    }
    std::thread::sleep(Duration::from_secs(3));

    let (mut here, mut listed) = (0, BTreeMap::<String, usize>::new());
    for job in 0..jobs {
        let name = format!("job{job}");
        for _ in 0..3 {
            world.told(&["status", &name, "--ask"]);
            world.told(&fetch(&name, sealed.is_some()));
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
            let ended = world.shell(&format!(
                "ssh -F ssh_config board{number} 'test -e .wakepath-fleet/spool/{name}/exit && echo ended' || true"
            ));
            let state = board["state"].as_str().unwrap();
            match ended.contains("ended") {
                true => {
                    assert!(
                        place.join("output").is_file(),
                        "{remote}: ended, and is not here: {board}"
                    );
                    here += 1;
                }
                false => assert!(!place.exists() && board["reason"].is_string(), "{board}"),
            }
            if state == "passed" {
                assert!(place.join("run/manifest.json").is_file(), "{board}");
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
    }
    let all = count * jobs;
    println!(
        "{all} runs on {count} boards, {killed} controllers killed: {here} ended and are here{}; listed: {listed:?}",
        if sealed.is_some() {
            ", sealed and verified"
        } else {
            ""
        }
    );
    // All but the last board had room, and were reached in the end.
    assert!(here >= (count - 1) * jobs * 9 / 10, "{here} of {all}");
    assert!(killed >= kills.min(jobs), "{killed} kills");
}

fn fetch(job: &str, sealed: bool) -> Vec<&str> {
    let trust: &[&str] = if sealed { &["--trust", "trust"] } else { &[] };
    [&["fetch", job], trust].concat()
}

/// Calls the controller, and kills it after so many milliseconds.
fn once(world: &World, arguments: &[&str], kill_after: Option<u64>) {
    let mut controller = world
        .fleet(arguments)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    if let Some(after) = kill_after {
        std::thread::sleep(Duration::from_millis(after));
        world.shell("kill -9 $(pidof wakepath-fleet) || true");
    }
    controller.wait().unwrap();
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
