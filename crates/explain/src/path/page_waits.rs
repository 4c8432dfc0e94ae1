//! Waits for a page: those of the loop in its own page faults, by who ended them.

use super::Cut;
use super::ended::ended_by;
use crate::cause::Cause;
use crate::cpu::Context;
use crate::faults;
use crate::page_wait::PageWait;
use crate::track::{Happened, Interval, State};
use crate::wait::Handler;
use wakepath_timeline::SoftIrq;

impl Cut<'_> {
    /// The cause of a wait in a page fault; `None` if the wait is in none.
    pub(super) fn page_wait(&self, interval: &Interval) -> Option<Cause> {
        let track = self.window.track;
        if !faults::waits_for_page(track, interval) {
            return None;
        }
        let Some(Happened::Waking { from, .. }) = ended_by(track, interval) else {
            return Some(faults::cause_of_wait(track, interval));
        };
        Some(match (interval.state, from) {
            // The kernel's own time-out.
            (_, Context::Interrupt(Handler::SoftIrq(SoftIrq::TIMER))) => {
                faults::cause_of_wait(track, interval)
            }
            (_, Context::Interrupt(handler)) => PageWait::Device(handler.clone()).into(),
            // The kernel's own waits for a page are uninterruptible, that for a pager of the program is not.
            (State::Sleeping, Context::Thread(pager)) => PageWait::Pager(pager.clone()).into(),
            _ => faults::cause_of_wait(track, interval),
        })
    }
}
