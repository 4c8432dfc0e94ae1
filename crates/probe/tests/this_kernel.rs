//! The probe on the kernel that the tests run on: the real tracer, real sleeps.

use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use wakepath_archive::{EventKind, Trace, TraceDescription, TraceEnd, TraceWriter};
use wakepath_probe::{Collector, EventCost, Instance, SelfTest, Tracefs};
use wakepath_rt::clock;
use wakepath_timeline::What;

/// A thread of its own for what may part from the others' mount namespace.
fn with_tracefs(test: impl FnOnce(&Tracefs) + Send + 'static) {
    // A process has one instance, named after it.
    static ONE: Mutex<()> = Mutex::new(());
    let _one = ONE.lock().unwrap_or_else(PoisonError::into_inner);
    let thread = std::thread::spawn(move || match Tracefs::find_or_mount() {
        Ok(tracefs) => test(&tracefs),
        Err(error) => eprintln!("not run: {error}"),
    });
    thread
        .join()
        .unwrap_or_else(|panic| std::panic::resume_unwind(panic));
}

fn last_cpu() -> u16 {
    *wakepath_rt::affinity::current().unwrap().last().unwrap()
}

#[test]
fn every_sleep_shows_its_path_and_the_instance_goes_with_its_owner() {
    with_tracefs(|tracefs| {
        let cpu = last_cpu();
        let (instance, mut decoder) = match Instance::create(tracefs, &[cpu], 4 << 20) {
            Ok(made) => made,
            Err(error) => return eprintln!("not run: {error}"),
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
        println!("missing: {:?}", instance.missing);
        drop(instance);
        assert!(!directory.exists());
    });
}

#[test]
fn what_is_recorded_comes_back_from_the_file_with_its_counts() {
    with_tracefs(|tracefs| {
        let cpus = wakepath_rt::affinity::current().unwrap();
        let (instance, mut decoder) = match Instance::create(tracefs, &cpus, 4 << 20) {
            Ok(made) => made,
            Err(error) => return eprintln!("not run: {error}"),
        };
        let scratch = tempfile::tempdir().unwrap();
        let before_ns = clock::monotonic_ns();
        instance.start().unwrap();
        std::thread::sleep(Duration::from_millis(50));
        instance.stop().unwrap();
        let after_ns = clock::monotonic_ns();
        let description = TraceDescription {
            cpus: cpus.clone(),
            recorded: instance.recorded.clone(),
            ..TraceDescription::default()
        };
        let mut writer = TraceWriter::create(scratch.path(), &description).unwrap();
        let mut collector = Collector::new(&instance, None).unwrap();
        collector
            .take(&instance, &mut decoder, &mut writer)
            .unwrap();
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

#[test]
fn a_buffer_that_is_too_small_says_how_much_was_overwritten() {
    with_tracefs(|tracefs| {
        let cpu = last_cpu();
        let (instance, mut decoder) = match Instance::create(tracefs, &[cpu], 1) {
            Ok(made) => made,
            Err(error) => return eprintln!("not run: {error}"),
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
        collector
            .take(&instance, &mut decoder, &mut writer)
            .unwrap();
        let count = collector.counts()[0];
        println!("{count:?} {cost:?}");
        let statistics = instance.statistics(cpu).unwrap();
        assert!(statistics.overrun > 500, "{statistics:?}");
        assert_eq!(count.overwritten, statistics.overrun);
        writer.finish(&TraceEnd::default()).unwrap();
        let trace = Trace::open(scratch.path(), 0).unwrap().unwrap();
        let first = trace.events().unwrap().next().unwrap().unwrap();
        assert_eq!(
            first.what,
            What::Lost {
                count: statistics.overrun
            }
        );
    });
}

#[test]
fn an_instance_of_a_killed_process_is_removed_and_others_stay() {
    with_tracefs(|tracefs| {
        let instances = Path::new(&instances_of(tracefs)).to_owned();
        let namespace =
            std::os::unix::fs::MetadataExt::ino(&std::fs::metadata("/proc/self/ns/pid").unwrap());
        // No process has the number 4194304: it is beyond the kernel's largest.
        let dead = instances.join(format!("wakepath-4194304-1-{namespace}"));
        let foreign = instances.join(format!("not-wakepath-4194304-1-{namespace}"));
        let elsewhere = instances.join(format!("wakepath-4194304-1-{}", namespace + 1));
        // What a test that failed here has left would be taken for a machine that can't do it.
        for left in [&dead, &foreign, &elsewhere] {
            let _ = std::fs::remove_dir(left);
        }
        if let Err(error) = std::fs::create_dir(&dead) {
            return eprintln!("not run: {error}");
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

fn instances_of(tracefs: &Tracefs) -> std::path::PathBuf {
    tracefs.root().join("instances")
}
