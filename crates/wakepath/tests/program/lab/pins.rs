//! A pin driven in a guest, on lines of gpio-sim, the kernel's own simulated GPIO chip (CONFIG_GPIO_SIM, in
//! Debian's kernels since 7.2). Its outputs lead nowhere: a script is the wire, which looks at the first line and
//! pulls the second. So edges, numbers, losses and refusals are the kernel's; how soon an edge comes is the
//! script's, and says nothing of a pin.

use super::{Place, lacking, text};
use crate::started::binary;
use serde_json::Value;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

wakepath_test_program::tests![
    ;
    a_pin_is_driven_and_its_edges_are_seen_and_lines_that_can_not_be_had_are_named,
];

const KERNEL: &str = "debian:stock@trixie-backports";

/// Line 3 belongs to the kernel itself.
const WIRE: &str = "#!/bin/sh
b=/bin/busybox
$b mount -t configfs none /sys/kernel/config
sim=/sys/kernel/config/gpio-sim/pins
$b mkdir $sim $sim/bank $sim/bank/line0 $sim/bank/line3 $sim/bank/line3/hog
echo 8 > $sim/bank/num_lines
echo OUT > $sim/bank/line0/name
echo valve > $sim/bank/line3/hog/name
echo input > $sim/bank/line3/hog/direction
echo 1 > $sim/live
read chip < $sim/bank/chip_name
echo chip: $chip
lines=/sys/devices/platform/gpio-sim.0/$chip
while :; do
  read now < $lines/sim_gpio0/value
  if [ \"$now\" != \"$before\" ]; then
    before=$now
    if [ $now = 1 ]; then pull=pull-up; else pull=pull-down; fi
    echo $pull > $lines/sim_gpio1/pull
  fi
done > /dev/null 2>&1 &
exit 0
";

/// A pin that is killed while it is driven; who has the lines then.
const KILLED: &str = "#!/bin/sh
b=/bin/busybox
/bin/wakepath tiers /run/own --drive gpiochip0:0 --read gpiochip0:1 --policy OTHER &
driving=$!
for turn in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
  $b sleep 0.1
  $b grep -q wakepath /sys/kernel/debug/gpio && break
done
echo during: $($b grep -c wakepath /sys/kernel/debug/gpio)
kill -9 $driving
$b sleep 0.2
echo afterwards: $($b grep -c wakepath /sys/kernel/debug/gpio)
exit 0
";

const SCENARIO: &str = "name = \"own\"\nrate = \"1 kHz\"\ncycles = 50\nwarm-up = \"20 ms\"\nrepetitions = 1\n\
     policies = [\"OTHER\", \"FIFO 80\"]\nphases = [{ name = \"idle\" }]\ncriterion = \"1 ms tier\"\n";

/// Refused pins, with the words of each refusal.
const REFUSED: [(&str, &str); 6] = [
    (
        "--drive gpiochip7:0 --read gpiochip0:1",
        "wakepath: there is no GPIO chip gpiochip7; there are gpiochip0 (gpio-sim.0:node0, 8 lines)",
    ),
    (
        "--drive gpiochip0:8 --read gpiochip0:1",
        "wakepath: there is no line gpiochip0:8: gpiochip0 (gpio-sim.0:node0) has lines 0 to 7",
    ),
    (
        "--drive gpiochip0:3 --read gpiochip0:1",
        "wakepath: line gpiochip0:3 is in use by \"valve\"; free it there, or give another",
    ),
    (
        "--drive gpiochip0:0 --read gpiochip0:0",
        "wakepath: gpiochip0:0 can't be driven and read back at the same time; give a second line, and wire the two",
    ),
    (
        "--drive gpiochip0:2 --read gpiochip0:1",
        "wakepath: no edge arrived on gpiochip0:1 while gpiochip0:2 was driven; wire line gpiochip0:2 to line \
         gpiochip0:1",
    ),
    (
        "--drive null:0 --read gpiochip0:1",
        "wakepath: /dev/null is not a GPIO chip; there are gpiochip0 (gpio-sim.0:node0, 8 lines)",
    ),
];

fn script(place: &Place, name: &str, text: &str) {
    let path = place.0.join(name);
    fs::write(&path, text).unwrap();
    fs::set_permissions(&path, PermissionsExt::from_mode(0o755)).unwrap();
}

// Ignored: the stage `lab` runs it: 60 s of a CPU, and packages of 120 MB once.
fn a_pin_is_driven_and_its_edges_are_seen_and_lines_that_can_not_be_had_are_named() {
    if !Path::new("/bin/busybox").exists() {
        wakepath_test_program::not_run(
            "/bin/busybox (package busybox-static) is not installed here",
        );
    }
    let place = Place::new("pins");
    script(&place, "wire", WIRE);
    script(&place, "killed", KILLED);
    fs::write(place.0.join("own.toml"), SCENARIO).unwrap();
    let mut command = Command::new(binary());
    command
        .current_dir(&place.0)
        .args(["lab", "exec", "--directory", "out", "--kernel", KERNEL])
        .args(["--module", "gpio-sim", "--ns-per-instruction", "4"])
        .args(["--file", "/bin/busybox=/bin/busybox"])
        .args(["--file", "own.toml=/own.toml", "--before", "./wire"])
        .args(["--before", "-run /own.toml --no-tui --directory /run/own"]);
    for (lines, _) in REFUSED {
        let refused = format!("-tiers /run/own --edges 2 {lines}");
        command.args(["--before", &refused]);
    }
    command.args(["--before", "./killed"]);
    let pins = ["--drive", "gpiochip0:0", "--read", "gpiochip0:1"];
    let more = ["--policy", "FIFO 80", "--edges", "100", "--json"];
    command
        .args(["--", "tiers", "/run/own"])
        .args(pins)
        .args(more);
    let output = command.output().unwrap();
    if let Some(why) = lacking(&output) {
        wakepath_test_program::not_run(why);
    }
    let said = text(&output.stderr);
    let guest = fs::read_dir(place.0.join("out")).unwrap().flatten().next();
    let guest = guest.unwrap_or_else(|| panic!("{said}")).path();
    // The first two make the wire and the run.
    for ((_, expected), number) in REFUSED.iter().zip(3..) {
        let refused = fs::read_to_string(guest.join(format!("command-{number}.err"))).unwrap();
        assert_eq!(refused.trim_end(), *expected);
    }
    let killed = fs::read_to_string(guest.join("command-9.out")).unwrap();
    assert_eq!(killed, "during: 2\nafterwards: 0\n");
    let tiers: Value = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{error}: {}\n{said}", text(&output.stdout)));
    let pin = &tiers["pin"];
    assert_eq!(
        (&pin["drive"], &pin["read"], &pin["policy"]),
        (
            &"gpiochip0:0".into(),
            &"gpiochip0:1".into(),
            &"FIFO 80".into()
        )
    );
    let steps = pin["steps"].as_array().unwrap();
    let of = |step: &Value, what: &str| {
        let count = step[what].as_i64();
        count.unwrap_or_else(|| panic!("no {what} in {step:#}"))
    };
    assert_eq!(steps.len(), 8, "{pin:#}");
    for step in steps {
        assert_eq!((of(step, "due"), of(step, "dropped")), (100, 0), "{step:#}");
        assert!(of(step, "seen") <= of(step, "driven"), "{step:#}");
    }
    // The wire is quick enough for the longest half period, and never for the shortest.
    let (first, last) = (&steps[0], &steps[7]);
    assert_eq!(
        (of(first, "driven"), of(first, "seen")),
        (100, 100),
        "{first:#}"
    );
    assert!(of(first, "median_ns") > 0 && of(first, "largest_ns") < 10_000_000);
    assert!(of(last, "seen") < 50, "{last:#}");
    // A guest's command says of its own accord that its time is virtual, and a pin in it is not judged.
    assert_eq!(last["outcome"], "virtual-time", "{last:#}");
}
