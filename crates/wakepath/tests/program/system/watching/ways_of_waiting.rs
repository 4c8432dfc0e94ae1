//! Threads that wait for a timerfd, for several at once, for a time, or by the wall clock.

use super::{watch_this_process, watched};
use crate::started::{Start, loop_cpu, needs_tracing, not_run};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::thread::clock_nanosleep_absolute;
use rustix::time::{
    ClockId, Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, clock_gettime,
    timerfd_create, timerfd_settime,
};
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use wakepath_rt::{affinity, clock};

wakepath_test_program::tests![
    a_timerfd_s_late_cycles_are_told_from_those_it_lost,
    threads_of_every_way_of_waiting_have_their_periods_and_what_is_wrong_with_them,
];

/// A thread on a periodic timerfd, some of whose cycles run over the next due times; it reads how
/// often the timer has expired, and so knows which due times it served and which it lost.
fn on_a_timerfd(period_ns: u64, stop: Arc<AtomicBool>) -> JoinHandle<Vec<u64>> {
    let body = move || {
        affinity::pin(&[loop_cpu()]).unwrap();
        let timer = timerfd_create(TimerfdClockId::Monotonic, TimerfdFlags::CLOEXEC).unwrap();
        let start_ns = clock::monotonic_ns() + 10_000_000;
        let time = |ns: u64| Timespec {
            tv_sec: (ns / 1_000_000_000) as i64,
            tv_nsec: (ns % 1_000_000_000) as _,
        };
        let setting = Itimerspec {
            it_interval: time(period_ns),
            it_value: time(start_ns),
        };
        timerfd_settime(&timer, TimerfdTimerFlags::ABSTIME, &setting).unwrap();
        let (mut served, mut expired) = (Vec::new(), 0);
        while !stop.load(Ordering::Relaxed) {
            let mut count = [0_u8; 8];
            rustix::io::read(&timer, &mut count).unwrap();
            // The first of them is the one that is served.
            served.push(start_ns + expired * period_ns);
            expired += u64::from_ne_bytes(count);
            let periods_in_tenths = match served.len() {
                cycle if cycle % 40 == 20 => 13,
                cycle if cycle % 100 == 70 => 26,
                _ => 1,
            };
            let until_ns = clock::monotonic_ns() + period_ns * periods_in_tenths / 10;
            while clock::monotonic_ns() < until_ns {
                std::hint::spin_loop();
            }
        }
        served
    };
    let thread = std::thread::Builder::new().name("timerfd".into());
    thread.spawn(body).unwrap()
}

fn a_timerfd_s_late_cycles_are_told_from_those_it_lost() {
    let what = "watching a timerfd";
    needs_tracing(what);
    let period_ns = 5_000_000;
    let stop = Arc::new(AtomicBool::new(false));
    let beat = on_a_timerfd(period_ns, Arc::clone(&stop));
    let finished = watch_this_process("2s");
    stop.store(true, Ordering::Relaxed);
    let served = beat.join().unwrap();
    finished.skip_unless_watched(what);
    finished.assert_code(0);
    let json = finished.json();
    let mut threads = json["threads"].as_array().unwrap().iter();
    let seen = threads.find(|thread| thread["name"] == "timerfd").unwrap();
    let run = watched(&finished);
    let mut records = run.manifest.segments[0].threads.iter();
    let record = records.find(|thread| thread.name == "timerfd").unwrap();
    let samples = run.samples(0, record.thread).unwrap();
    let (first, last) = (samples[0].due_ns, samples[samples.len() - 1].due_ns);
    // Events lost by the tracer are reported, and then skipped periods are unknown.
    if json["events_lost"] != 0 {
        not_run(what, "events were lost");
    }
    let dues: Vec<u64> = samples.iter().map(|sample| sample.due_ns).collect();
    let within = |due: &&u64| (first..=last).contains(due);
    let known: Vec<u64> = served.iter().filter(within).copied().collect();
    assert_eq!(dues, known);
    let lost = (last - first) / period_ns + 1 - known.len() as u64;
    assert!(lost >= 2, "too few to tell: {lost} of {}", known.len());
    assert_eq!(seen["skipped"], lost);
}

