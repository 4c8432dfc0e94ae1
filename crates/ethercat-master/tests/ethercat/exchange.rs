//! Exchanges of a master with a ring in a separate process.

use std::path::Path;
use std::time::{Duration, Instant};
use wakepath_ethercat::{EthercatError, Exchange, Link, Master, Ring, RingOptions};
use wakepath_ethercat_master::start;

wakepath_test_program::tests![
    every_device_takes_part_in_every_exchange,
    what_a_ring_loses_is_unanswered_and_what_comes_late_is_counted,
    a_device_that_stops_is_seen_by_the_counter,
    the_clocks_of_all_devices_follow_the_first,
    nothing_is_left_of_a_ring,
    an_interface_that_is_not_there_or_has_no_link_is_named,
];

const PERIOD: Duration = Duration::from_millis(1);

fn host() -> &'static Path {
    Path::new(env!("CARGO_BIN_EXE_ethercat-test-host"))
}

/// A bus, or the end of the test if this user can't create one.
fn bus(options: &RingOptions) -> (Ring, Box<dyn Master>) {
    let (ring, link) = match Ring::start(host(), options) {
        Ok(ring) => ring,
        Err(error @ EthercatError::NoNamespace(_)) => wakepath_test_program::not_run(error),
        Err(error) => panic!("{error}"),
    };
    (ring, start(link, PERIOD).unwrap())
}

/// How `count` exchanges end, one each period, each given so long.
fn exchange(master: &mut dyn Master, count: usize, patience: Duration) -> Vec<Exchange> {
    let began = Instant::now();
    let one = |number: usize| {
        let due = PERIOD * u32::try_from(number).unwrap();
        std::thread::sleep(due.saturating_sub(began.elapsed()));
        let deadline = now_ns() + patience.as_nanos() as u64;
        master.exchange(deadline)
    };
    (0..count).map(one).collect()
}

fn now_ns() -> u64 {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}

fn right(ended: &[Exchange]) -> usize {
    let is_right = |one: &&Exchange| matches!(one, Exchange::Right { .. });
    ended.iter().filter(is_right).count()
}

fn every_device_takes_part_in_every_exchange() {
    for devices in [1, 3, 16] {
        let (_ring, mut master) = bus(&RingOptions {
            devices,
            ..RingOptions::default()
        });
        assert_eq!(master.devices(), devices);
        assert_eq!(master.expected(), 3 * devices);
        let ended = exchange(&mut *master, 300, Duration::from_secs(1));
        assert_eq!(right(&ended), 300, "{ended:?}");
        assert_eq!(master.late(), 0);
    }
}

fn what_a_ring_loses_is_unanswered_and_what_comes_late_is_counted() {
    let (_ring, mut master) = bus(&RingOptions {
        lost_per_million: 100_000,
        ..RingOptions::default()
    });
    let ended = exchange(&mut *master, 500, Duration::from_millis(200));
    let lost = ended.len() - right(&ended);
    // 50 are expected; six standard deviations are 40.
    assert!((10..=90).contains(&lost), "{lost} of 500");
    assert_eq!(master.late(), 0);

    let (_ring, mut master) = bus(&RingOptions {
        jitter_ns: 4_000_000,
        ..RingOptions::default()
    });
    let ended = exchange(&mut *master, 200, Duration::from_micros(500));
    let unanswered = ended.len() - right(&ended);
    std::thread::sleep(Duration::from_secs(1));
    exchange(&mut *master, 1, Duration::from_millis(500));
    assert!(unanswered > 50, "{unanswered}");
    // None was lost: each came, even if late.
    let late = master.late() as usize;
    assert!(
        late <= unanswered && late * 10 >= unanswered * 9,
        "{late} of {unanswered}"
    );
}

fn a_device_that_stops_is_seen_by_the_counter() {
    let (_ring, mut master) = bus(&RingOptions {
        stops_after_ns: Some(200_000_000),
        ..RingOptions::default()
    });
    let ended = exchange(&mut *master, 600, Duration::from_secs(1));
    assert!(matches!(ended[0], Exchange::Right { .. }), "{:?}", ended[0]);
    assert_eq!(ended[599], Exchange::WrongCounter { counted: 6 });
}

fn the_clocks_of_all_devices_follow_the_first() {
    let (_ring, mut master) = bus(&RingOptions {
        devices: 4,
        ..RingOptions::default()
    });
    let mut clocks = Vec::new();
    for _ in 0..500 {
        let before = now_ns();
        match master.exchange(before + 1_000_000_000) {
            Exchange::Right { clock_ns } => clocks.push((before, clock_ns.unwrap(), now_ns())),
            other => panic!("{other:?}"),
        }
        std::thread::sleep(PERIOD);
    }
    // The reference shows the host's time when the frame passed, apart from the offset of the
    // set-up.
    let apart = |(before, clock, _): &(u64, u64, u64)| clock.wrapping_sub(*before).cast_signed();
    let (least, most) = clocks
        .iter()
        .map(apart)
        .fold((i64::MAX, i64::MIN), |(a, b), one| (a.min(one), b.max(one)));
    let longest = clocks.iter().map(|(before, _, after)| after - before).max();
    assert!(
        most - least <= longest.unwrap() as i64,
        "{least} to {most} ns"
    );
    let mut differences = Vec::new();
    for _ in 0..30 {
        differences.extend(master.clock_difference(now_ns() + 1_000_000_000));
    }
    assert_eq!(differences.len(), 30);
    // Crystals have errors of 20 millionths, so a gap of 10 ms can cause 200 ns.
    let largest = differences.iter().max().unwrap();
    assert!(*largest < 1_000, "{differences:?}");
}

fn nothing_is_left_of_a_ring() {
    let before = interfaces();
    let (ring, master) = bus(&RingOptions::default());
    assert_eq!(
        interfaces(),
        before,
        "the link is in a namespace of its own"
    );
    let pid = ring.id();
    assert!(Path::new(&format!("/proc/{pid}")).exists());
    drop(ring);
    assert!(!Path::new(&format!("/proc/{pid}")).exists());
    drop(master);
    assert_eq!(interfaces(), before);
}

fn interfaces() -> Vec<std::ffi::OsString> {
    let entries = std::fs::read_dir("/sys/class/net").unwrap();
    let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name()).collect();
    names.sort();
    names
}

fn an_interface_that_is_not_there_or_has_no_link_is_named() {
    let error = Link::open("wakepath-none").unwrap_err().to_string();
    assert!(
        error.starts_with("there is no network interface wakepath-none; there are "),
        "{error}"
    );
    let error = Link::open("../lo").unwrap_err().to_string();
    assert!(error.contains("no network interface ../lo"), "{error}");
}
