//! Page faults: each takes its own time, at its own place.

use crate::stream::*;
use wakepath_explain::Explained;
use wakepath_timeline::{Left, What};

wakepath_test_program::tests![
    one_fault_takes_no_blame_for_what_the_program_then_does,
    a_slow_fault_among_many_counts_as_one,
    a_fault_lasts_until_its_page_is_mapped,
    code_between_two_walks_through_pages_is_no_fault,
    faults_take_their_time_where_they_were,
    a_call_ends_a_fault,
    a_fault_that_is_long_on_its_way_to_the_disk_waits_for_its_page,
];

/// Faults 2 µs apart from an instant on; returns the end.
fn walk(stream: &mut Stream, from_ns: u64, faults: u64) -> u64 {
    for fault in 0..faults {
        stream.at(from_ns + fault * 2 * US, FAULT);
    }
    from_ns + faults * 2 * US
}

fn ended(mut stream: Stream, end_ns: u64) -> Explained {
    stream.samples[0].end_ns = end_ns;
    stream.switch(end_ns + 10 * US, hog(), Left::Sleeping);
    stream.explain().remove(0)
}

fn one_fault_takes_no_blame_for_what_the_program_then_does() {
    let mut stream = running_with_calls();
    stream.at(DUE + 20 * US, FAULT);
    let cycle = ended(stream, DUE + 30 * MS);
    assert_eq!(of_kind(&cycle, "page-fault"), 5 * US, "{cycle:#?}");
    assert!(of_kind(&cycle, "user-code") > 29 * MS, "{cycle:#?}");
}

fn a_fault_lasts_until_its_page_is_mapped() {
    let mut stream = running_with_calls();
    // Two pages of the first, and then its own work; the second is slow, and the end of the third is not recorded.
    stream.at(DUE + 20 * US, FAULT);
    stream.at(DUE + 320 * US, What::PageMapped);
    stream.at(DUE + 330 * US, What::PageMapped);
    stream.at(DUE + 5 * MS, FAULT);
    stream.at(DUE + 6 * MS, What::PageMapped);
    stream.at(DUE + 7 * MS, FAULT);
    let cycle = ended(stream, DUE + 30 * MS);
    assert_eq!(of_kind(&cycle, "page-fault"), 1_315 * US, "{cycle:#?}");
    assert!(of_kind(&cycle, "user-code") > 28 * MS, "{cycle:#?}");
}

fn a_slow_fault_among_many_counts_as_one() {
    let mut stream = running_with_calls();
    let slow_ns = walk(&mut stream, DUE + 20 * US, 500) - 2 * US;
    let end_ns = walk(&mut stream, slow_ns + 150 * US, 500);
    let cycle = ended(stream, end_ns);
    // All but the usual 50 µs.
    assert!(of_kind(&cycle, "page-fault") > 2_090 * US, "{cycle:#?}");
    assert_eq!(of_kind(&cycle, "user-code"), 0, "{cycle:#?}");
}

fn code_between_two_walks_through_pages_is_no_fault() {
    let mut stream = running_with_calls();
    let code_ns = walk(&mut stream, DUE + 20 * US, 500);
    let end_ns = walk(&mut stream, code_ns + 30 * MS, 500);
    let cycle = ended(stream, end_ns);
    let faults_ns = of_kind(&cycle, "page-fault");
    assert!(
        (2 * MS - 50 * US..=2_250 * US).contains(&faults_ns),
        "{cycle:#?}"
    );
    assert!(of_kind(&cycle, "user-code") > 29 * MS, "{cycle:#?}");
}

fn faults_take_their_time_where_they_were() {
    let mut stream = running_with_calls();
    let first_ns = DUE + 3 * MS;
    let last_ns = walk(&mut stream, first_ns, 1000);
    let cycle = ended(stream, last_ns + 4 * MS);
    let faults = cycle
        .execution
        .iter()
        .filter(|piece| piece.cause.kind() == "page-fault");
    let mut ns = 0;
    for piece in faults {
        assert!(
            piece.from_ns >= first_ns && piece.to_ns <= last_ns + 5 * US,
            "{piece:?}"
        );
        ns += piece.ns();
    }
    assert!(ns >= 2 * MS - 2 * US, "{cycle:#?}");
}

fn a_call_ends_a_fault() {
    let mut stream = running_with_calls();
    for at_ns in (0..100).map(|fault| DUE + (20 + fault * 15) * US) {
        let name = "getpid".into();
        let entry = What::SystemCallEntry {
            name,
            argument: None,
        };
        stream.at(at_ns, FAULT).at(at_ns + US, entry);
        stream.at(at_ns + 14 * US, What::SystemCallExit);
    }
    let cycle = ended(stream, DUE + 1_520 * US);
    assert_eq!(of_kind(&cycle, "page-fault"), 100 * US, "{cycle:#?}");
    assert!(of_kind(&cycle, "system-call") >= 1_250 * US, "{cycle:#?}");
}

fn a_fault_that_is_long_on_its_way_to_the_disk_waits_for_its_page() {
    let mut stream = running_with_calls();
    stream.at(DUE + 50 * US, FAULT);
    stream.switch(DUE + 900 * US, hog(), Left::Blocked);
    stream.wake(DUE + 30 * MS);
    let again = stream.the_loop.clone();
    stream.switch(DUE + 30 * MS + 2 * US, again, Left::Runnable);
    let cycle = ended(stream, DUE + 30 * MS + 8 * US);
    // From the fault to its end.
    let faults_ns = of_kind(&cycle, "page-fault");
    assert!(
        (29_940 * US..=29_958 * US).contains(&faults_ns),
        "{cycle:#?}"
    );
    assert_eq!(of_kind(&cycle, "user-code"), 0, "{cycle:#?}");
}
