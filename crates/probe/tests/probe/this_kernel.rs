//! The probe on the kernel that the tests run on: the real tracer, real sleeps.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use wakepath_test_program::not_run;

use wakepath_archive::{EventKind, Trace, TraceDescription, TraceEnd, TraceMode, TraceWriter};
use wakepath_directory::{Directory, Trust};
use wakepath_probe::stream::Decoder;
use wakepath_probe::usdt::{Mark, exported};
use wakepath_probe::{
    Backend, Chosen, Collector, Command, EventCost, EventSource, Instance, PerfRings, SelfTest,
    Setting, Tracefs,
};
use wakepath_rt::clock;
use wakepath_timeline::What;

wakepath_test_program::tests![
    every_sleep_shows_its_path_and_the_instance_goes_with_its_owner,
    marks_in_programs_are_left_alone_while_the_kernels_events_are_tried_out,
    an_instance_goes_too_where_the_probe_is_left_alone_while_it_drains,
    what_is_recorded_comes_back_from_the_file_with_its_counts,
    a_buffer_that_is_too_small_says_how_much_was_overwritten,
    an_instance_of_a_killed_process_is_removed_and_others_stay,
    perf_gives_the_same_events_of_a_wake_up_in_both_modes,
    perf_counts_each_event_as_read_or_lost,
    where_no_instance_can_be_made_perf_records_and_says_why,
    ;
    on_a_read_only_tracefs,
];

/// Runs the test in a separate thread, which can leave the others' mount namespace.
fn with_tracefs(test: impl FnOnce(&Tracefs) + Send + 'static) {
    // A process has one instance, named after it.
    static ONE: Mutex<()> = Mutex::new(());
    let _one = ONE.lock().unwrap_or_else(PoisonError::into_inner);
    let thread = std::thread::spawn(move || match Tracefs::find_or_mount() {
        Ok(tracefs) => test(&tracefs),
        Err(error) => not_run(error),
    });
    thread
        .join()
        .unwrap_or_else(|panic| std::panic::resume_unwind(panic));
}

fn last_cpu() -> u16 {
    *wakepath_rt::affinity::current().unwrap().last().unwrap()
}

fn every_sleep_shows_its_path_and_the_instance_goes_with_its_owner() {
    with_tracefs(|tracefs| {
        let cpu = last_cpu();
        let (instance, mut decoder) = match Instance::create(tracefs, &[cpu], 4 << 20) {
            Ok(made) => made,
            Err(error) => not_run(error),
        };
        let directory = instance.directory().to_owned();
        assert!(directory.exists());
        let found = SelfTest::run(&instance, &mut decoder, cpu).unwrap();
        println!("{found}");
        assert_eq!(
            (found.without_expiry, found.without_waking),
            (0, 0),
            "{found}"
        );
        // Some kernels leave the switches out of idle out on some CPUs. The self-test must not pass
        // then, and those who read the events must do without.
        assert_eq!(found.passed(), found.without_switch == 0, "{found}");
        assert_eq!(decoder.not_understood(), 0);
        let cost = EventCost::measure(&instance).unwrap();
        println!("{cost:?}");
        assert!(cost.events_per_passage > 3.0);
        println!("missing: {:?}", instance.missing());
        drop(instance);
        assert!(!directory.exists());
    });
}

fn marks_in_programs_are_left_alone_while_the_kernels_events_are_tried_out() {
    // Where tracefs has to be mounted, it is in a namespace that knows mapped files by other paths.
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
    let mut libraries = maps.lines().filter_map(|line| line.split_once('/'));
    let libc = libraries.find(|(_, path)| path.contains("libc.so"));
    let Some((_, libc)) = libc else {
        not_run("this program has no libc.so");
    };
    let file = Path::new("/").join(libc);
    with_tracefs(move |tracefs| {
        let places = exported(&file, "pthread_mutex_").unwrap();
        let mark = Mark {
            number: 1,
            file,
            places: vec![places["init"]],
            is_needed: true,
            function: None,
        };
        let cpu = last_cpu();
        let made = Instance::with_marks(tracefs, &[cpu], 4 << 20, &[mark]);
        let (instance, _) = match made {
            Ok(made) => made,
            Err(error) => not_run(error),
        };
        let events = instance.directory().join("events");
        let own = std::process::id().to_string();
        let mut groups = std::fs::read_dir(&events).unwrap().flatten();
        let group = groups.find(|of| of.file_name().to_string_lossy().contains(&own));
        let group = group.unwrap().path();
        let is_on = |place: &Path| {
            let text = std::fs::read_to_string(place.join("enable")).unwrap();
            text.starts_with('1')
        };
        let switches = events.join("sched/sched_switch");
        instance.start_without_marks().unwrap();
        assert_eq!((is_on(&switches), is_on(&group)), (true, false));
        instance.stop().unwrap();
        instance.start().unwrap();
        assert_eq!((is_on(&switches), is_on(&group)), (true, true));
        instance.stop().unwrap();
    });
}

