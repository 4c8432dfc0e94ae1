//! Exchanges process data with an EtherCAT bus at its own rate, as a master does.
//!
//! The program `wakepath-ethercat` runs it, which has the master.

use crate::counters::Slot;
use crate::disturbance::storm::{next_after, now, sleep_until};
use crate::ended::Ended;
use std::convert::Infallible;
use std::time::Duration;
use wakepath_ethercat::{Bus, Exchange, Link, RingOptions, Silence, StartMaster};
use wakepath_scenario::{EthercatBus, SimulatedRing};
use wakepath_timeline::Disturbance;

pub(crate) const DISTURBS: &[Disturbance] = &[
    Disturbance::Network,
    Disturbance::Timers,
    Disturbance::SystemCalls,
    Disturbance::Scheduling,
];

/// The scenario's bus. `is_prompt`: simulated devices answer before ordinary threads run.
pub fn bus(bus: &EthercatBus, is_prompt: bool) -> Bus {
    match bus {
        EthercatBus::Interface(name) => Bus::Interface(name.clone()),
        EthercatBus::Simulated(ring) => {
            let SimulatedRing {
                devices,
                jitter_ns,
                loss,
                stops_after_ns,
            } = *ring;
            Bus::Simulated(RingOptions {
                devices,
                jitter_ns,
                lost_per_million: (loss * 1e6).round() as u32,
                stops_after_ns,
                is_prompt,
                ..RingOptions::default()
            })
        }
    }
}

/// Exchanges until it is killed; counts exchanges that all devices took part in.
pub(crate) fn run(
    counter: &Slot,
    bus: &Bus,
    opened: Option<Link>,
    period: Duration,
    start: StartMaster,
) -> Result<Infallible, Ended> {
    let (_ring, link) = bus.start(opened)?;
    let mut master = start(link, period)?;
    let mut silence = Silence::new(nanoseconds(period), nanoseconds(now()));
    loop {
        let due = next_after(now(), period);
        sleep_until(due)?;
        // The next exchange starts on time, whatever happened to this one.
        let exchanged = master.exchange(nanoseconds(due + period));
        if matches!(exchanged, Exchange::Right { .. }) {
            counter.add(1);
        }
        let now_ns = nanoseconds(now());
        silence.hear(exchanged, now_ns);
        if let Some(wrong) = silence.is_over(now_ns) {
            return Err(Ended::Ethercat(master.describe(wrong)));
        }
    }
}

fn nanoseconds(duration: Duration) -> u64 {
    duration.as_nanos() as u64
}
