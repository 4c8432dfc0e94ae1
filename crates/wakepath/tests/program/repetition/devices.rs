//! A disk and a network of the guest's own kernel: when their requests end and their packets arrive is decided by the
//! seed, and repeats with it.

use super::{FEW_INSTRUCTIONS, digest_of};
use crate::lab::{Place, lacking, text};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

wakepath_test_program::tests![
    ;
    a_seed_decides_when_packets_arrive_and_disk_requests_end_and_repeats,
    a_slow_disk_takes_its_time_and_repeats,
];

const SCENARIO: &str = r#"
name = "devices"
rate = "1 kHz"
cycles = 60
warm-up = "20 ms"
repetitions = 1
policies = ["FIFO 80"]
[[phases]]
name = "stress"
loads = ["network"]
[criterion]
latency = "1 ms"
miss-fraction = "50 %"
"#;

const LOGGING: &str = r#"
name = "logging"
rate = "1 kHz"
cycles = 60
warm-up = "20 ms"
repetitions = 1
policies = ["FIFO 80"]
work = { kind = "log", directory = "/disk", bytes = "256 B" }
[[phases]]
name = "idle"
[criterion]
latency = "1 ms"
miss-fraction = "50 %"
"#;

/// Prints the time of 256 KiB on their way to the disk: 16 requests or more.
const WRITE: &str = "#!/bin/sh
dd if=/dev/zero of=/disk/file bs=64k count=4 conv=fsync 2>&1
";

/// Prints the time of 50 requests together, and lets each packet on loopback take its time.
const PREPARE: &str = "#!/bin/sh
tc qdisc add dev lo root netem delay 1ms 500us limit 4000 || exit 1
dd if=/dev/sda of=/dev/null bs=4k count=50 iflag=direct 2>&1
";

// Ignored: the stage `repetition` runs it: three guests.
fn a_seed_decides_when_packets_arrive_and_disk_requests_end_and_repeats() {
    let tc = ["/usr/sbin/tc", "/sbin/tc", "/usr/bin/tc"];
    let Some(tc) = tc.iter().find(|tc| Path::new(tc).exists()) else {
        wakepath_test_program::not_run("tc (package iproute2) is not installed");
    };
    let place = Place::new("devices");
    std::fs::write(place.0.join("scenario.toml"), SCENARIO).unwrap();
    let prepare = place.0.join("prepare.sh");
    std::fs::write(&prepare, PREPARE).unwrap();
    std::fs::set_permissions(&prepare, std::fs::Permissions::from_mode(0o755)).unwrap();
    let (prepare, tc) = (prepare.display().to_string(), format!("{tc}=/bin/tc"));
    let guest = [
        "--kernel",
        "debian:stock",
        "--module",
        "sch_netem",
        "--module",
        "sd_mod",
        "--module",
        "scsi_debug ndelay=300000 random=1 dev_size_mb=16",
        "--file",
        &tc,
        "--file",
        "/bin/dd=/bin/dd",
        "--before",
        &prepare,
    ];
    let [first, again, other] =
        [("first", "1"), ("again", "1"), ("other", "2")].map(|(run, seed)| {
            let more = [&guest[..], &FEW_INSTRUCTIONS, &["--seed", seed]].concat();
            let output = place.lab_run(run, &more).output().unwrap();
            if let Some(why) = lacking(&output) {
                wakepath_test_program::not_run(why);
            }
            assert!(output.status.success(), "{}", text(&output.stderr));
            let run = place.0.join(run).join("debian-stock");
            let disk = std::fs::read_to_string(run.join("command-1.out")).unwrap();
            let took = disk.lines().find(|line| line.contains("copied"));
            let took = took.unwrap_or_else(|| panic!("{disk}")).to_owned();
            (took, digest_of(&run.join("samples.parquet")))
        });
    assert_eq!(first, again);
    assert_ne!(first.0, other.0);
    assert_ne!(first.1, other.1);
    println!(
        "repetition: a disk and a network: two runs of one seed the same, one of another seed not"
    );
}

// Ignored: the stage `repetition` runs it: two guests.
fn a_slow_disk_takes_its_time_and_repeats() {
    let place = Place::new("slow-disk");
    std::fs::write(place.0.join("scenario.toml"), LOGGING).unwrap();
    let write = place.0.join("write.sh");
    std::fs::write(&write, WRITE).unwrap();
    std::fs::set_permissions(&write, std::fs::Permissions::from_mode(0o755)).unwrap();
    let write = write.display().to_string();
    let guest = [
        "--kernel",
        "debian:stock",
        "--disk",
        "latency=8ms,rate=2MiB/s",
        "--file",
        "/bin/dd=/bin/dd",
        "--before",
        &write,
    ];
    let [first, again] = ["first", "again"].map(|run| {
        let more = [&guest[..], &FEW_INSTRUCTIONS].concat();
        let output = place.lab_run(run, &more).output().unwrap();
        if let Some(why) = lacking(&output) {
            wakepath_test_program::not_run(why);
        }
        assert!(output.status.success(), "{}", text(&output.stderr));
        let run = place.0.join(run).join("debian-stock");
        let written = std::fs::read_to_string(run.join("command-1.out")).unwrap();
        let seconds = written.split(", ").find_map(|part| part.strip_suffix(" s"));
        let seconds: f64 = seconds
            .unwrap_or_else(|| panic!("{written}"))
            .parse()
            .unwrap();
        assert!((0.128..1.0).contains(&seconds), "{written}");
        (written, digest_of(&run.join("samples.parquet")))
    });
    assert_eq!(first, again);
    println!("repetition: a slow disk: two runs of one seed the same");
}
