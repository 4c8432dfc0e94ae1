//! A real full disk: a tmpfs of one megabyte.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use wakepath_archive::{ArchiveError, Ending, Event, LOG_NAME, LogWriter, Run, finish};

use crate::made_up_run::{run_started, samples, segment_ended, segment_started, write};
use crate::scratch::Scratch;
use wakepath_test_program::not_run;

wakepath_test_program::tests![
    a_full_disk_stops_recording_clearly_and_loses_nothing_written,
    a_full_disk_whose_blocks_are_allocated_late_loses_nothing_either,
    a_full_disk_on_which_a_log_cannot_reserve_room_still_gets_its_last_events,
    the_reserve_does_not_show_in_a_logs_size_and_is_given_back,
];

/// A small file system, unmounted when dropped.
struct SmallDisk {
    mounted: PathBuf,
    _scratch: Scratch,
}

impl SmallDisk {
    /// Reports the test as not run if this process can't mount.
    fn mount(kind: &str) -> Self {
        let scratch = Scratch::new();
        let mounted = scratch.path().join("disk");
        fs::create_dir(&mounted).unwrap();
        let done = match kind {
            "tmpfs" => run(
                "mount",
                &["-t", "tmpfs", "-o", "size=4m", "tmpfs"],
                &[&mounted],
            ),
            _ => {
                let image = scratch.path().join("image");
                fs::File::create(&image).unwrap().set_len(8 << 20).unwrap();
                run(&format!("mkfs.{kind}"), &["-q"], &[&image])
                    .and_then(|()| run("mount", &["-t", kind, "-o", "loop"], &[&image, &mounted]))
            }
        };
        match done {
            Ok(()) => Self {
                mounted,
                _scratch: scratch,
            },
            Err(why) => not_run(format!(
                "the right to mount a small disk of {kind} is needed: {why}"
            )),
        }
    }

    fn run(&self) -> PathBuf {
        self.mounted.join("run")
    }

    /// Fills all that is left.
    fn fill(&self) {
        let mut ballast = fs::File::options()
            .append(true)
            .create(true)
            .open(self.mounted.join("ballast"))
            .unwrap();
        for piece in [64 * 1024, 512] {
            while ballast.write_all(&vec![1; piece]).is_ok() {}
        }
        let _ = ballast.sync_all();
    }

    fn empty(&self) {
        fs::remove_file(self.mounted.join("ballast")).unwrap();
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(&self.mounted).status();
    }
}

fn run(program: &str, options: &[&str], paths: &[&Path]) -> Result<(), String> {
    let output = Command::new(program).args(options).args(paths).output();
    let output = output.map_err(|error| format!("{program}: {error}"))?;
    let said = String::from_utf8_lossy(&output.stderr).trim().to_owned();
    output.status.success().then_some(()).ok_or(said)
}

fn a_full_disk_stops_recording_clearly_and_loses_nothing_written() {
    fill_and_finish("tmpfs", false);
}

fn a_full_disk_whose_blocks_are_allocated_late_loses_nothing_either() {
    fill_and_finish("ext4", false);
}

fn a_full_disk_on_which_a_log_cannot_reserve_room_still_gets_its_last_events() {
    fill_and_finish("ext2", true);
}

fn fill_and_finish(kind: &str, reserve_is_a_file: bool) {
    let disk = SmallDisk::mount(kind);
    // A file that the user will delete to make space for finishing the run.
    let spare = disk.mounted.join("spare");
    fs::write(&spare, vec![1; 1_500_000]).unwrap();
    let mut log = LogWriter::create(&disk.run()).unwrap();
    let reserve = disk.run().join("samples.reserve");
    assert_eq!(reserve.exists(), reserve_is_a_file);
    log.append_event(&run_started(1)).unwrap();
    log.append_event(&segment_started(0, &[0], 1_000_000))
        .unwrap();
    let mut appended = 0;
    let error = loop {
        match log.append_samples(0, 0, &samples(0, 0, appended..appended + 100)) {
            Ok(()) => appended += 100,
            Err(error) => break error,
        }
        assert!(appended < 1_000_000, "the disk never filled");
    };
    let ArchiveError::DiskFull { unwritten, .. } = error else {
        panic!("{error}")
    };
    let written = appended + 100 - unwritten;
    assert!(written > 10_000, "{written}");
    assert!(error.to_string().contains("the disk is full"), "{error}");
    // Later appends fail cleanly and change nothing.
    let length = fs::metadata(disk.run().join(LOG_NAME)).unwrap().len();
    for _ in 0..3 {
        let again = log.append_samples(0, 0, &samples(0, 0, 0..2_000));
        assert!(matches!(again, Err(ArchiveError::DiskFull { .. })));
        let again = log.append_event(&segment_started(1, &[0], 10));
        assert!(matches!(again, Err(ArchiveError::DiskFull { .. })));
    }
    assert_eq!(
        fs::metadata(disk.run().join(LOG_NAME)).unwrap().len(),
        length
    );
    // Even when another process takes the last block, the end can still be written. Space held in a
    // separate file has been freed by now, and is available to anyone.
    if !reserve_is_a_file {
        disk.fill();
    }
    log.append_event(&segment_ended(0, &[0], written)).unwrap();
    log.append_event(&Event::Note {
        text: "the disk was full".to_owned(),
    })
    .unwrap();
    log.end(Ending::Failed {
        reason: "the disk is full".to_owned(),
    })
    .unwrap();

    let run = Run::open(&disk.run()).unwrap();
    assert_eq!(
        run.manifest.ending,
        Ending::Failed {
            reason: "the disk is full".to_owned()
        }
    );
    assert_eq!(run.manifest.recovered, None);
    assert!(
        run.samples(0, 0).unwrap() == samples(0, 0, 0..written),
        "the samples differ"
    );

    // No room for Parquet either: the log stays, and with room it is finished.
    disk.fill();
    assert!(matches!(
        finish(&disk.run()),
        Err(ArchiveError::DiskFull { .. })
    ));
    assert!(disk.run().join(LOG_NAME).exists());
    disk.empty();
    fs::remove_file(&spare).unwrap();
    // ext4 frees a removed file's blocks when its journal is committed.
    fs::File::open(&disk.mounted).unwrap().sync_all().unwrap();
    finish(&disk.run()).unwrap();
    let run = Run::open(&disk.run()).unwrap();
    assert!(
        run.samples(0, 0).unwrap() == samples(0, 0, 0..written),
        "the samples differ"
    );
}

fn the_reserve_does_not_show_in_a_logs_size_and_is_given_back() {
    let scratch = Scratch::new();
    write(&scratch.run(), 1, &[0], 10);
    let names: Vec<_> = fs::read_dir(scratch.run())
        .unwrap()
        .map(|e| e.unwrap().path())
        .collect();
    assert_eq!(names, [scratch.run().join(LOG_NAME)]);
    assert!(
        allocated(&names[0]) < 64 * 1024,
        "{} bytes still reserved",
        allocated(&names[0])
    );
}

fn allocated(path: &Path) -> u64 {
    use std::os::unix::fs::MetadataExt;
    fs::metadata(path).unwrap().blocks() * 512
}
