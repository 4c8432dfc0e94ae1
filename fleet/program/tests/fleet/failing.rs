//! Boards that fail, each in its own way: a line with its reason, and never a pass.

use crate::world::{Like, World, stand_in};
use std::fs;

wakepath_test_program::tests![
    every_way_to_fail_has_its_reason,
    a_run_altered_on_its_way_is_not_taken
];

fn every_way_to_fail_has_its_reason() {
    let kinds = [
        // The clock is two hours ahead.
        Like {
            before: "cp /bin/date $world/date.real; printf '#!/bin/sh\\nexec %s/date.real -d \"+2 hours\" \"$@\"\\n' $world \
                     > $world/date.ahead; chmod 755 $world/date.*; mount --bind $world/date.ahead /bin/date",
            behaviour: "",
        },
        // The disk has room to begin, and no more.
        Like {
            before: "mkdir $home/.wakepath-fleet; mount -t tmpfs -o size=72m,uid=$user none $home/.wakepath-fleet",
            behaviour: "bytes 90000000",
        },
        // The disk is full before.
        Like {
            before: "mkdir $home/.wakepath-fleet; mount -t tmpfs -o size=8m,uid=$user none $home/.wakepath-fleet",
            behaviour: "",
        },
        // It reboots during the run.
        Like {
            before: "cat /proc/sys/kernel/random/uuid > $world/boot5; true",
            behaviour: "hang 1",
        },
        // Its run is killed.
        Like {
            before: "",
            behaviour: "hang 1",
        },
        // The program fails.
        Like {
            before: "",
            behaviour: "code 1",
        },
        // The clock is set in mid-run.
        Like {
            before: "cp /bin/date $world/date7.real; printf '#!/bin/sh\\n[ -e %s/set7 ] && exec %s/date7.real -d \"+1 hour\" \
                     \"$@\"\\nexec %s/date7.real \"$@\"\\n' $world $world $world > $world/date7; chmod 755 $world/date7*; \
                     mount --bind $world/date7 /bin/date",
            behaviour: "sleep 4",
        },
    ];
    let world = World::new(&kinds);
    let program = stand_in().to_str().unwrap();
    let (code, out, err) = world.told(&["push", "--on", "all", "--program", program]);
    assert_eq!(code, 0, "{out}{err}");
    let (code, out, err) = world.told(&["run", "aura-logging", "--on", "all", "--job", "a"]);
    assert_eq!(code, 1, "{out}{err}");
    let line = |out: &str, number: u32| {
        let name = format!("board{number} ");
        let line = out.lines().find(|line| line.starts_with(&name));
        line.unwrap_or_else(|| panic!("no line of board{number}: {out}"))
            .to_owned()
    };

    assert!(
        line(&out, 1).contains("s ahead of the controller's"),
        "{out}"
    );
    assert!(
        line(&out, 3).contains("not begun: its disk is full"),
        "{out}"
    );
    fs::write(world.path("set7"), "").unwrap();
    // A power cut: everything on the board stops, and another boot answers.
    let sshd = world.sshd.display();
    world.shell(&format!(
        "kill -9 $(ip netns pids board4); pkill -9 -u 61005; \
         (ip netns exec board4 sh -c 'mount --bind boot5 /proc/sys/kernel/random/boot_id; exec sh board4.sh {sshd}' \
         </dev/null >/dev/null 2>&1 &)"
    ));
    world.shell("until ssh -F ssh_config board4 true 2>/dev/null; do sleep 0.2; done");
    world.shell(
        "for n in 2 6 7; do for i in $(seq 200); do [ -e home$n/.wakepath-fleet/spool/a/exit ] && break; \
         ssh -F ssh_config board$n test -e .wakepath-fleet/spool/a/exit && break; sleep 0.1; done; done",
    );
    world.told(&["status", "--ask"]);
    let (code, out, _) = world.told(&["fetch"]);
    assert_eq!(code, 1, "{out}");
    for (number, reason) in [
        (1, "s ahead of the controller"),
        (2, "its disk is full: the run could not be written"),
        (3, "its disk is full"),
        (4, "rebooted during the run"),
        (5, "the run was killed"),
        (6, "invalid"),
        (7, "its clock"),
    ] {
        let line = line(&out, number);
        assert!(line.contains(reason), "{line}");
        assert_ne!(line.split_whitespace().nth(1), Some("passed"), "{line}");
    }
}

fn a_run_altered_on_its_way_is_not_taken() {
    let world = World::new(&[Like::default()]);
    let program = stand_in().to_str().unwrap();
    world.told(&["push", "--on", "all", "--program", program]);
    world.told(&["run", "aura-logging", "--on", "all", "--job", "a"]);
    world.shell("until [ -e home1/.wakepath-fleet/spool/a/exit ]; do sleep 0.1; done");
    // After its digest was taken, on the board's disk.
    let samples = world
        .home(1)
        .join(".wakepath-fleet/spool/a/run/samples.parquet");
    let mut bytes = fs::read(&samples).unwrap();
    bytes[100] ^= 1;
    fs::write(&samples, bytes).unwrap();
    world.told(&["status", "--ask"]);
    let (code, out, _) = world.told(&["fetch"]);
    assert_eq!(code, 3, "{out}");
    assert!(
        out.contains("not the content that the board listed"),
        "{out}"
    );
    assert!(!world.path("wakepath-fleet/runs/a/board1").exists());
}
