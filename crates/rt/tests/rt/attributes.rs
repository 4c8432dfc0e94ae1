//! Real-time policies, read back as they were set.

use rustix::io::Errno;
use wakepath_rt::attributes::{get, set};
use wakepath_test_program::not_run;
use wakepath_timeline::Policy;

wakepath_test_program::tests![
    fixed_priorities_are_read_back_as_set,
    a_reservation_is_read_back_as_set,
];

fn fixed_priorities_are_read_back_as_set() {
    read_back(Policy::Fifo { priority: 7 });
    read_back(Policy::RoundRobin { priority: 42 });
}

fn a_reservation_is_read_back_as_set() {
    read_back(Policy::Deadline {
        runtime_ns: 400_000,
        deadline_ns: 3_000_000,
        period_ns: 4_000_000,
    });
}

/// On a separate thread, which takes the policy with it.
fn read_back(policy: Policy) {
    let thread = std::thread::spawn(move || set(0, policy).map(|()| get(0).unwrap()));
    match thread.join().unwrap() {
        Ok(found) => assert_eq!(found, policy),
        Err(error) if Errno::from_io_error(&error) == Some(Errno::PERM) => not_run(format!(
            "{policy} needs a privilege that this process lacks"
        )),
        Err(error) => panic!("{policy}: {error}"),
    }
}