fn an_instance_goes_too_where_the_probe_is_left_alone_while_it_drains() {
    with_tracefs(|tracefs| {
        let directory = tempfile::tempdir().unwrap();
        let setting = Setting {
            cpus: vec![last_cpu()],
            segment_ns: 1_000_000_000,
            backend: Some(Backend::Tracefs),
            mode: Some(TraceMode::Drained),
            buffer_bytes: None,
            keep_above_ns: None,
            marks: Vec::new(),
            is_awaited: false,
            apart: None,
        };
        let (commands, mut teller) = std::io::pipe().unwrap();
        let begin = Command::Begin { segment: 0 };
        let lines = [
            serde_json::to_string(&setting).unwrap(),
            serde_json::to_string(&begin).unwrap(),
        ];
        std::io::Write::write_all(&mut teller, (lines.join("\n") + "\n").as_bytes()).unwrap();
        // Nothing orders it to end: the process that started it has died.
        drop(teller);
        let mut replies = Vec::new();
        let held = Directory::to_write(directory.path(), Trust::Own).unwrap();
        wakepath_probe::run(&held, commands, &mut replies).unwrap();
        let replies = String::from_utf8(replies).unwrap();
        if replies.contains("unavailable") {
            not_run(replies);
        }
        assert!(replies.contains("begun"), "{replies}");
        let own = format!("wakepath-{}-", std::process::id());
        let left = std::fs::read_dir(instances_of(tracefs)).unwrap().flatten();
        let left = left.filter(|entry| entry.file_name().to_string_lossy().starts_with(&own));
        assert_eq!(left.count(), 0);
    });
}

fn what_is_recorded_comes_back_from_the_file_with_its_counts() {
    with_tracefs(|tracefs| {
        let cpus = wakepath_rt::affinity::current().unwrap();
        let (instance, mut decoder) = match Instance::create(tracefs, &cpus, 4 << 20) {
            Ok(made) => made,
            Err(error) => not_run(error),
        };
        let scratch = tempfile::tempdir().unwrap();
        let before_ns = clock::monotonic_ns();
        instance.start().unwrap();
        std::thread::sleep(Duration::from_millis(50));
        instance.stop().unwrap();
        let after_ns = clock::monotonic_ns();
        let description = TraceDescription {
            cpus: cpus.clone(),
            recorded: instance.recorded().to_vec(),
            ..TraceDescription::default()
        };
        let mut writer = TraceWriter::create(scratch.path(), &description).unwrap();
        let mut collector = Collector::new(&instance, None).unwrap();
        collector.take(&mut decoder, &mut writer).unwrap();
        let counts = collector.counts();
        writer
            .finish(&TraceEnd {
                ended_ns: after_ns,
                cpus: counts.clone(),
                ..TraceEnd::default()
            })
            .unwrap();
        for count in &counts {
            let statistics = instance.statistics(count.cpu).unwrap();
            assert_eq!(count.taken, statistics.read, "{count:?} {statistics:?}");
            assert_eq!(
                (count.lost, count.overwritten, statistics.entries),
                (0, 0, 0)
            );
        }
        let trace = Trace::open(scratch.path(), 0).unwrap().unwrap();
        assert!(trace.description().records(EventKind::Switch));
        let mut switches = 0;
        for event in trace.events().unwrap() {
            let event = event.unwrap();
            assert!((before_ns..=after_ns).contains(&event.at_ns), "{event:?}");
            switches += u32::from(matches!(event.what, What::Switch { .. }));
        }
        assert!(switches > 0);
    });
}

fn a_buffer_that_is_too_small_says_how_much_was_overwritten() {
    // The kernel writes the number after a page's events, and leaves it out if the page is full: about one
    // time in ten.
    with_tracefs(|tracefs| {
        let said = (0..20).any(|_| overwritten_events_are_counted(tracefs));
        assert!(said, "no page said how much was overwritten");
    });
}

