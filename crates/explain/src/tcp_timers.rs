//! Data between sockets of one machine that a timer of TCP's sent: they had waited there, and not on the way.

use foldhash::HashMap;
use std::ops::Range;
use wakepath_timeline::{KernelEvent, SoftIrq, What};

/// Linux acknowledges after 40 to 200 ms if it has nothing to send: `TCP_DELACK_MIN` and `TCP_DELACK_MAX`, both counted in
/// ticks. From 200 ms on a lost packet is sent again, by a timer too.
pub const DELAYED_ACK_NS: Range<u64> = 35_000_000..200_000_000;

/// The CPUs whose SoftIRQs are followed.
#[derive(Debug, Default)]
pub(crate) struct TcpTimers(HashMap<u16, OfCpu>);

#[derive(Debug, Default)]
struct OfCpu {
    /// The timers' SoftIRQ is under way.
    in_timers: bool,
    /// Who asked for the network's SoftIRQ since it last began.
    asked_by: Option<AskedBy>,
    /// The network's SoftIRQ is under way, and nobody but a timer asked for it.
    receives: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum AskedBy {
    Timer,
    Others,
}

impl TcpTimers {
    /// Takes the next event.
    pub fn event(&mut self, event: &KernelEvent) {
        let is_of_softirq = matches!(
            event.what,
            What::SoftIrqEntry(_)
                | What::SoftIrqExit(_)
                | What::SoftIrqRaise(_)
                | What::Lost { .. }
        );
        if !is_of_softirq {
            return;
        }
        let of = self.0.entry(event.cpu).or_default();
        match &event.what {
            What::SoftIrqEntry(SoftIrq::TIMER) => of.in_timers = true,
            What::SoftIrqExit(SoftIrq::TIMER) => of.in_timers = false,
            What::SoftIrqRaise(SoftIrq::NET_RX) => {
                // What comes in can send more, which comes in at once.
                let is_timers = of.in_timers || of.receives;
                of.asked_by = match of.asked_by {
                    None | Some(AskedBy::Timer) if is_timers => Some(AskedBy::Timer),
                    _ => Some(AskedBy::Others),
                };
            }
            What::SoftIrqEntry(SoftIrq::NET_RX) => {
                of.receives = of.asked_by.take() == Some(AskedBy::Timer);
            }
            What::SoftIrqExit(SoftIrq::NET_RX) => of.receives = false,
            What::Lost { .. } => *of = OfCpu::default(),
            _ => {}
        }
    }

    /// Whether a timer sent what the network's SoftIRQ delivers on this CPU now.
    pub fn sent_what_comes_in(&self, cpu: u16) -> bool {
        self.0.get(&cpu).is_some_and(|of| of.receives)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_sent(events: &[What]) -> bool {
        let mut timers = TcpTimers::default();
        for what in events {
            timers.event(&KernelEvent {
                at_ns: 1,
                cpu: 1,
                current: 0,
                what: what.clone(),
            });
        }
        timers.sent_what_comes_in(1)
    }

    #[test]
    fn data_are_a_timers_if_nobody_else_asked_for_the_networks_softirq() {
        let [begins, ends] = [What::SoftIrqEntry, What::SoftIrqExit].map(|of| of(SoftIrq::TIMER));
        let raised = What::SoftIrqRaise(SoftIrq::NET_RX);
        let comes_in = What::SoftIrqEntry(SoftIrq::NET_RX);
        let is_over = What::SoftIrqExit(SoftIrq::NET_RX);
        let by_timer = [begins, raised.clone(), ends, comes_in.clone()];
        assert!(is_sent(&by_timer));
        // In ksoftirqd, or after other SoftIRQs; and what that sends in turn.
        let again = [
            &by_timer[..],
            &[raised.clone(), is_over.clone(), comes_in.clone()],
        ];
        assert!(is_sent(&again.concat()));
        assert!(!is_sent(&[&by_timer[..], &[is_over]].concat()));
        assert!(!is_sent(&[raised.clone(), comes_in.clone()]));
        assert!(!is_sent(&[&[raised.clone()][..], &by_timer].concat()));
        assert!(!is_sent(
            &[&by_timer[..3], &[raised, comes_in.clone()]].concat()
        ));
        let lost = What::Lost { count: 1 };
        assert!(!is_sent(&[&by_timer[..3], &[lost, comes_in]].concat()));
    }
}
