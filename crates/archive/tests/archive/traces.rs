//! Traces: written events come back in order; cut or altered files are detected.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use proptest::prelude::*;
use wakepath_archive::{
    ArchiveError, EventKind, Finding, Run, Trace, TraceDescription, TraceEnd, TraceWriter, finish,
    trace_name,
};
use wakepath_timeline::{
    Call, CallArgument, CallTarget, Interrupt, KernelEvent, Left, SoftIrq, Thread, ThreadName, What,
};

use crate::made_up_run;
use crate::scratch::Scratch;

wakepath_test_program::tests![
    every_event_comes_back_as_it_was,
    an_altered_byte_is_an_error_or_a_cut_and_never_other_events,
    cpus_written_one_after_the_other_are_read_in_time_order,
    a_stamp_that_goes_backwards_keeps_its_place_in_its_cpu,
    a_trace_cut_anywhere_keeps_its_whole_blocks_and_says_so,
    a_trace_without_its_end_is_read_as_far_as_every_cpu_has_come,
    a_segment_without_a_trace_is_untraced,
    a_finished_run_lists_its_traces_and_notices_an_altered_one,
    events_are_read_fast_and_take_few_bytes,
    events_that_hardly_compress_are_all_read_back,
];

fn event(at_ns: u64, cpu: u16, what: What) -> KernelEvent {
    KernelEvent {
        at_ns,
        cpu,
        current: 7,
        what,
    }
}

fn description(segment: u32) -> TraceDescription {
    TraceDescription {
        segment,
        cpus: vec![0, 1],
        recorded: vec![EventKind::Switch],
        ..TraceDescription::default()
    }
}

fn write(directory: &Path, events: &[KernelEvent]) {
    let mut writer = TraceWriter::create(directory, &description(0)).unwrap();
    for event in events {
        writer.append(event).unwrap();
    }
    writer.finish(&TraceEnd::default()).unwrap();
}

fn read(directory: &Path) -> Vec<KernelEvent> {
    let trace = Trace::open(directory, 0).unwrap().unwrap();
    trace.events().unwrap().map(Result::unwrap).collect()
}

fn name() -> impl Strategy<Value = Arc<str>> {
    prop_oneof![
        Just("hrtimer_wakeup".into()),
        Just("".into()),
        "[a-zß€\u{1b}]{0,40}".prop_map(Arc::from),
    ]
}

fn thread() -> impl Strategy<Value = Thread> {
    (
        0..5_u32,
        proptest::collection::vec(any::<u8>(), 0..20),
        any::<i32>(),
    )
        .prop_map(|(id, name, priority)| Thread {
            id,
            name: ThreadName::new(&name),
            priority,
        })
}

fn interrupt() -> impl Strategy<Value = Interrupt> {
    prop_oneof![
        Just(Interrupt::LocalTimer),
        Just(Interrupt::Reschedule),
        Just(Interrupt::CallFunction),
        Just(Interrupt::IrqWork),
        name().prop_map(Interrupt::Vector),
        (any::<u32>(), name()).prop_map(|(number, name)| Interrupt::Device { number, name }),
    ]
}

fn target() -> impl Strategy<Value = CallTarget> {
    prop_oneof![
        name().prop_map(CallTarget::File),
        name().prop_map(CallTarget::Device),
        name().prop_map(CallTarget::Terminal),
        Just(CallTarget::Pipe),
        Just(CallTarget::Socket),
        name().prop_map(CallTarget::Other),
    ]
}

fn argument() -> impl Strategy<Value = CallArgument> {
    prop_oneof![
        any::<u32>().prop_map(|n| CallArgument::Descriptor(n / 2)),
        (0..1_u64 << 62).prop_map(CallArgument::Address),
    ]
}

fn left() -> impl Strategy<Value = Left> {
    proptest::sample::select(vec![
        Left::Runnable,
        Left::Sleeping,
        Left::Blocked,
        Left::Stopped,
        Left::Dead,
    ])
}