/// A thread that waits in its own way until it is stopped.
fn waiting(
    name: &str,
    stop: &Arc<AtomicBool>,
    mut turn: impl FnMut() + Send + 'static,
) -> JoinHandle<()> {
    let stop = Arc::clone(stop);
    let thread = std::thread::Builder::new().name(name.into());
    let body = move || {
        while !stop.load(Ordering::Relaxed) {
            turn();
        }
    };
    thread.spawn(body).unwrap()
}

/// A timerfd of a period.
fn timer_of(period_ns: u64) -> OwnedFd {
    let timer = timerfd_create(TimerfdClockId::Monotonic, TimerfdFlags::CLOEXEC).unwrap();
    let time = Timespec {
        tv_sec: 0,
        tv_nsec: period_ns as _,
    };
    let setting = Itimerspec {
        it_interval: time,
        it_value: time,
    };
    timerfd_settime(&timer, TimerfdTimerFlags::empty(), &setting).unwrap();
    timer
}

fn threads_of_every_way_of_waiting_have_their_periods_and_what_is_wrong_with_them() {
    let what = "watching threads that wait in several ways";
    needs_tracing(what);
    let stop = Arc::new(AtomicBool::new(false));
    let timers = [timer_of(10_000_000), timer_of(33_000_000)];
    let events = waiting("events", &stop, move || {
        let mut ready = [0, 1].map(|at| PollFd::new(&timers[at], PollFlags::IN));
        poll(&mut ready, None).unwrap();
        for (of, timer) in ready.iter().zip(&timers) {
            if of.revents().contains(PollFlags::IN) {
                rustix::io::read(timer, &mut [0_u8; 8]).unwrap();
            }
        }
    });
    let naps = waiting("naps", &stop, || {
        std::thread::sleep(std::time::Duration::from_millis(8));
    });
    let mut due = clock_gettime(ClockId::Realtime);
    let wall = waiting("wall", &stop, move || {
        due.tv_nsec += 5_000_000;
        if due.tv_nsec >= 1_000_000_000 {
            due.tv_nsec -= 1_000_000_000;
            due.tv_sec += 1;
        }
        let _ = clock_nanosleep_absolute(rustix::thread::ClockId::Realtime, &due);
    });
    let finished = watch_this_process("1500ms");
    stop.store(true, Ordering::Relaxed);
    for thread in [events, naps, wall] {
        thread.join().unwrap();
    }
    finished.skip_unless_watched(what);
    finished.assert_code(0);
    let json = finished.json();
    let threads = json["threads"].as_array().unwrap();
    let of = |name: &str| {
        let mut named = threads.iter().filter(|thread| thread["name"] == name);
        named
            .next()
            .unwrap_or_else(|| panic!("no {name}: {}", finished.said()))
    };
    for (name, period_ns) in [
        ("events-10ms", 10_000_000),
        ("events-33ms", 33_000_000),
        ("wall", 5_000_000),
    ] {
        let of = of(name);
        assert_eq!(
            (&of["period_ns"], &of["exact"]),
            (&period_ns.into(), &true.into()),
            "{name}"
        );
    }
    let naps = &of("naps")["findings"][0];
    assert_eq!(
        (&naps["kind"], &naps["asked_ns"]),
        (&"sleeps-for".into(), &8_000_000.into())
    );
    assert_eq!(of("wall")["findings"][0]["kind"], "wall-clock");
    assert_eq!(
        watched(&finished).check().unwrap(),
        [],
        "{}",
        finished.said()
    );
    // Each row of the thread with two timers is explained by its own cycles.
    let directory = finished.place.path().join("run");
    let explained = Start::command(&["explain", "--all"])
        .with(&[&directory])
        .finish();
    explained.assert_code(0);
    for name in ["events-10ms", "events-33ms", "naps", "wall"] {
        assert!(
            explained.output.contains(name),
            "{name}: {}",
            explained.said()
        );
    }
}
