//! A guest's inputs in addition to its kernel: modules, files, values, scripts; and refusals before
//! anything boots or is written.

use super::{Place, lacking, text};
use crate::started::binary;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

wakepath_test_program::tests![
    what_can_not_be_given_is_refused_in_one_line_and_nothing_is_written,
    ;
    a_guest_has_its_modules_files_and_values_and_runs_a_script_from_anywhere,
    functions_of_modules_come_home_with_a_run,
    cpus_lie_in_sockets_and_nodes_as_they_are_asked_to,
];

fn lab_exec(place: &Place, more: &[&str]) -> std::process::Output {
    let mut command = Command::new(binary());
    command.current_dir(&place.0).args(["lab", "exec"]);
    command.args(["--directory", "out"]).args(more);
    command.output().unwrap()
}

// Ignored: the stage `lab` runs it: 20 s of a CPU, and a package of 100 MB with its modules once.
fn a_guest_has_its_modules_files_and_values_and_runs_a_script_from_anywhere() {
    let place = Place::new("given");
    let script = place.0.join("prepare");
    let text_of = "#!/bin/sh\nread note < /data/note\necho \"note: $note\"\n";
    fs::write(&script, text_of).unwrap();
    fs::set_permissions(&script, PermissionsExt::from_mode(0o755)).unwrap();
    fs::write(place.0.join("note"), "a note\n").unwrap();
    let value = "/proc/sys/vm/swappiness";
    let output = lab_exec(
        &place,
        &[
            "--kernel",
            "package:linux-image-cloud-amd64",
            "--module",
            "dummy numdummies=2",
            "--file",
            "note=/data/note",
            "--file",
            "/bin/cat=/bin/cat",
            "--init-write",
            &format!("{value}=7"),
            "--before",
            // The guest mounts something over /tmp, where the test's place is.
            "./prepare",
            "--before",
            &format!("/bin/cat {value} /proc/modules /sys/class/net/dummy1/ifindex"),
            "--",
            "/proc/self/exe",
            "--version",
        ],
    );
    if let Some(why) = lacking(&output) {
        wakepath_test_program::not_run(why);
    }
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{said}");
    assert!(text(&output.stdout).starts_with("wakepath-lab "), "{said}");
    let of = |number: usize| {
        let name = format!("out/package-linux-image-cloud-amd64/command-{number}.out");
        fs::read_to_string(place.0.join(name)).unwrap()
    };
    assert_eq!(of(1), "note: a note\n");
    let found = of(2);
    assert!(found.starts_with("7\ndummy "), "{found}");
}

// Ignored: the stage `lab` runs it: 20 s of a CPU.
fn functions_of_modules_come_home_with_a_run() {
    let place = Place::new("module-symbols");
    let scenario = "name = \"idle\"\nrate = \"1 kHz\"\ncycles = 20\npolicies = [\"FIFO 80\"]\n\
                    [[phases]]\nname = \"idle\"\n\
                    [criterion]\nlatency = \"1 ms\"\nmiss-fraction = \"50 %\"\n";
    fs::write(place.0.join("scenario.toml"), scenario).unwrap();
    let kernel = ["--kernel", "package:linux-image-cloud-amd64"];
    let of = |directory: &str, more: &[&str]| {
        let mut lab = place.lab_run(directory, &[&kernel[..], more].concat());
        let output = lab.output().unwrap();
        if let Some(why) = lacking(&output) {
            wakepath_test_program::not_run(why);
        }
        assert!(output.status.success(), "{}", text(&output.stderr));
        let run = place.0.join(directory);
        let run = run.join("package-linux-image-cloud-amd64");
        fs::read_to_string(run.join("module-symbols.txt"))
    };
    let found = of("with", &["--module", "dummy"]).unwrap();
    let lines = || found.lines();
    assert!(lines().any(|line| line.contains("dummy_xmit")), "{found}");
    assert!(lines().all(|line| line.ends_with(']')), "{found}");
    assert!(of("without", &[]).is_err());
}

// Ignored: the stage `lab` runs it: 15 s of a CPU.
fn cpus_lie_in_sockets_and_nodes_as_they_are_asked_to() {
    let place = Place::new("sockets");
    let of_cpus = "/sys/devices/system/cpu";
    let output = lab_exec(
        &place,
        &[
            "--kernel",
            "debian:stock",
            "--cpus",
            "4",
            "--topology",
            "sockets=2,cores=2",
            "--ns-per-instruction",
            "8",
            "--",
            "/bin/cat",
            "/sys/devices/system/node/node1/cpulist",
            &format!("{of_cpus}/cpu2/topology/physical_package_id"),
            &format!("{of_cpus}/cpu1/topology/core_siblings_list"),
        ],
    );
    if let Some(why) = lacking(&output) {
        wakepath_test_program::not_run(why);
    }
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{said}");
    assert_eq!(text(&output.stdout), "2-3\n1\n0-1\n", "{said}");
}

fn what_can_not_be_given_is_refused_in_one_line_and_nothing_is_written() {
    let place = Place::new("not-given");
    // A kernel of which nothing but its configuration is looked at.
    let mut image = vec![0; 0x1000];
    image[0x202..0x206].copy_from_slice(b"HdrS");
    fs::write(place.0.join("bzImage"), &image).unwrap();
    fs::write(
        place.0.join("bzImage.config"),
        "# CONFIG_PROC_FS is not set\n",
    )
    .unwrap();
    let kernel = ["--kernel", "./bzImage"];
    for (more, why) in [
        (
            &[][..],
            "./bzImage can't be this guest: it was built without CONFIG_BLK_DEV_INITRD (the guest \
             starts from an initramfs), ",
        ),
        (
            &["--module", "../a"],
            "--module \"../a\": give a module's name",
        ),
        (
            &["--file", "gone=data"],
            "--file gone=data: give HOST=GUEST",
        ),
        (
            &["--init-write", "/etc/a=1"],
            "--init-write /etc/a=1: give PATH=VALUE",
        ),
        (
            &["--disk", "latency=8ms"],
            "--disk latency=8ms: give the time of a request and the rate",
        ),
        (
            &["--cpus", "8", "--topology", "sockets=2,cores=8"],
            "--topology sockets=2,cores=8: makes 16 CPUs, and the guest has 8; say --cpus 16",
        ),
        (
            &["--variant", "console=ttyS1"],
            "console=ttyS1: the laboratory sets",
        ),
    ] {
        let arguments = [&kernel[..], more, &["--", "machine"]].concat();
        let output = lab_exec(&place, &arguments);
        let said = text(&output.stderr);
        if let Some(why) = lacking(&output) {
            wakepath_test_program::not_run(why);
        }
        assert_eq!(output.status.code(), Some(1), "{said}");
        let complaint = said.lines().find(|line| line.starts_with("wakepath: "));
        let complaint = complaint.unwrap_or_else(|| panic!("{said}"));
        assert!(complaint.contains(why), "{said}");
        assert!(!place.0.join("out").exists(), "{more:?}");
    }
}