fn call() -> impl Strategy<Value = Call> {
    let numbers = proptest::collection::vec(any::<u64>(), 0..4);
    let texts = proptest::collection::vec(name(), 0..3);
    (name(), numbers, texts).prop_map(|(function, numbers, texts)| Call {
        function,
        numbers,
        texts,
    })
}

fn what() -> impl Strategy<Value = What> {
    prop_oneof![
        interrupt().prop_map(What::InterruptEntry),
        interrupt().prop_map(What::InterruptExit),
        any::<u8>().prop_map(|v| What::SoftIrqRaise(SoftIrq(v))),
        any::<u8>().prop_map(|v| What::SoftIrqEntry(SoftIrq(v))),
        any::<u8>().prop_map(|v| What::SoftIrqExit(SoftIrq(v))),
        (any::<u64>(), name())
            .prop_map(|(timer, function)| What::TimerExpiryEntry { timer, function }),
        any::<u64>().prop_map(|timer| What::TimerExpiryExit { timer }),
        (
            any::<u64>(),
            name(),
            any::<u64>(),
            any::<u64>(),
            any::<bool>()
        )
            .prop_map(|(timer, function, expires_ns, soft_expires_ns, soft)| {
                What::TimerStart {
                    timer,
                    function,
                    expires_ns,
                    soft_expires_ns,
                    soft,
                }
            }),
        (thread(), any::<u16>())
            .prop_map(|(thread, target_cpu)| What::Waking { thread, target_cpu }),
        (thread(), any::<u16>())
            .prop_map(|(thread, target_cpu)| What::WakeUp { thread, target_cpu }),
        (thread(), left(), thread()).prop_map(|(previous, left, next)| What::Switch {
            previous,
            left,
            next,
        }),
        (thread(), any::<u16>(), any::<u16>()).prop_map(|(thread, from_cpu, to_cpu)| {
            What::Migrate {
                thread,
                from_cpu,
                to_cpu,
            }
        }),
        (any::<Option<u16>>(), name()).prop_map(|(target_cpu, callback)| What::IpiSend {
            target_cpu,
            callback
        }),
        any::<u32>().prop_map(|state| What::IdleEntry { state }),
        Just(What::IdleExit),
        any::<u32>().prop_map(|khz| What::Frequency { khz }),
        any::<(bool, bool)>().prop_map(|(user, copies)| What::PageFault { user, copies }),
        Just(What::PageMapped),
        any::<u16>().prop_map(|number| What::Mark { number }),
        call().prop_map(|call| What::Call(Box::new(call))),
        (name(), prop::option::of(argument()))
            .prop_map(|(name, argument)| What::SystemCallEntry { name, argument }),
        Just(What::SystemCallExit),
        any::<i64>().prop_map(|by_ns| What::ClockSet { by_ns }),
        any::<u32>().prop_map(|thread| What::SetsAffinity { thread }),
        any::<(u32, i32, i32)>().prop_map(|(thread, before, priority)| What::Inherits {
            thread,
            before,
            priority,
        }),
        any::<(u32, u32, bool)>().prop_map(|(thread, process, calls)| What::Followed {
            thread,
            process,
            calls,
        }),
        (any::<u32>(), any::<u32>(), target()).prop_map(|(process, descriptor, target)| {
            What::Descriptor {
                process,
                descriptor,
                target,
            }
        }),
        any::<u64>().prop_map(|count| What::Lost { count }),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    fn every_event_comes_back_as_it_was(
        mut events in proptest::collection::vec(
            (any::<u64>(), 0..3_u16, any::<u32>(), what()).prop_map(|(at_ns, cpu, current, what)| {
                KernelEvent { at_ns, cpu, current, what }
            }),
            0..200,
        ),
    ) {
        let scratch = Scratch::new();
        events.sort_by_key(|event| (event.at_ns, event.cpu));
        write(scratch.path(), &events);
        prop_assert_eq!(read(scratch.path()), events);
    }

    fn an_altered_byte_is_an_error_or_a_cut_and_never_other_events(
        at in any::<prop::sample::Index>(), flip in 1..=255_u8,
    ) {
        let scratch = Scratch::new();
        let events: Vec<_> = (0..50).map(|n| event(n * 10, (n % 2) as u16, What::IdleExit)).collect();
        write(scratch.path(), &events);
        let path = scratch.path().join(trace_name(0));
        let mut bytes = fs::read(&path).unwrap();
        let at = at.index(bytes.len());
        bytes[at] ^= flip;
        fs::write(&path, &bytes).unwrap();
        if let Ok(Some(trace)) = Trace::open(scratch.path(), 0) {
            let found: Result<Vec<_>, _> = trace.events().unwrap().collect();
            if trace.cut_short().is_none() {
                prop_assert!(found.is_err(), "byte {} of {}", at, bytes.len());
            }
            for found in found.iter().flatten() {
                prop_assert!(events.contains(found));
            }
        }
    }
}

fn cpus_written_one_after_the_other_are_read_in_time_order() {
    let scratch = Scratch::new();
    // Times of CPU 1 fall between those of CPU 0; blocks are far smaller than the trace.
    let of = |cpu: u16| {
        (0..60_000_u64).map(move |n| {
            event(
                n * 20 + u64::from(cpu) * 10,
                cpu,
                What::SoftIrqEntry(SoftIrq(n as u8)),
            )
        })
    };
    let written: Vec<_> = of(0).chain(of(1)).collect();
    write(scratch.path(), &written);
    let found = read(scratch.path());
    assert_eq!(found.len(), 120_000);
    assert!(found.is_sorted_by_key(|event| event.at_ns));

    let trace = Trace::open(scratch.path(), 0).unwrap().unwrap();
    let part: Vec<_> = trace
        .between(1_000, 1_030)
        .unwrap()
        .map(|event| event.unwrap().at_ns)
        .collect();
    assert_eq!(part, [1_000, 1_010, 1_020, 1_030]);
    assert_eq!(trace.events_recorded(), 120_000);
}

fn a_stamp_that_goes_backwards_keeps_its_place_in_its_cpu() {
    let scratch = Scratch::new();
    let stamps = [(100, 0), (90, 0), (95, 1), (110, 0)];
    let written: Vec<_> = stamps
        .iter()
        .map(|&(at, cpu)| event(at, cpu, What::IdleExit))
        .collect();
    write(scratch.path(), &written);
    let found: Vec<_> = read(scratch.path())
        .iter()
        .map(|e| (e.at_ns, e.cpu))
        .collect();
    assert_eq!(found, [(95, 1), (100, 0), (90, 0), (110, 0)]);
}

fn a_trace_cut_anywhere_keeps_its_whole_blocks_and_says_so() {
    let scratch = Scratch::new();
    let description = TraceDescription {
        cpus: vec![0],
        ..description(0)
    };
    let mut writer = TraceWriter::create(scratch.path(), &description).unwrap();
    for n in 0..3 {
        writer.append(&event(n, 0, What::IdleExit)).unwrap();
        writer.flush().unwrap();
    }
    writer.finish(&TraceEnd::default()).unwrap();
    let path = scratch.path().join(trace_name(0));
    let whole = fs::read(&path).unwrap();
    let mut most = 0;
    for length in 0..whole.len() {
        fs::write(&path, &whole[..length]).unwrap();
        match Trace::open(scratch.path(), 0) {
            Ok(trace) => {
                let trace = trace.unwrap();
                assert!(trace.cut_short().is_some(), "{length} bytes");
                assert!(trace.end().is_none());
                let events = read(scratch.path());
                assert!(events.len() >= most);
                most = events.len();
            }
            Err(ArchiveError::NotRecognised { .. }) => assert_eq!(most, 0),
            Err(other) => panic!("{other}"),
        }
    }
    assert_eq!(most, 3);
}

fn a_trace_without_its_end_is_read_as_far_as_every_cpu_has_come() {
    let place = Scratch::new();
    let mut writer = TraceWriter::create(place.path(), &description(0)).unwrap();
    let append = |writer: &mut TraceWriter, events: &[(u64, u16)]| {
        for &(at_ns, cpu) in events {
            writer.append(&event(at_ns, cpu, What::IdleExit)).unwrap();
        }
    };
    let times = || {
        let read = read(place.path()).into_iter();
        read.map(|event| event.at_ns).collect::<Vec<_>>()
    };
    append(&mut writer, &[(100, 0), (200, 0), (110, 1)]);
    writer.flush().unwrap();
    assert_eq!(times(), [100, 110]);
    // CPU 1 had nothing more before 190; then its events are not yet there, and those of CPU 0 are.
    writer.complete_until(190).unwrap();
    append(&mut writer, &[(180, 1), (300, 0)]);
    writer.flush().unwrap();
    assert_eq!(times(), [100, 110, 180]);
    writer.finish(&TraceEnd::default()).unwrap();
    assert_eq!(times(), [100, 110, 180, 200, 300]);
}

fn a_segment_without_a_trace_is_untraced() {
    let scratch = Scratch::new();
    assert!(Trace::open(scratch.path(), 0).unwrap().is_none());
}

fn a_finished_run_lists_its_traces_and_notices_an_altered_one() {
    let scratch = Scratch::new();
    let run = scratch.run();
    made_up_run::write(&run, 1, &[0], 100);
    write(&run, &[event(5, 0, What::IdleExit)]);
    let manifest = finish(&run).unwrap();
    assert!(manifest.files.iter().any(|file| file.name == trace_name(0)));
    assert_eq!(
        Run::open(&run).unwrap().check().unwrap(),
        Vec::<Finding>::new()
    );

    let path = run.join(trace_name(0));
    let mut bytes = fs::read(&path).unwrap();
    *bytes.last_mut().unwrap() ^= 1;
    fs::write(&path, bytes).unwrap();
    assert!(matches!(Run::open(&run), Err(ArchiveError::Altered { .. })));
}

/// Ten minutes of a 1 kHz loop under full trace are 10⁷ events.
fn events_are_read_fast_and_take_few_bytes() {
    let scratch = Scratch::new();
    let count = 1_000_000_u64;
    let thread = |id| Thread {
        id,
        name: ThreadName::new(b"loop"),
        priority: 19,
    };
    let mut writer = TraceWriter::create(scratch.path(), &description(0)).unwrap();
    for n in 0..count {
        let what = match n % 4 {
            0 => What::InterruptEntry(Interrupt::LocalTimer),
            1 => What::Waking {
                thread: thread(9),
                target_cpu: 1,
            },
            2 => What::InterruptExit(Interrupt::LocalTimer),
            _ => What::Switch {
                previous: thread(0),
                left: Left::Runnable,
                next: thread(9),
            },
        };
        writer
            .append(&event(n * 250 + n % 7, (n % 2) as u16, what))
            .unwrap();
    }
    let bytes = writer.finish(&TraceEnd::default()).unwrap();
    assert!(bytes / count < 8, "{bytes} bytes");
    let began = std::time::Instant::now();
    let trace = Trace::open(scratch.path(), 0).unwrap().unwrap();
    assert_eq!(trace.events().unwrap().count() as u64, count);
    let took = began.elapsed();
    eprintln!("{count} events: {bytes} bytes, read in {took:?}");
    // A tenth of the largest trace, with room for a slow and busy machine.
    assert!(took.as_secs() < 5, "{took:?}");
}

/// Regression: blocks with incompressible times, as busy CPUs produce them, were rejected as
/// damaged.
fn events_that_hardly_compress_are_all_read_back() {
    let scratch = Scratch::new();
    let mut writer = TraceWriter::create(scratch.path(), &TraceDescription::default()).unwrap();
    let (mut at_ns, mut random) = (0, 1_u64);
    for _ in 0..40_000 {
        random = random
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        at_ns += random >> 40;
        let what = What::TimerExpiryExit { timer: random };
        let event = KernelEvent {
            at_ns,
            cpu: 1,
            current: (random >> 20) as u32,
            what,
        };
        writer.append(&event).unwrap();
    }
    writer.finish(&TraceEnd::default()).unwrap();
    let trace = Trace::open(scratch.path(), 0).unwrap().unwrap();
    assert_eq!(trace.cut_short(), None);
    assert_eq!(trace.events().unwrap().count(), 40_000);
}
