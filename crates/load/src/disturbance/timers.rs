//! Short timers and signals: at every expiry one thread signals another, which signals back.

use crate::counters::Slot;
use crate::ended::Ended;
use crate::kernel::SignalSet;
use rustix::process::{Signal, getpid, kill_process};
use rustix::time::{
    Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create,
    timerfd_settime,
};
use std::convert::Infallible;
use std::fs::File;
use std::io::Read;
use wakepath_timeline::Disturbance;

pub(crate) const DISTURBS: &[Disturbance] = &[
    Disturbance::Timers,
    Disturbance::Signals,
    Disturbance::Scheduling,
];

/// 5000 expiries a second: many, and still a small part of one CPU.
const INTERVAL_NS: i64 = 200_000;

/// Runs until it is killed; counts expiries that woke the worker and signals that arrived.
pub(crate) fn run(counter: &Slot) -> Result<Infallible, Ended> {
    let (ask, answer) = (
        SignalSet::new(&[libc::SIGUSR1]),
        SignalSet::new(&[libc::SIGUSR2]),
    );
    // Before the second thread exists, so that it inherits the mask: a blocked signal sent to the
    // process goes to the thread that waits for it.
    ask.block();
    answer.block();
    std::thread::Builder::new()
        .name("signal-echo".into())
        .spawn(move || {
            loop {
                if ask.wait().is_err() || kill_process(getpid(), Signal::USR2).is_err() {
                    std::process::exit(1);
                }
            }
        })
        .map_err(Ended::system("thread"))?;
    let timer = timerfd_create(TimerfdClockId::Monotonic, TimerfdFlags::CLOEXEC)
        .map_err(Ended::system("timerfd_create"))?;
    let interval = Timespec {
        tv_sec: 0,
        tv_nsec: INTERVAL_NS,
    };
    let setting = Itimerspec {
        it_interval: interval,
        it_value: interval,
    };
    timerfd_settime(&timer, TimerfdTimerFlags::empty(), &setting)
        .map_err(Ended::system("timerfd_settime"))?;
    let mut timer = File::from(timer);
    let mut expiries = [0; 8];
    loop {
        timer
            .read_exact(&mut expiries)
            .map_err(Ended::system("timer"))?;
        counter.add(1);
        kill_process(getpid(), Signal::USR1).map_err(Ended::system("kill"))?;
        answer.wait().map_err(Ended::system("sigwait"))?;
        counter.add(2);
    }
}
