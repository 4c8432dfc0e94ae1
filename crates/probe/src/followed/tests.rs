use super::*;
use std::os::fd::AsRawFd;
use wakepath_timeline::CallArgument;

fn call(at_ns: u64, thread: u32, name: &str, descriptor: u32) -> KernelEvent {
    KernelEvent {
        at_ns,
        cpu: 0,
        current: thread,
        what: What::SystemCallEntry {
            name: name.into(),
            argument: Some(CallArgument::Descriptor(descriptor)),
        },
    }
}

#[test]
fn a_serial_line_is_no_terminal() {
    let is = |major, minor| is_terminal(rustix::fs::makedev(major, minor));
    // /dev/pts/0, /dev/tty, /dev/tty1; /dev/ttyS0, /dev/ttyUSB0, /dev/ttyACM0, /dev/ttyAMA0, /dev/null
    assert!(
        [(136, 0), (5, 0), (4, 1)]
            .into_iter()
            .all(|(major, minor)| is(major, minor))
    );
    let others = [(4, 64), (188, 0), (166, 0), (204, 64), (1, 3)];
    assert!(!others.into_iter().any(|(major, minor)| is(major, minor)));
}

#[test]
fn a_descriptor_is_looked_at_once_and_not_right_after_it_was_closed() {
    let process = std::process::id();
    let (reader, _writer) = std::io::pipe().unwrap();
    let pipe = reader.as_raw_fd().cast_unsigned();
    let mut followed = Followed::default();
    let thread = 7;
    followed.add(&[ThreadOf { thread, process }], true);
    followed.begun(5);
    assert_eq!(followed.before(&call(4, 8, "read", pipe)), []);
    let known = What::Followed {
        thread,
        process,
        calls: true,
    };
    let target = What::Descriptor {
        process,
        descriptor: pipe,
        target: CallTarget::Pipe,
    };
    let found = followed.before(&call(10, thread, "read", pipe));
    assert_eq!(found, [known, target.clone()]);
    assert_eq!(followed.before(&call(20, thread, "read", pipe)), []);
    followed.before(&call(30, thread, "close", pipe));
    assert_eq!(followed.before(&call(40, thread, "read", pipe)), []);
    let later = call(40 + SHORT_LIVED_NS, thread, "read", pipe);
    assert_eq!(followed.before(&later), [target]);
    assert_eq!(followed.before(&call(50, 8, "read", pipe)), []);
}

#[test]
fn a_descriptor_of_a_process_that_has_ended_is_what_it_was() {
    let (_input, output) = std::io::pipe().unwrap();
    let mut sleeper = std::process::Command::new("sleep")
        .arg("60")
        .stdout(output)
        .spawn()
        .unwrap();
    let (thread, process) = (7, sleeper.id());
    let mut followed = Followed::default();
    followed.add(&[ThreadOf { thread, process }], true);
    followed.look();
    sleeper.kill().unwrap();
    sleeper.wait().unwrap();
    let target = What::Descriptor {
        process,
        descriptor: 1,
        target: CallTarget::Pipe,
    };
    let found = followed.before(&call(10, thread, "write", 1));
    assert!(found.contains(&target), "{found:?}");
}

/// A thread with this number of calls a second, all read at once.
fn with_calls(a_second: u64) -> Followed {
    let process = std::process::id();
    let mut followed = Followed::default();
    followed.add(&[ThreadOf { thread: 7, process }], true);
    for number in 1..a_second {
        let mut event = call(1_000_000_000 / a_second * number, 7, "getrandom", 0);
        if let What::SystemCallEntry { argument, .. } = &mut event.what {
            *argument = None;
        }
        followed.before(&event);
    }
    followed
}

#[test]
fn a_thread_is_left_out_for_its_calls_and_not_for_how_fast_they_are_read() {
    let mut usual = with_calls(20_000);
    assert!(!usual.leave_out_the_busiest());
    assert_eq!(usual.recorded(), [7]);
    let mut busy = with_calls(80_000);
    assert!(busy.leave_out_the_busiest() && busy.recorded().is_empty());
}

#[test]
fn calls_of_other_threads_are_left_out() {
    let mut followed = Followed::default();
    let process = std::process::id();
    followed.add(&[ThreadOf { thread: 7, process }], true);
    assert!(followed.wants(&call(1, 7, "read", 0)));
    assert!(!followed.wants(&call(1, 8, "read", 0)));
}
