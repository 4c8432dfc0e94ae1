//! Loops on a real-time core, in guests whose kernels have one. No distribution packages such kernels: they
//! are taken from the directory that `WAKEPATH_CORE_KERNELS` names, `evl.bzImage` for EVL and `cobalt.bzImage` for
//! Cobalt.

use super::{Place, core_kernel, lacking, text};
use crate::started::binary;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;

wakepath_test_program::tests![
    ;
    a_loop_on_evl_wakes_by_its_clock_and_one_that_asks_linux_is_invalid,
    a_loop_on_evl_that_is_killed_leaves_no_thread_there_and_its_samples_are_recovered,
    a_core_of_evl_that_is_closed_or_stopped_or_goes_is_told_in_one_line,
    a_loop_on_cobalt_wakes_by_its_clock_and_one_that_asks_linux_is_invalid,
    a_loop_on_cobalt_that_is_killed_leaves_no_thread_there_and_its_samples_are_recovered,
    a_core_of_cobalt_that_is_closed_or_stopped_or_goes_is_told_in_one_line,
];

/// Properties of one core for its tests.
pub struct Core {
    /// Its kernel's file.
    kernel: &'static str,
    /// The message to look for if it is missing.
    needs: &'static str,
    pub policy: &'static str,
    /// The policy's name in JSON.
    pub tag: &'static str,
    /// Command of a script that lists its threads, and what it prints without any.
    threads: &'static str,
    no_threads: &'static str,
    /// Command of a script that stops it.
    stop: &'static str,
    /// The message about one that is closed to a user.
    closed: &'static str,
}

pub const EVL: Core = Core {
    kernel: "evl.bzImage",
    needs: "Linux 5.10 or later with CONFIG_EVL (ABI 32 or 43)",
    policy: "EVL FIFO 80",
    tag: "evl-fifo",
    threads: "echo /sys/devices/virtual/thread/*",
    no_threads: "/sys/devices/virtual/thread/clone\n",
    stop: "echo stop > /sys/devices/virtual/evl/control/state",
    closed: "can't open /dev/evl/control",
};

pub const COBALT: Core = Core {
    kernel: "cobalt.bzImage",
    needs: "Linux 5.10 with Dovetail and CONFIG_XENOMAI of Xenomai 3.2",
    policy: "COBALT FIFO 80",
    tag: "cobalt-fifo",
    threads: "while read line; do case $line in *loop*) echo $line; esac; done \
              < /proc/xenomai/sched/threads; echo no more",
    no_threads: "no more\n",
    // It has no file for that: the call `corectl`, after the process is bound with the core's own revision.
    stop: "/usr/bin/perl -e '$b = pack(\"L2x288\", 0xa4000000, 0); syscall(0x10000000, $b); \
           substr($b, 4, 4) = substr($b, 20, 4); syscall(0x10000000, $b); \
           $seconds = pack(\"L\", 1); exit(0 - syscall(0x1000005b, 8, $seconds, 4))'",
    closed: "may not enter the Cobalt core",
};

const SCENARIO: &str = r#"
name = "cores"
rate = "1 kHz"
duration = "200 ms"
warm-up = "20 ms"
policies = ["FIFO 80", "POLICY"]
WORK
[[phases]]
name = "idle"
[criterion]
latency = "100 us"
"#;

/// The script of the guest in which a run is killed; its own shell and `sleep` are brought with it.
const KILLS: &str = "#!/bin/sh
/bin/wakepath run /cores.toml --no-tui --directory /run/killed &
measuring=$!
/bin/sleep 1
kill -9 $measuring
/bin/sleep 0.5
/bin/wakepath recover /run/killed
echo threads:
THREADS
exit 0
";

