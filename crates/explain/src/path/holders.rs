//! Who held a lock while others waited for it, too. The thread that ends a wait may have waited for the same lock until
//! shortly before, and held nobody up until then.

use super::Cut;
use crate::call::Entered;
use crate::cpu::Context;
use crate::track::Happened;
use wakepath_timeline::{CallArgument, Thread};

/// Hand-overs of a lock within one wait that are followed.
const MOST_HOLDERS: usize = 64;

impl Cut<'_> {
    /// The holders of the lock that a thread waits for from an instant on, the first one first, each with the instant at
    /// which it handed the lock on. `waker`: the last one, which did so at the end of the wait.
    pub(super) fn holders(
        &self,
        waiter: u32,
        from_ns: u64,
        (waker, woken_ns): (Thread, u64),
    ) -> Vec<(Thread, u64)> {
        let mut holders = vec![(waker, woken_ns)];
        let calls = &self.window.threads.calls;
        let wait = calls.before(waiter, from_ns).next();
        let wait = wait.filter(|of| of.contains(from_ns)).map(|of| &of.entered);
        let wait = wait.filter(|of| of.call.is_for_lock());
        let Some(CallArgument::Address(address)) = wait.and_then(|of| of.argument) else {
            return holders;
        };
        while let Some((holder, until_ns)) = holders.last()
            && holders.len() < MOST_HOLDERS
        {
            let before = self.got_from(holder.id, address, (from_ns, *until_ns));
            match before.filter(|(of, _)| of.id != waiter && of.id != 0) {
                Some(before) => holders.push(before),
                None => break,
            }
        }
        holders.reverse();
        holders
    }

    /// The thread that ended the last wait of another one for a lock at this address between two instants, and when.
    fn got_from(
        &self,
        thread: u32,
        address: u64,
        (from_ns, to_ns): (u64, u64),
    ) -> Option<(Thread, u64)> {
        let threads = self.window.threads;
        let marks = threads.track(thread)?.marks();
        let is_same = |of: &Entered| {
            of.call.is_for_lock() && of.argument == Some(CallArgument::Address(address))
        };
        let calls = threads.calls.before(thread, to_ns);
        for call in calls.filter(|of| is_same(&of.entered)) {
            let end = marks.partition_point(|mark| mark.at_ns < to_ns);
            let mut wakings = marks.range(..end).rev();
            let waking = wakings.find_map(|mark| match &mark.what {
                Happened::Waking { from, .. } if call.contains(mark.at_ns) => {
                    Some((from, mark.at_ns))
                }
                _ => None,
            });
            match waking {
                Some((Context::Thread(by), at_ns)) if at_ns > from_ns => {
                    return Some((by.clone(), at_ns));
                }
                Some(_) => return None,
                // It woke others, or did not have to wait.
                None if call.from_ns <= from_ns => return None,
                None => {}
            }
        }
        None
    }
}
