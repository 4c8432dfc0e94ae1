//! `wakepath watch` on a program that is not wakepath: this test itself, whose threads' periods and
//! wake-ups are known because they note them.

use crate::started::{Finished, Place, Start, binary, is_root, loop_cpu, not_run};
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
use wakepath_archive::Run;
use wakepath_rt::{Cycles, affinity, clock};
use wakepath_timeline::{DueTimes, Policy, Sample};

wakepath_test_program::tests![
    the_periods_of_a_foreign_program_are_found_and_its_own_notes_agree,
    a_timerfd_s_late_cycles_are_told_from_those_it_lost,
    threads_of_every_way_of_waiting_have_their_periods_and_what_is_wrong_with_them,
    a_period_that_drifts_is_told_to_a_thousandth_of_its_unit,
    a_watch_ends_at_the_first_latency_above_and_says_why,
    threads_of_any_name_are_recorded,
    a_program_that_sleeps_once_is_recorded_and_its_period_is_unknown,
    in_a_pid_namespace_it_is_refused_in_one_line,
    without_privilege_the_remedy_is_said_in_one_line_and_nothing_is_started,
];

const NOBODY: u32 = 65_534;

/// A thread that records its own samples until it is stopped.
pub(super) struct Beat {
    stop: Arc<AtomicBool>,
    thread: JoinHandle<Vec<Sample>>,
}

impl Beat {
    pub(super) fn start(name: &str, period_ns: u64) -> Self {
        Self::under(Policy::Other { nice: 0 }, name, period_ns)
    }

    /// As far as there is a right to the policy.
    fn under(policy: Policy, name: &str, period_ns: u64) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let told = Arc::clone(&stop);
        let body = move || {
            affinity::pin(&[loop_cpu()]).unwrap();
            let _ = under(policy);
            let start_ns = clock::monotonic_ns() + 10_000_000;
            let mut cycles = Cycles::new(DueTimes {
                start_ns,
                period_ns,
            })
            .unwrap();
            let mut samples = Vec::new();
            while let Some(activation) = cycles.wait() {
                samples.push(cycles.finish(activation));
                if told.load(Ordering::Relaxed) {
                    break;
                }
            }
            samples
        };
        let thread = std::thread::Builder::new().name(name.into());
        Self {
            stop,
            thread: thread.spawn(body).unwrap(),
        }
    }

    pub(super) fn end(self) -> Vec<Sample> {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.join().unwrap()
    }
}

/// Gives this thread a policy; whether it has the right to it.
fn under(policy: Policy) -> bool {
    let preparation = wakepath_rt::Preparation {
        policy,
        lock_memory: false,
        ..wakepath_rt::Preparation::default()
    };
    preparation.apply().is_ok()
}

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

fn threads_of_any_name_are_recorded() {
    let what = "watching threads with unusual names";
    if !is_root() {
        not_run(what, "only root may trace");
    }
    // Linux cuts the last one within a character, of the process as of the thread.
    let names = ["io/worker", ".hidden", "x-äöüäöüäöü"];
    std::fs::write("/proc/self/comm", &names[2].as_bytes()[..15]).unwrap();
    let beats = names.map(|name| Beat::start(name, 5_000_000));
    let pid = std::process::id().to_string();
    let watched = |which: &[&str], directory: &str| {
        let words = [
            &["watch"],
            which,
            &["--for", "1s", "--directory", directory],
        ]
        .concat();
        let finished = Start::command(&words).finish();
        if finished.complaints.contains("can't watch") {
            not_run(what, finished.complaints.trim());
        }
        finished.assert_code(0);
        let run = Run::open(&finished.place.path().join(directory)).unwrap();
        let threads = run.manifest.segments[0].threads.iter();
        threads.map(|of| of.name.clone()).collect::<Vec<_>>()
    };
    let by_number = watched(&["-p", &pid], "by-number");
    let by_name = watched(&["--comm", names[0]], "by-name");
    let by_cut_name = watched(&["--comm", names[2]], "by-cut-name");
    for beat in beats {
        beat.end();
    }
    for name in ["io-worker", "-hidden", "x-äöüäöü-"] {
        assert!(by_number.iter().any(|of| of == name), "{by_number:?}");
    }
    assert_eq!(by_name, ["io-worker"]);
    assert!(
        by_cut_name.iter().any(|of| of == "x-äöüäöü-"),
        "{by_cut_name:?}"
    );
}

