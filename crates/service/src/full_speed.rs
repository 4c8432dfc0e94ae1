//! A day of a 1 kHz loop at the disk's full speed.
//!
//! Every cycle is accounted for, and memory and space stay bounded.

use crate::begin::prepare;
use crate::history::now_ns;
use crate::recorder::record;
use crate::summary::summary;
use crate::terms::{Described, Found, Live, Refusal, Settings, Terms};
use std::time::{Duration, Instant};
use wakepath_archive::RunStarted;
use wakepath_directory::Trust;
use wakepath_measure::LiveFigures;
use wakepath_rt::announcement::Announced;
use wakepath_rt::clock;
use wakepath_rt::shared::SharedMemory;
use wakepath_scenario::{Criterion, PoliciesNeeded};
use wakepath_timeline::Sample;

const PERIOD_NS: u64 = 1_000_000;
const SLOTS: u32 = 1 << 18;
const KEEP_BYTES: u64 = 64 << 20;

struct AnyTerms;

impl Terms for AnyTerms {
    fn criterion(&self, _: &Found) -> Result<Criterion, Refusal> {
        Ok(Criterion {
            latency_ns: Some(200_000),
            deadline_ns: PERIOD_NS,
            miss_fraction: 0.5,
            evidence: None,
            confidence: 0.95,
            consecutive_misses: None,
            outage_ns: None,
            mode_switches: 0.0,
            policies: PoliciesNeeded::Any,
        })
    }

    fn describe(&self, _: &Found, _: u64) -> Result<Described, Refusal> {
        Ok(Described {
            start: RunStarted::default(),
            phase: "service".into(),
            facts: serde_json::Value::Null,
        })
    }
}

struct Nobody;

impl Live for Nobody {
    fn is_at(&mut self, _: &str, _: &LiveFigures) {}
}

/// Cycle 7 of each ten thousand is skipped; each thousandth is late.
fn sample(cycle: u64, start_ns: u64) -> Sample {
    let due_ns = start_ns + cycle * PERIOD_NS;
    let late_ns = if cycle.is_multiple_of(1_000) {
        300_000
    } else {
        5_000 + cycle % 900
    };
    Sample {
        cycle,
        due_ns,
        wake_ns: due_ns + late_ns,
        end_ns: due_ns + late_ns + 20_000,
        ..Sample::default()
    }
}

fn resident_bytes() -> u64 {
    let text = std::fs::read_to_string("/proc/self/statm").unwrap();
    let pages: u64 = text.split(' ').nth(1).unwrap().parse().unwrap();
    pages * rustix::param::page_size() as u64
}

fn room(directory: &std::path::Path) -> u64 {
    let entries = std::fs::read_dir(directory).unwrap().flatten();
    entries
        .map(|entry| {
            if entry.file_type().unwrap().is_dir() {
                room(&entry.path())
            } else {
                entry.metadata().map_or(0, |of| of.len())
            }
        })
        .sum()
}

fn recorded(cycles: u64) {
    let place = tempfile::tempdir().unwrap();
    let directory = prepare(&place.path().join("field"), Trust::Any).unwrap();
    let memory = SharedMemory::create_with(1, SLOTS, 1 << 10).unwrap();
    memory.open_to_all();
    let began = Instant::now();
    let (process, program) = rustix::pipe::pipe().unwrap();
    let settings = Settings {
        keep_bytes: KEEP_BYTES,
        worst: 100,
        command: vec!["a stand-in".into()],
        version: "0".into(),
        resumes: false,
        traces: false,
    };
    let mut early = 0;
    std::thread::scope(|scope| {
        let (memory, directory) = (&memory, &directory);
        let recorder = scope.spawn(move || {
            let terms = (&AnyTerms as &dyn Terms, &mut Nobody as &mut dyn Live);
            record(memory, directory, (1, process), &settings, terms, || ())
        });
        let announced = Announced {
            name: "attitude".into(),
            thread_id: rustix::thread::gettid()
                .as_raw_nonzero()
                .get()
                .unsigned_abs(),
            period_ns: PERIOD_NS,
            timer_slack_ns: 0,
            foreign_clock: false,
            overrun: Default::default(),
            on_a_core: None,
        };
        assert!(memory.announcement(0).stand_in(&announced));
        #[allow(unsafe_code)]
        // SAFETY: the only writer of this ring.
        let mut writer = unsafe { memory.writer(0) };
        let start_ns = clock::monotonic_ns();
        for cycle in (0..cycles).filter(|cycle| cycle % 10_000 != 7) {
            writer.push(sample(cycle, start_ns));
            while cycle % 1_024 == 0
                && memory.indices(0).written() - memory.indices(0).read() > u64::from(SLOTS) / 2
            {
                std::thread::sleep(Duration::from_millis(1));
            }
            if cycle == cycles / 4 {
                early = resident_bytes();
            }
        }
        drop(program);
        recorder.join().unwrap().unwrap();
    });
    let late = resident_bytes();
    let (found, took) = (summary(directory.path()).unwrap(), began.elapsed());
    let of = &found.loops["attitude"];
    let (all, segments) = (room(directory.path()), room(&directory.path_of("segments")));
    println!(
        "{cycles} due times ({:.1} h at 1 kHz) in {:.1} s: resident {} KiB after a quarter, {} KiB at the end; on \
         disk {} KiB of samples, {} KiB of other files",
        cycles as f64 / 3.6e6,
        took.as_secs_f64(),
        early >> 10,
        late >> 10,
        segments >> 10,
        (all - segments) >> 10
    );
    let skipped = cycles / 10_000;
    assert_eq!(
        (of.tally.executed, of.tally.skipped, of.lost()),
        (cycles - skipped, skipped, 0)
    );
    assert_eq!(of.tally.misses.missed, cycles / 1_000 + skipped);
    assert_eq!(of.latencies.max(), Some(300_000));
    assert_eq!(of.latencies.count(), cycles - skipped);
    assert!(segments <= KEEP_BYTES, "{segments} bytes");
    assert!(late < early + (8 << 20), "{early} → {late} bytes");
    let lasted_ns = found.span.map_or(0, |(first, last)| last - first);
    assert!(lasted_ns >= cycles * PERIOD_NS && lasted_ns < now_ns());
}

#[test]
fn a_million_cycles_are_accounted_for_in_bounded_memory_and_room() {
    recorded(1_000_000);
}

#[test]
#[ignore = "minutes; in `cargo xtask test --deep`"]
fn a_day_at_full_speed_takes_no_more_memory_than_its_first_hours() {
    recorded(100_000_000);
}
