use super::*;

fn announced(name: &str) -> Announced {
    Announced {
        name: name.into(),
        thread_id: 42,
        period_ns: 4_000_000,
        timer_slack_ns: 1,
        foreign_clock: false,
        overrun: Overrun::CatchUp,
        on_a_core: Some(Policy::CobaltFifo { priority: 80 }),
    }
}

#[test]
fn a_ring_is_taken_once_and_says_by_whom() {
    let announcement = Announcement::default();
    assert_eq!(announcement.announced(), None);
    assert!(announcement.claim("attitude"));
    assert!(!announcement.claim("attitude"), "taken");
    assert_eq!(announcement.announced(), None, "not yet filled in");
    announcement.announce(&announced("attitude"));
    assert_eq!(announcement.announced(), Some(announced("attitude")));
    announcement.reset();
    assert!(announcement.claim("another"));
}

#[test]
fn a_ring_that_is_kept_for_a_loop_is_no_others() {
    let announcement = Announcement::default();
    announcement.keep_for("attitude");
    assert!(!announcement.claim("position"));
    assert!(announcement.claim("attitude"));
}

#[test]
fn a_long_name_is_cut_between_two_characters() {
    let announcement = Announcement::default();
    announcement.claim("");
    announcement.announce(&announced(&"ä".repeat(40)));
    assert_eq!(announcement.announced().unwrap().name, "ä".repeat(16));
    announcement.reset();
    announcement.announce(&announced(&format!("a{}", "ä".repeat(40))));
    let name = announcement.announced().unwrap().name;
    assert_eq!(name, format!("a{}", "ä".repeat(15)));
}

#[test]
fn numbers_that_nobody_writes_are_an_end_without_a_reason() {
    let announcement = Announcement::default();
    announcement.state.store(77, Ordering::Relaxed);
    announcement.left.store(77, Ordering::Relaxed);
    announcement.overrun.store(77, Ordering::Relaxed);
    assert_eq!(announcement.state(), State::Ended);
    assert_eq!(announcement.left().0, Left::Unsaid);
    assert_eq!(announcement.announced().unwrap().overrun, Overrun::Skip);
}

/// Programs that were linked before they were there find all else in its place.
#[test]
fn what_came_later_lies_where_nothing_lay_before() {
    use std::mem::offset_of;
    assert_eq!(offset_of!(Announcement, overrun), 12);
    assert_eq!(offset_of!(Announcement, period_ns), 16);
    let behind_the_clock = offset_of!(Announcement, foreign_clock) + size_of::<AtomicU32>();
    assert_eq!(offset_of!(Announcement, core), behind_the_clock);
    assert_eq!((align_of::<SharedFormats>(), behind_the_clock % 8), (8, 4));
    assert_eq!(offset_of!(Announcement, formats), behind_the_clock + 4);
}
