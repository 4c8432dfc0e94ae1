//! Process data exchanged with an EtherCAT bus at a rate of its own, as a master does. What answers is
//! the crate `wakepath-ethercat`'s.

use crate::counters::Slot;
use crate::disturbance::storm::{next_after, now, sleep_until};
use crate::ended::Ended;
use serde::{Deserialize, Serialize};
use std::convert::Infallible;
use std::path::Path;
use std::time::Duration;
use wakepath_ethercat::{EthercatError, Exchange, Link, Master, Ring, RingOptions};
use wakepath_scenario::EthercatBus;
use wakepath_timeline::Disturbance;

pub(crate) const DISTURBS: &[Disturbance] = &[
    Disturbance::Network,
    Disturbance::Timers,
    Disturbance::SystemCalls,
    Disturbance::Scheduling,
];

/// After so long without one exchange that all devices took part in, the load is none.
const PATIENCE: Duration = Duration::from_secs(1);
const THIS_PROGRAM: &str = "/proc/self/exe";

/// Where the devices are.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Bus {
    Interface(String),
    Simulated(RingOptions),
}

impl Bus {
    pub(crate) fn of(bus: &EthercatBus) -> Self {
        match bus {
            EthercatBus::Interface(name) => Self::Interface(name.clone()),
            EthercatBus::Simulated(ring) => Self::Simulated(RingOptions {
                devices: ring.devices,
                jitter_ns: ring.jitter_ns,
                lost_per_million: (ring.loss * 1e6).round() as u32,
                stops_after_ns: ring.stops_after_ns,
                ..RingOptions::default()
            }),
        }
    }

    /// Opens the interface, where there is one: while the process may still do that.
    pub(crate) fn open(&self) -> Result<Option<Link>, Ended> {
        match self {
            Self::Interface(name) => Ok(Some(Link::open(name)?)),
            Self::Simulated(_) => Ok(None),
        }
    }

    fn start(&self, opened: Option<Link>) -> Result<(Option<Ring>, Link), EthercatError> {
        match (self, opened) {
            (_, Some(link)) => Ok((None, link)),
            (Self::Interface(name), None) => Ok((None, Link::open(name)?)),
            (Self::Simulated(options), None) => {
                let (ring, link) = Ring::start(Path::new(THIS_PROGRAM), options)?;
                Ok((Some(ring), link))
            }
        }
    }
}

/// Exchanges until it is killed; counts exchanges that all devices took part in.
pub(crate) fn run(
    counter: &Slot,
    bus: &Bus,
    opened: Option<Link>,
    period: Duration,
) -> Result<Infallible, Ended> {
    let (_ring, link) = bus.start(opened)?;
    let mut master = Master::start(link, period)?;
    let mut right = now();
    loop {
        let due = next_after(now(), period);
        sleep_until(due)?;
        // The next one comes in its own time, whatever has become of this one.
        let exchanged = master.exchange((due + period).as_nanos() as u64);
        match exchanged {
            Exchange::Right { .. } => {
                counter.add(1);
                right = now();
            }
            wrong if now().saturating_sub(right) >= PATIENCE.max(2 * period) => {
                return Err(Ended::Ethercat(master.describe(wrong)));
            }
            _ => {}
        }
    }
}