/// The script of the guest in which the core is closed to a user, stopped in mid-run, and then asked for again.
const FAULTS: &str = "#!/bin/sh
exec 2>&1
/usr/bin/perl -e '$< = $> = 65534; exec @ARGV' /bin/wakepath run /cores.toml --no-tui --directory /run/closed
echo closed: $?
/bin/wakepath run /cores.toml --no-tui --directory /run/gone &
measuring=$!
/bin/sleep 1
STOP
echo stopped: $?
wait $measuring
echo gone: $?
/bin/wakepath run /cores.toml --no-tui --directory /run/stopped
echo refused: $?
for made in /run/closed /run/stopped; do [ -e $made ] && echo there: $made; done
/bin/wakepath show /run/gone
exit 0
";

impl Core {
    pub fn kernel(&self) -> PathBuf {
        core_kernel(self.kernel, self.needs)
    }

    pub fn scenario(&self, work: &str) -> String {
        let scenario = SCENARIO.replace("POLICY", self.policy);
        scenario.replace("WORK", work)
    }

    fn place(&self, name: &str, work: &str) -> Place {
        let place = Place::new(&format!("{}-{name}", self.tag));
        std::fs::write(place.0.join("scenario.toml"), self.scenario(work)).unwrap();
        place
    }

    /// The run of the first guest.
    fn run(&self, place: &Place, more: &[&str]) -> PathBuf {
        self.runs(place, more).swap_remove(0)
    }

    pub fn runs(&self, place: &Place, more: &[&str]) -> Vec<PathBuf> {
        let kernel = self.kernel();
        let kernel = kernel.to_str().unwrap();
        let mut arguments = vec!["--kernel", kernel];
        arguments.extend(more);
        let output = place.lab_run("out", &arguments).output().unwrap();
        if let Some(why) = lacking(&output) {
            wakepath_test_program::not_run(why);
        }
        let said = text(&output.stderr);
        assert!(output.status.success(), "{said}");
        let guests = std::fs::read_dir(place.0.join("out")).unwrap();
        let runs = guests.flatten().map(|entry| entry.path());
        let mut runs: Vec<PathBuf> = runs
            .filter(|path| path.join("manifest.json").is_file())
            .collect();
        runs.sort();
        assert!(!runs.is_empty(), "the guest's run is there: {said}");
        runs
    }

    /// Output of a script in a guest of this core, with a long scenario.
    fn printed_by(&self, name: &str, script: &str) -> String {
        let place = self.place(name, "wake-up = \"timerfd\"");
        let long = self.scenario("").replace("200 ms", "20 s");
        let long = long.replace("\"FIFO 80\", ", "");
        std::fs::write(place.0.join("cores.toml"), long).unwrap();
        let path = place.0.join("script");
        let script = script.replace("THREADS", self.threads);
        std::fs::write(&path, script.replace("STOP", self.stop)).unwrap();
        let runs = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        std::fs::set_permissions(&path, runs).unwrap();
        let run = self.run(
            &place,
            &[
                "--file",
                "cores.toml=/cores.toml",
                "--file",
                "/bin/sleep=/bin/sleep",
                "--file",
                "/usr/bin/perl=/usr/bin/perl",
                "--before",
                "./script",
            ],
        );
        std::fs::read_to_string(run.join("command-1.out")).unwrap()
    }

    fn wakes_by_its_clock(&self) {
        let place_of_nothing = self.place("quiet", "work = \"nothing\"");
        let runs = self.runs(&place_of_nothing, &["--seed", "1", "--seed", "2"]);
        let quiet = shown(&runs[0]);
        let (linux, core) = (condition(&quiet, "fifo"), condition(&quiet, self.tag));
        assert!(linux["cycles"]["latency_as_executed"]["min"].as_i64() > Some(0));
        // Its timers expire before their time, the samples are signed, and its path is the shorter one.
        let latest = core["cycles"]["latency_as_executed"]["max"].as_i64();
        let of_linux = linux["cycles"]["latency_as_executed"]["min"].as_i64();
        assert!(latest < of_linux && latest > Some(-10_000), "{latest:?}");
        assert_eq!(core["outcome"], "virtual-time");
        self.compares(&runs[0], &runs[1]);

        // This work asks Linux how much CPU time it has had, in every cycle.
        let work = "work = { kind = \"busy\", time = \"50 us\" }";
        let place_of_asking = self.place("asks", work);
        let asking = shown(&self.run(&place_of_asking, &[]));
        assert_eq!(condition(&asking, "fifo")["outcome"], "virtual-time");
        let core = condition(&asking, self.tag);
        assert_eq!(core["outcome"], "invalid");
        let reasons = core["reasons"].as_array().unwrap();
        let switched = reasons.iter().find(|why| why["kind"] == "mode-switches");
        let switched = switched.expect("it is said why");
        assert_eq!(switched["switched"], switched["executed"]);
    }

