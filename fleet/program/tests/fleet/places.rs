//! Boards with a place in labgrid: a real coordinator, exporter and client, and a fake power
//! switch.

use crate::world::{Like, World, stand_in};
use std::fs;
use std::path::PathBuf;
use std::process::Command;
use wakepath_test_program::not_run;

wakepath_test_program::tests![
    ;
    a_place_is_held_for_a_run_and_its_power_is_switched_where_a_board_stays_down,
];

/// A fake power switch with an HTTP interface, which records its requests.
const SWITCH: &str = "import http.server
class Switch(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        with open('switched', 'a') as log: log.write(self.path + '\\n')
        self.send_response(200); self.end_headers(); self.wfile.write(b'1')
    def log_message(self, *all): pass
http.server.HTTPServer(('127.0.0.1', 8099), Switch).serve_forever()
";

const EXPORTED: &str = "rack:
  NetworkPowerPort:
    model: simplerest
    host: 'http://127.0.0.1:8099/relay/{index}/{value}'
    index: 1
";

const COORDINATOR: &str = "127.0.0.1:20408";

/// Its `reboot` makes a mark, for the tests that boot boards.
const BEFORE: &str = r#"
if [ ! -d $world/bin$user ]; then
    mkdir $world/bin$user
    printf '#!/bin/sh\nexit 0\n' > $world/bin$user/grub-reboot
    printf '#!/bin/sh\nshift\nexec "$@"\n' > $world/bin$user/sudo
    printf '#!/bin/sh\ntouch %s/down\n' $world/bin$user > $world/bin$user/reboot
    chmod -R a+rwx $world/bin$user
fi
mount -t tmpfs none /usr/local/bin
cp $world/bin$user/grub-reboot $world/bin$user/sudo $world/bin$user/reboot /usr/local/bin/
cat /proc/sys/kernel/random/uuid > $world/boot$user
mount --bind $world/boot$user /proc/sys/kernel/random/boot_id
"#;

fn a_place_is_held_for_a_run_and_its_power_is_switched_where_a_board_stays_down() {
    let Some(labgrid) = std::env::var_os("WAKEPATH_LABGRID").map(PathBuf::from) else {
        not_run("WAKEPATH_LABGRID names no environment of Python with labgrid");
    };
    let bin = labgrid.join("bin");
    if !bin.join("labgrid-client").is_file() {
        not_run("labgrid is not installed");
    }
    let world = World::new(&[Like {
        before: BEFORE,
        behaviour: "",
    }]);
    let path = std::env::var("PATH").unwrap();
    let path = format!("{}:{path}", bin.display());
    let with = |mut command: Command, user: &str| {
        command
            .env("PATH", &path)
            .env("LG_COORDINATOR", COORDINATOR);
        command
            .env("LG_USERNAME", user)
            .env("LG_HOSTNAME", "controller");
        let output = command.output().unwrap();
        crate::world::ended(output)
    };
    let fleet = |words: &[&str]| with(world.fleet(words), "night");
    let client = |user: &str, words: &str| {
        let mut command = world.command("labgrid-client");
        command.args(["-p", "rack-3"]).args(words.split(' '));
        with(command, user)
    };
    fs::write(world.path("switch.py"), SWITCH).unwrap();
    fs::write(world.path("exported.yaml"), EXPORTED).unwrap();
    fs::write(
        world.path("lab"),
        format!(
            "PATH={path}\npython3 switch.py &\nlabgrid-coordinator -l {COORDINATOR} &\n\
             until labgrid-client -x {COORDINATOR} places; do sleep 0.3; done\n\
             exec labgrid-exporter -c {COORDINATOR} -n lab --hostname localhost exported.yaml\n"
        ),
    )
    .unwrap();
    world.shell("sh lab </dev/null >lab.log 2>&1 &");
    let made = (0..100).any(|_| {
        std::thread::sleep(std::time::Duration::from_millis(300));
        client("night", "resources")
            .1
            .contains("lab/rack/NetworkPowerPort")
    });
    let log = || fs::read_to_string(world.path("lab.log")).unwrap_or_default();
    assert!(made, "no exporter: {}", log());
    for words in ["create", "add-match lab/rack/NetworkPowerPort"] {
        let (code, out, err) = client("night", words);
        assert_eq!(code, 0, "{words}: {out}{err}");
    }
    let inventory = fs::read_to_string(world.path("fleet.toml")).unwrap();
    fs::write(world.path("fleet.toml"), inventory + "place = \"rack-3\"\n").unwrap();
    let program = stand_in().to_str().unwrap();
    let (code, out, err) = fleet(&["push", "--on", "all", "--program", program]);
    assert_eq!(code, 0, "{out}{err}");

    // Another program has the board.
    assert_eq!(client("alice", "acquire").0, 0);
    let run = ["run", "aura-logging", "--on", "all", "--job", "a"];
    let (code, out, err) = fleet(&run);
    assert_eq!(code, 1, "{out}{err}");
    assert!(
        out.contains("not begun: labgrid-client: Error: Place rack-3 is already acquired by controller/alice\n"),
        "{out}"
    );
    assert_eq!(client("alice", "release").0, 0);
    let (code, out, err) = fleet(&run);
    assert_eq!(code, 0, "{out}{err}");
    let holder = || client("night", "show").1;
    assert!(
        holder().contains("acquired: controller/night"),
        "{}",
        holder()
    );
    world.shell("until [ -e home1/.wakepath-fleet/spool/a/exit ]; do sleep 0.1; done");
    fleet(&["status", "--ask"]);
    let (code, out, err) = fleet(&["fetch"]);
    assert_eq!((code, err.as_str()), (0, ""), "{out}");
    assert!(holder().contains("acquired: None"), "{}", holder());

    // This board only comes back after a power cycle.
    fs::write(
        world.path("firmware"),
        "until [ -e bin61001/down ]; do sleep 0.1; done; kill -9 $(ip netns pids board1)\n\
         until grep -q /relay/1/1 switched; do sleep 0.1; done; exec ip netns exec board1 sh board1.sh \"$1\"\n",
    )
    .unwrap();
    let sshd = world.sshd.display();
    world.shell(&format!("sh firmware {sshd} </dev/null >/dev/null 2>&1 &"));
    let (code, out, err) = fleet(&[
        "reboot", "--on", "all", "--entry", "x", "--kernel", "none", "--loader", "grub", "--wait",
        "8",
    ]);
    assert_eq!(code, 1, "{out}{err}");
    assert!(
        out.contains("fell back: did not come back; its power was switched off and on, runs "),
        "{out}{err}{}",
        log()
    );
    assert_eq!(
        fs::read_to_string(world.path("switched")).unwrap(),
        "/relay/1/0\n/relay/1/1\n"
    );
    assert!(holder().contains("acquired: None"), "{}", holder());
}