/// Whether the first page had room for the number, which then has to be right.
fn overwritten_events_are_counted(tracefs: &Tracefs) -> bool {
    let cpu = last_cpu();
    let (instance, mut decoder) = match Instance::create(tracefs, &[cpu], 1) {
        Ok(made) => made,
        Err(error) => not_run(error),
    };
    let cost = EventCost::measure(&instance).unwrap();
    instance.start().unwrap();
    std::thread::spawn(move || {
        wakepath_rt::affinity::pin(&[cpu]).unwrap();
        (0..500).for_each(|_| std::thread::sleep(Duration::from_micros(50)));
    })
    .join()
    .unwrap();
    instance.stop().unwrap();
    let scratch = tempfile::tempdir().unwrap();
    let mut writer = TraceWriter::create(scratch.path(), &TraceDescription::default()).unwrap();
    let mut collector = Collector::new(&instance, None).unwrap();
    collector.take(&mut decoder, &mut writer).unwrap();
    let count = collector.counts()[0];
    println!("{count:?} {cost:?}");
    let statistics = instance.statistics(cpu).unwrap();
    assert!(statistics.overrun > 500, "{statistics:?}");
    writer.finish(&TraceEnd::default()).unwrap();
    let trace = Trace::open(scratch.path(), 0).unwrap().unwrap();
    let first = trace.events().unwrap().next().unwrap().unwrap();
    let What::Lost { count: lost } = first.what else {
        panic!("something was overwritten, and the trace begins with {first:?}");
    };
    assert_eq!(lost, count.overwritten);
    if lost > 0 {
        assert_eq!(lost, statistics.overrun);
    }
    lost > 0
}

fn an_instance_of_a_killed_process_is_removed_and_others_stay() {
    with_tracefs(|tracefs| {
        let instances = Path::new(&instances_of(tracefs)).to_owned();
        let namespace =
            std::os::unix::fs::MetadataExt::ino(&std::fs::metadata("/proc/self/ns/pid").unwrap());
        // No process has the number 4194304: it is beyond the kernel's largest.
        let dead = instances.join(format!("wakepath-4194304-1-{namespace}"));
        let foreign = instances.join(format!("not-wakepath-4194304-1-{namespace}"));
        let elsewhere = instances.join(format!("wakepath-4194304-1-{}", namespace + 1));
        // Leftovers of a test that failed here would make this machine look unable to do it.
        for left in [&dead, &foreign, &elsewhere] {
            let _ = std::fs::remove_dir(left);
        }
        if let Err(error) = std::fs::create_dir(&dead) {
            not_run(error);
        }
        std::fs::create_dir(&foreign).unwrap();
        std::fs::create_dir(&elsewhere).unwrap();
        let removed = wakepath_probe::remove_orphans().unwrap();
        assert!(
            removed.iter().any(|name| dead.ends_with(name)),
            "{removed:?}"
        );
        let left = [dead.exists(), foreign.exists(), elsewhere.exists()];
        std::fs::remove_dir(&foreign).unwrap();
        std::fs::remove_dir(&elsewhere).unwrap();
        assert_eq!(left, [false, true, true]);
    });
}

/// perf's rings on the last CPU, or why there are none here.
fn rings(tracefs: &Tracefs, bytes: u64, mode: TraceMode) -> (PerfRings, Decoder) {
    match PerfRings::create(tracefs, &[last_cpu()], bytes, mode) {
        Ok(made) => made,
        Err(error) => not_run(error),
    }
}

/// A thread of the last CPU that sleeps, and is busy in between.
fn sleep_on_the_last_cpu(times: u32) {
    std::thread::spawn(move || {
        wakepath_rt::affinity::pin(&[last_cpu()]).unwrap();
        (0..times).for_each(|_| std::thread::sleep(Duration::from_micros(50)));
    })
    .join()
    .unwrap();
}

/// Keeps the last CPU from idle, in which some kernels drop most of perf's events, until it is dropped.
struct NeverIdle(Arc<AtomicBool>);

impl NeverIdle {
    fn begin() -> Self {
        let over = Arc::new(AtomicBool::new(false));
        let (runs, begun) = std::sync::mpsc::channel();
        let end = Arc::clone(&over);
        std::thread::spawn(move || {
            wakepath_rt::affinity::pin(&[last_cpu()]).unwrap();
            rustix::process::setpriority_process(None, 19).unwrap();
            runs.send(()).unwrap();
            while !end.load(Ordering::Relaxed) {
                std::hint::spin_loop();
            }
        });
        begun.recv().unwrap();
        Self(over)
    }
}

