//! The disk fills up while a fast loop runs: recording ends with a clear word, the loop is not
//! disturbed, and what was written can be read.

use crate::started::{Place, Start, Witness, ask, loop_cpu, needs_real_time, not_run};
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;
use wakepath_timeline::Policy;

wakepath_test_program::tests![a_full_disk_ends_the_recording_and_disturbs_no_cycle,];

/// A file system in memory of a few megabytes, unmounted when dropped.
struct SmallDisk(PathBuf);

impl SmallDisk {
    fn mount(place: &Place) -> Result<Self, String> {
        let path = place.path().join("disk");
        std::fs::create_dir(&path).unwrap();
        let mount = Command::new("mount")
            .args(["-t", "tmpfs", "-o", "size=2m", "tmpfs"])
            .arg(&path)
            .output();
        let mount = mount.map_err(|error| format!("mount: {error}"))?;
        if mount.status.success() {
            Ok(Self(path))
        } else {
            Err(String::from_utf8_lossy(&mount.stderr).trim().to_owned())
        }
    }

    fn enlarge(&self) {
        let options = ["-o", "remount,size=64m"];
        let status = Command::new("mount")
            .args(options)
            .arg(&self.0)
            .status()
            .unwrap();
        assert!(status.success());
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(&self.0).status();
    }
}

fn a_full_disk_ends_the_recording_and_disturbs_no_cycle() {
    let _turn = super::turn();
    let what = "a full disk under a running loop";
    needs_real_time(what);
    let place = Place::new();
    let disk = match SmallDisk::mount(&place) {
        Ok(disk) => disk,
        Err(why) => not_run(what, &why),
    };
    let text = format!(
        "name = \"test\"\nrate = \"10 kHz\"\nduration = \"60 s\"\nwarm-up = \"0 ms\"\nthreads = 4\n\
         policies = [\"FIFO 50\"]\ncpu = {}\n",
        loop_cpu()
    );
    std::fs::write(place.path().join("scenario.toml"), text).unwrap();
    let directory = disk.0.join("run");
    let witness = Witness::under(Policy::Fifo { priority: 60 });
    let mut finished = Start::command_in(place, &["run", "scenario.toml", "--directory"])
        .with(&[&directory])
        .finish();
    finished.directory = directory;
    finished.assert_code(1);
    assert!(
        finished.took < Duration::from_secs(30),
        "it took {:?}",
        finished.took
    );
    finished.assert_nobody_is_left();
    let errors = finished.errors();
    assert_eq!(errors.len(), 1, "{}", finished.said());
    assert!(errors[0].contains("disk is full"), "{}", errors[0]);
    assert!(
        errors[0].contains(&*disk.0.to_string_lossy()),
        "{}",
        errors[0]
    );

    // Readable as it is, on the full disk.
    let samples = finished.samples(0);
    assert!(samples.len() > 2_000, "{} samples", samples.len());
    // The loop continued while its recorder could not write: the last 100 ms that were written are as good
    // as the rest. 50 ms would be a stall of the loop by the disk, but where the machine stalls altogether.
    let stalled = u64::try_from(witness.longest().as_micros()).unwrap() / 100;
    for two in samples.windows(2) {
        let gap = two[1].cycle - two[0].cycle;
        assert!(
            gap < 500 + stalled,
            "{gap} due times went by unserved after cycle {}",
            two[0].cycle
        );
    }
    let shown = ask("show", &finished.directory);
    assert_ne!(shown.code(), Some(0), "{}", shown.said());
    assert!(
        format!("{}{}", shown.output, shown.complaints).contains("disk is full"),
        "{}",
        shown.said()
    );

    // With room again it becomes an ordinary archive.
    disk.enlarge();
    ask("recover", &finished.directory).assert_code(0);
    assert_eq!(finished.samples(0), samples);
    assert!(finished.directory.join("samples.parquet").is_file());
    assert_ne!(ask("show", &finished.directory).code(), Some(0));
    drop(disk);
}