fn a_timerfd_s_late_cycles_are_told_from_those_it_lost() {
    let what = "watching a timerfd";
    if !is_root() {
        not_run(what, "only root may trace");
    }
    let period_ns = 5_000_000;
    let stop = Arc::new(AtomicBool::new(false));
    let beat = on_a_timerfd(period_ns, Arc::clone(&stop));
    let pid = std::process::id().to_string();
    let words = [
        "watch",
        "-p",
        &pid,
        "--for",
        "2s",
        "--json",
        "--directory",
        "run",
    ];
    let finished = Start::command(&words).finish();
    stop.store(true, Ordering::Relaxed);
    let served = beat.join().unwrap();
    if finished.complaints.contains("can't watch") {
        not_run(what, finished.complaints.trim());
    }
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

pub(super) fn watched(finished: &Finished) -> Run {
    Run::open(&finished.place.path().join("run")).unwrap()
}

fn the_periods_of_a_foreign_program_are_found_and_its_own_notes_agree() {
    let what = "watching a program";
    if !is_root() {
        not_run(what, "only root may trace");
    }
    let beats = [
        Beat::start("fast beat", 3_000_000),
        Beat::start("slow", 17_000_000),
    ];
    let pid = std::process::id().to_string();
    let words = [
        "watch",
        "-p",
        &pid,
        "--for",
        "1500ms",
        "--json",
        "--directory",
        "run",
    ];
    let finished = Start::command(&words).finish();
    let [fast, slow] = beats.map(Beat::end);
    if finished.complaints.contains("can't watch") {
        not_run(what, finished.complaints.trim());
    }
    finished.assert_code(0);
    let json = finished.json();
    let run = watched(&finished);
    assert_eq!(run.check().unwrap(), [], "{}", finished.said());
    for (name, period_ns, own) in [("fast-beat", 3_000_000, &fast), ("slow", 17_000_000, &slow)] {
        let threads = json["threads"].as_array().unwrap();
        let seen = threads.iter().find(|thread| thread["name"] == name);
        let seen = seen.unwrap_or_else(|| panic!("no {name}: {}", finished.said()));
        assert_eq!(
            (&seen["period_ns"], &seen["exact"]),
            (&period_ns.into(), &true.into())
        );
        let record = &run.manifest.segments[0];
        let thread = record
            .threads
            .iter()
            .find(|thread| thread.name == name)
            .unwrap();
        let samples = run.samples(0, thread.thread).unwrap();
        assert!(!samples.is_empty());
        // The thread noted each due time too, and saw its first instruction after the switch to it,
        // but where the kernel did not tell the switch.
        let mut later = 0;
        for sample in &samples {
            let noted = own.iter().find(|noted| noted.due_ns == sample.due_ns);
            let noted = noted.unwrap_or_else(|| panic!("{name}: {sample:?} is not its own"));
            later += u64::from(sample.wake_ns > noted.wake_ns);
        }
        let untold = seen["untold_switches"].as_u64().unwrap();
        assert!(later <= untold, "{name}: {later} later, {untold} untold");
    }
    // It is a run, with a mark, that can't pass.
    assert!(run.manifest.imported.as_ref().unwrap().is_watched());
    let directory = finished.place.path().join("run");
    let shown = crate::started::Start::command(&["show", "--details"])
        .with(&[&directory])
        .finish();
    // Nobody said what is to be held: there is nothing to fail.
    shown.assert_code(0);
    assert!(
        shown.output.contains("verdict: NOT JUDGED") && shown.output.contains("--latency"),
        "{}",
        shown.said()
    );
    assert!(
        shown.output.contains("watched from outside"),
        "{}",
        shown.said()
    );
    let explained = Start::command(&["explain", "--all"])
        .with(&[&directory])
        .finish();
    explained.assert_code(0);
    assert!(
        explained.output.contains("fast-beat"),
        "{}",
        explained.said()
    );
    assert!(directory.join("report.html").is_file());
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
    if !is_root() {
        not_run(what, "only root may trace");
    }
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
    let pid = std::process::id().to_string();
    let words = [
        &["watch", "-p", &pid, "--for", "1500ms", "--json"],
        &["--directory", "run"][..],
    ]
    .concat();
    let finished = Start::command(&words).finish();
    stop.store(true, Ordering::Relaxed);
    for thread in [events, naps, wall] {
        thread.join().unwrap();
    }
    if finished.complaints.contains("can't watch") {
        not_run(what, finished.complaints.trim());
    }
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

/// A thread that sleeps for a time has some nanoseconds more in every turn: nobody reads those.
fn a_period_that_drifts_is_told_to_a_thousandth_of_its_unit() {
    let what = "the period of a thread that drifts";
    if !is_root() {
        not_run(what, "only root may trace");
    }
    let name = format!("nap{}", std::process::id());
    let stop = Arc::new(AtomicBool::new(false));
    let told = Arc::clone(&stop);
    let sleeper = std::thread::Builder::new()
        .name(name.clone())
        .spawn(move || {
            let has_right = under(Policy::Fifo { priority: 10 });
            while !told.load(Ordering::Relaxed) {
                std::thread::sleep(std::time::Duration::from_millis(7));
            }
            has_right
        });
    let words = [
        "watch",
        "--comm",
        &name,
        "--for",
        "2s",
        "--directory",
        "run",
    ];
    let finished = Start::command(&words).finish();
    stop.store(true, Ordering::Relaxed);
    if !sleeper.unwrap().join().unwrap() {
        not_run(what, "there is no right to FIFO");
    }
    if finished.complaints.contains("can't watch") {
        not_run(what, finished.complaints.trim());
    }
    finished.assert_code(0);
    // The heading names it too, and a wide table is several.
    let mut rows = finished.output.lines().map(str::split_whitespace);
    let row = rows.find_map(|row| {
        let words: Vec<&str> = row.collect();
        let is_row = words.get(..3) == Some(&[name.as_str(), "FIFO", "10"]);
        is_row.then(|| (words[3].to_owned(), words[4].to_owned()))
    });
    let Some((period, unit)) = row else {
        panic!("no row of {name}: {}", finished.said());
    };
    let decimals = period.split_once('.').map_or("", |(_, decimals)| decimals);
    assert!(
        period.starts_with('7') && unit == "ms" && decimals.len() <= 3,
        "{}",
        finished.said()
    );
}

fn a_program_that_sleeps_once_is_recorded_and_its_period_is_unknown() {
    let what = "watching a program without a period";
    if !is_root() {
        not_run(what, "only root may trace");
    }
    let finished =
        Start::command(&["watch", "--all", "--directory", "run", "--", "sleep", "0.3"]).finish();
    if finished.complaints.contains("can't watch") {
        not_run(what, finished.complaints.trim());
    }
    finished.assert_code(0);
    assert!(
        finished.output.contains("its period, if any, is unknown"),
        "{}",
        finished.said()
    );
    let run = watched(&finished);
    assert_eq!(run.manifest.segments[0].threads[0].name, "sleep");
}

fn in_a_pid_namespace_it_is_refused_in_one_line() {
    let what = "watching in a container";
    if !is_root() {
        not_run(what, "only root may make a PID namespace");
    }
    let place = Place::new();
    let refused = std::process::Command::new("unshare")
        .args(["--pid", "--fork", "--mount-proc"])
        .arg(binary())
        .args(["watch", "--directory", "run", "--", "touch", "started"])
        .current_dir(place.path())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&refused.stderr);
    assert_eq!(refused.status.code(), Some(1), "{said}");
    assert!(said.contains("can't watch: in this container"), "{said}");
    assert_eq!(said.lines().count(), 1, "{said}");
    assert!(!place.path().join("started").exists());
    assert!(!place.path().join("run").exists());
}

fn without_privilege_the_remedy_is_said_in_one_line_and_nothing_is_started() {
    let what = "watching as an unprivileged user";
    if !is_root() {
        not_run(what, "only root may become another user");
    }
    let words = ["watch", "--directory", "run", "--", "touch", "started"];
    let finished = Start::command(&words).by_user(NOBODY).finish();
    if finished.code() == Some(3) {
        not_run(what, "any user may trace here");
    }
    finished.assert_refused(1, &["can't watch: "]);
    assert!(!finished.place.path().join("started").exists());
    assert!(!finished.place.path().join("run").exists());
}

/// A thread that holds its CPU now and then, under a policy that preempts the watched one's. The
/// watched thread has a name that no other has: the threads of other tests in this program wait with
/// periods too, and on a busy machine one of those may be the first that is late.
fn a_watch_ends_at_the_first_latency_above_and_says_why() {
    let what = "ending a watch at a latency";
    if !is_root() {
        not_run(what, "only root may trace");
    }
    let name = format!("above{}", std::process::id());
    let beat = Beat::under(Policy::Fifo { priority: 10 }, &name, 5_000_000);
    let stop = Arc::new(AtomicBool::new(false));
    let told = Arc::clone(&stop);
    let hog = std::thread::Builder::new()
        .name("hog".into())
        .spawn(move || {
            affinity::pin(&[loop_cpu()]).unwrap();
            let has_right = under(Policy::Fifo { priority: 20 });
            let begun = std::time::Instant::now();
            while !told.load(Ordering::Relaxed) {
                std::thread::sleep(std::time::Duration::from_millis(20));
                // After the period has shown.
                if begun.elapsed().as_millis() > 3_000 {
                    let until_ns = clock::monotonic_ns() + 150_000_000;
                    while clock::monotonic_ns() < until_ns {
                        std::hint::spin_loop();
                    }
                    std::thread::sleep(std::time::Duration::from_millis(500));
                }
            }
            has_right
        });
    let words = [
        "watch",
        "--comm",
        &name,
        "--for",
        "60s",
        "--stop-above",
        "100ms",
    ];
    let finished = Start::command(&words)
        .with(&["--directory", "run"])
        .finish();
    stop.store(true, Ordering::Relaxed);
    let has_right = hog.unwrap().join().unwrap();
    beat.end();
    if finished.complaints.contains("can't watch") {
        not_run(what, finished.complaints.trim());
    }
    if !has_right {
        not_run(what, "no right to a real-time policy");
    }
    finished.assert_code(2);
    assert!(finished.took.as_secs() < 45, "{}", finished.said());
    let said = &finished.output;
    let (_, stopped) = said
        .split_once("stopped: ")
        .unwrap_or_else(|| panic!("{}", finished.said()));
    if !stopped.contains("hog") && stopped.contains("CPU stalled") {
        let why = "the machine stalled for longer than the hog holds its CPU";
        not_run(what, why);
    }
    for part in ["above 100 ms", "hog", "--perfetto"] {
        assert!(stopped.contains(part), "{part}: {}", finished.said());
    }
    assert!(finished.place.path().join("run/segment-0.events").exists());
}