impl Drop for NeverIdle {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

fn perf_gives_the_same_events_of_a_wake_up_in_both_modes() {
    with_tracefs(|tracefs| {
        for mode in [TraceMode::FlightRecorder, TraceMode::Drained] {
            // Closing some fifty events takes the kernel a second: once is enough for the cost.
            let is_first = mode == TraceMode::FlightRecorder;
            let (rings, mut decoder) = rings(tracefs, 4 << 20, mode);
            let found = SelfTest::run(&rings, &mut decoder, last_cpu()).unwrap();
            println!("{mode:?}: {found}");
            // In idle some kernels drop perf's events on some CPUs: then the self-test must report it.
            assert_eq!(found.passed(), found.complete == found.sleeps, "{found}");
            assert_eq!(decoder.not_understood(), 0);
            if is_first {
                let cost = EventCost::measure(&rings).unwrap();
                println!("{cost:?}, missing: {:?}", rings.missing());
                // Two threads that wake each other are not idle: waking, switch, twice.
                assert!(cost.events_per_passage > 3.0, "{cost:?}");
            }
        }
    });
}

fn perf_counts_each_event_as_read_or_lost() {
    with_tracefs(|tracefs| {
        for (mode, bytes) in [
            (TraceMode::FlightRecorder, 1 << 18),
            (TraceMode::Drained, 1 << 18),
        ] {
            let (rings, mut decoder) = rings(tracefs, bytes, mode);
            for times in [5, 2_000] {
                let busy = NeverIdle::begin();
                rings.start().unwrap();
                sleep_on_the_last_cpu(times);
                rings.stop().unwrap();
                drop(busy);
                let scratch = tempfile::tempdir().unwrap();
                let mut writer =
                    TraceWriter::create(scratch.path(), &TraceDescription::default()).unwrap();
                let mut collector = Collector::new(&rings, None).unwrap();
                collector.take(&mut decoder, &mut writer).unwrap();
                writer.finish(&TraceEnd::default()).unwrap();
                let count = collector.counts()[0];
                let statistics = rings.statistics(last_cpu()).unwrap();
                println!("{mode:?}, {times}: {count:?} {statistics:?}");
                assert_eq!(count.taken, statistics.read);
                assert!(count.taken > u64::from(times), "{count:?}");
                let small = times == 2_000;
                assert_eq!(statistics.overrun > 0, small, "{statistics:?}");
                // Some kernels drop events in idle; then the counts of the events show it.
                assert!(statistics.dropped * 2 < count.taken, "{statistics:?}");
                let trace = Trace::open(scratch.path(), 0).unwrap().unwrap();
                let first = trace.events().unwrap().next().unwrap().unwrap();
                let begins_lost = matches!(first.what, What::Lost { .. });
                assert_eq!(begins_lost, small && mode == TraceMode::FlightRecorder);
            }
        }
    });
}

fn where_no_instance_can_be_made_perf_records_and_says_why() {
    // As in many containers, tracefs is read-only. It has to be mounted first if it is not, or the program
    // mounts its own over the empty directory. The mounts are the child's alone.
    let script = "place=/sys/kernel/tracing; \
        { grep -q \" $place tracefs \" /proc/self/mounts || mount -t tracefs tracefs $place; } && \
        mount --bind $place $place && mount -o remount,bind,ro $place && \
        exec \"$0\" --exact this_kernel::on_a_read_only_tracefs --ignored --nocapture";
    let output = std::process::Command::new("unshare")
        .args(["--mount", "sh", "-c", script])
        .arg(std::env::current_exe().unwrap())
        .output();
    match output {
        Ok(output) if output.status.success() => {
            print!("{}", String::from_utf8_lossy(&output.stdout));
        }
        Ok(output) if !String::from_utf8_lossy(&output.stdout).contains("running 1 test") => {
            not_run(String::from_utf8_lossy(&output.stderr));
        }
        Ok(output) => panic!("{}", String::from_utf8_lossy(&output.stdout)),
        Err(error) => not_run(format!("unshare: {error}")),
    }
}

// Ignored: started by the test above, with a read-only tracefs.
fn on_a_read_only_tracefs() {
    with_tracefs(|tracefs| {
        let cpus = [last_cpu()];
        match Chosen::make(
            None,
            tracefs,
            &cpus,
            4 << 20,
            TraceMode::FlightRecorder,
            &[],
        ) {
            Ok(Chosen {
                source, because, ..
            }) => {
                println!("{}, {because}", source.name());
                assert_eq!(source.name(), "perf events");
                assert!(because.contains("instances/wakepath-"), "{because}");
            }
            Err(error) => assert!(error.to_string().contains("nor in its place"), "{error}"),
        }
    });
}

fn instances_of(tracefs: &Tracefs) -> std::path::PathBuf {
    tracefs.root().join("instances")
}
