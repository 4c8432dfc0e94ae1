//! Causes, rhythms and totals with known answers: from streams made by hand, and from disturbances
//! made on purpose on this machine.

mod awkward_streams;
mod began_late;
mod budgets;
mod calls;
mod cut_sleeps;
mod deferred_timers;
mod faults;
mod forks;
mod halts;
mod hand_made;
mod injected_causes;
mod interference;
mod known_answers;
mod known_marks;
mod known_rhythms;
mod known_sleeps;
mod laboratory;
mod nagle;
mod not_begun;
mod offline_cpus;
mod other_threads;
mod own_threads;
mod page_waits;
mod retried;
mod rhythms_of_servers;
mod shares;
mod stood_still;
mod storms;
mod stream;
mod timer_elsewhere;
mod timerfd;
mod unseen_switches;
mod waits;
mod within;

wakepath_test_program::program![
    awkward_streams::TESTS,
    began_late::TESTS,
    budgets::TESTS,
    calls::TESTS,
    cut_sleeps::TESTS,
    deferred_timers::TESTS,
    faults::TESTS,
    forks::TESTS,
    halts::TESTS,
    injected_causes::TESTS,
    interference::TESTS,
    known_answers::TESTS,
    known_marks::TESTS,
    known_rhythms::TESTS,
    known_sleeps::TESTS,
    laboratory::TESTS,
    nagle::TESTS,
    not_begun::TESTS,
    offline_cpus::TESTS,
    other_threads::TESTS,
    own_threads::TESTS,
    page_waits::TESTS,
    retried::TESTS,
    rhythms_of_servers::TESTS,
    shares::TESTS,
    stood_still::TESTS,
    storms::TESTS,
    timer_elsewhere::TESTS,
    timerfd::TESTS,
    unseen_switches::TESTS,
    waits::TESTS,
    within::TESTS,
];
