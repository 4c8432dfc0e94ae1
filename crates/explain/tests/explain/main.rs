//! Causes, rhythms and totals with known answers: from streams made by hand, and from disturbances
//! made on purpose on this machine.

mod awkward_streams;
mod injected_causes;
mod interference;
mod known_answers;
mod known_rhythms;
mod laboratory;
mod own_threads;
mod shares;
mod stood_still;
mod stream;
mod timer_elsewhere;
mod timerfd;