    /// A comparison of two runs tells both sides' gravity.
    fn compares(&self, one: &Path, other: &Path) {
        let output = Command::new(binary())
            .arg("compare")
            .args([one, other])
            .output()
            .unwrap();
        let said = text(&output.stdout);
        let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
        let gravity = said.split("by its gravity").nth(1);
        let gravity = gravity.unwrap_or_else(|| panic!("{said}{}", text(&output.stderr)));
        let [base, against] = ["in the base", "on the other side"].map(|side| gravity.find(side));
        assert!(base.is_some() && base < against, "{gravity}");
        let told = &gravity[..against.unwrap()];
        assert_eq!(told.matches(" ns ").count(), 2, "{gravity}");
    }

    fn is_killed(&self) {
        let printed = self.printed_by("killed", KILLS);
        assert!(printed.contains("recovered "), "{printed}");
        let threads = printed.split("threads:\n").nth(1);
        assert_eq!(threads, Some(self.no_threads), "{printed}");
    }

    fn is_closed_stopped_or_gone(&self) {
        let printed = self.printed_by("faults", FAULTS);
        let said_before = |mark: &str| {
            let before = printed.split(mark).next().unwrap();
            before.lines().last().unwrap_or_default().to_owned()
        };
        assert!(printed.contains("closed: 1\n"), "{printed}");
        assert!(said_before("closed: 1").contains(self.closed), "{printed}");
        assert!(printed.contains("refused: 1\n"), "{printed}");
        let refused = said_before("refused: 1");
        assert!(refused.contains("core is stopped"), "{printed}");
        assert!(!printed.contains("there: "), "{printed}");
        // The run that lost its core is whole, and says why it is worth nothing.
        assert!(printed.contains("stopped: 0\n"), "{printed}");
        let shown = printed.split("refused: 1").nth(1).unwrap();
        let shown = shown.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(shown.contains("verdict: INVALID: "), "{printed}");
        assert!(shown.contains("core is stopped; start it"), "{printed}");
    }
}

pub fn shown(run: &Path) -> Value {
    let show = Command::new(binary())
        .arg("show")
        .arg(run)
        .arg("--json")
        .output();
    serde_json::from_slice(&show.unwrap().stdout).unwrap()
}

fn condition<'a>(shown: &'a Value, policy: &str) -> &'a Value {
    let conditions = shown["conditions"].as_array().unwrap();
    let found = conditions
        .iter()
        .find(|condition| condition["name"]["policy"]["policy"] == policy);
    found.expect("the policy was measured")
}

fn a_loop_on_evl_wakes_by_its_clock_and_one_that_asks_linux_is_invalid() {
    EVL.wakes_by_its_clock();
}

fn a_loop_on_evl_that_is_killed_leaves_no_thread_there_and_its_samples_are_recovered() {
    EVL.is_killed();
}

fn a_core_of_evl_that_is_closed_or_stopped_or_goes_is_told_in_one_line() {
    EVL.is_closed_stopped_or_gone();
}

fn a_loop_on_cobalt_wakes_by_its_clock_and_one_that_asks_linux_is_invalid() {
    COBALT.wakes_by_its_clock();
}

fn a_loop_on_cobalt_that_is_killed_leaves_no_thread_there_and_its_samples_are_recovered() {
    COBALT.is_killed();
}

fn a_core_of_cobalt_that_is_closed_or_stopped_or_goes_is_told_in_one_line() {
    COBALT.is_closed_stopped_or_gone();
}
