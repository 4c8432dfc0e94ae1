//! A real recorder process, killed with SIGKILL at random times, repeatedly.
//!
//! Everything that it had synced, or written as a complete block, is present.

use std::env;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use wakepath_archive::{LogReader, LogWriter, Run, recover};

use crate::made_up_run::{run_started, samples, segment_started};
use crate::scratch::Scratch;

wakepath_test_program::tests![
    a_recorder_killed_at_any_moment_leaves_everything_it_had_written;
    write_until_killed,
];

const DIRECTORY: &str = "WAKEPATH_TEST_KILLED_RUN";
const KILLS: u32 = 30;

/// The process that is killed, started by the test below.
fn write_until_killed() {
    let directory = env::var_os(DIRECTORY).expect("started by the test below");
    let mut log = LogWriter::create(Path::new(&directory)).unwrap();
    log.append_event(&run_started(1)).unwrap();
    log.append_event(&segment_started(0, &[0], u64::MAX))
        .unwrap();
    let mut out = std::io::stdout();
    for cycle in (0..).step_by(100) {
        log.append_samples(0, 0, &samples(0, 0, cycle..cycle + 100))
            .unwrap();
        match (cycle / 100) % 7 {
            0 => log.sync().unwrap(),
            3 => log.flush_block().unwrap(),
            _ => continue,
        }
        writeln!(out, "written {}", cycle + 100).unwrap();
    }
}

fn a_recorder_killed_at_any_moment_leaves_everything_it_had_written() {
    let seed = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap()
        .subsec_nanos();
    eprintln!("seed {seed}");
    let mut random = u64::from(seed) | 1;
    let (mut torn, mut most) = (0, 0);
    for _ in 0..KILLS {
        let scratch = Scratch::new();
        let mut child = Command::new(env::current_exe().unwrap())
            .args([
                "--exact",
                "killed_writer::write_until_killed",
                "--ignored",
                "--nocapture",
            ])
            .env(DIRECTORY, scratch.run())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap())
            .lines()
            .map(Result::unwrap);
        let number = |line: String| line.strip_prefix("written ").and_then(|n| n.parse().ok());
        let first: u64 = lines
            .by_ref()
            .find_map(number)
            .expect("the recorder writes");
        random = random
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        let delay = random >> 52;
        // Its output has to be read while it runs: a full pipe would stop it.
        let reader = std::thread::spawn(move || lines.filter_map(number).last());
        sleep(Duration::from_micros(delay * 8));
        child.kill().unwrap();
        child.wait().unwrap();
        let promised = reader.join().unwrap().unwrap_or(first);

        let run = wakepath_directory::Directory::to_read(&scratch.run()).unwrap();
        let mut log = LogReader::open_in(&run).unwrap();
        while log.next_block().unwrap().is_some() {}
        assert!(!log.damage().is_corruption(), "{:?}", log.damage());
        torn += u32::from(log.damage().tail.is_some());
        recover(&scratch.run()).unwrap();
        let found = Run::open(&scratch.run()).unwrap().samples(0, 0).unwrap();
        let count = found.len() as u64;
        assert!(count >= promised, "{count} samples of {promised} promised");
        assert!(found == samples(0, 0, 0..count), "the samples differ");
        most = most.max(count);
    }
    eprintln!("{KILLS} kills, {torn} torn blocks, at most {most} samples");
}
