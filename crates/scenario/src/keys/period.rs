//! `rate` and `period`: how often a loop runs.

use super::form::{Form, time};
use super::shape::Shape;
use super::visitor::Keys;
use crate::Warning;
use crate::document::Node;
use crate::error::Finding;
use crate::units::{LONGEST_PERIOD_NS, Rate, SHORTEST_PERIOD_NS, parse_rate};
use toml::Value;
use wakepath_timeline::duration::exact;

/// A rate whose period is in a range of nanoseconds.
pub(crate) struct RateWithin(pub(crate) u64, pub(crate) u64);

impl Form for RateWithin {
    type Value = Rate;
    fn shape(&self) -> Shape {
        Shape::Rate(self.0, self.1)
    }
    fn remedy(&self) -> String {
        "give a rate with its unit, such as \"250 Hz\"".into()
    }
    fn read(&self, node: &Node<'_>) -> Result<Rate, Finding> {
        let rate = node.quantity(&self.remedy(), parse_rate)?;
        let refusal = |than: &str, bound: u64, side: &str| {
            let bound = exact(bound);
            let problem = format!("makes a period {than} than {bound}");
            Err(node.refuse(problem, format!("give a period of at {side} {bound}")))
        };
        match rate.period_ns {
            ns if ns < self.0 => refusal("shorter", self.0, "least"),
            ns if ns > self.1 => refusal("longer", self.1, "most"),
            _ => Ok(rate),
        }
    }
    fn write(&self, rate: &Rate) -> Value {
        format!("{} Hz", 1e9 / rate.period_ns as f64).into()
    }
}

/// The period, from exactly one of `rate` and `period`. `warn`: of a rate that a loop drifts against.
pub(super) fn declare(keys: &mut Keys<'_>, warn: bool, period_ns: &mut u64) {
    declare_maybe(keys, warn, period_ns);
    exactly_one(keys, &["rate", "period"]);
}

/// Refuses both and none.
pub(super) fn exactly_one(keys: &mut Keys<'_>, names: &'static [&'static str]) {
    let conflict = "conflicts with rate: both set the period";
    let remedy = "give rate = \"250 Hz\" or period = \"4 ms\"";
    keys.exactly_one(names, conflict, remedy);
}

/// The two keys; the period is 0 without them.
pub(super) fn declare_maybe(keys: &mut Keys<'_>, warn: bool, period_ns: &mut u64) {
    const NEEDED: &str = "one of `rate` and `period` is needed";
    let mut rate = None;
    let mut period = Some(*period_ns).filter(|ns| *ns > 0);
    keys.optional(
        "rate",
        RateWithin(SHORTEST_PERIOD_NS, LONGEST_PERIOD_NS),
        NEEDED,
        "Rate of the loop in Hz or kHz. A rate whose period is not a whole number of nanoseconds, \
         such as 300 Hz, is rounded to the nearest nanosecond, and a warning reports the drift.",
        &mut rate,
    );
    keys.optional(
        "period",
        time("4 ms").within(SHORTEST_PERIOD_NS, LONGEST_PERIOD_NS),
        NEEDED,
        "Period of the loop, 10 µs to 100 s.",
        &mut period,
    );
    if let (Some(Rate { period_ns, exact }), Some(node)) = (rate, keys.given("rate"))
        && warn
        && !exact
    {
        keys.warn(Warning::RateNotWhole {
            key: node.key.clone(),
            rate: node.as_text().unwrap_or_default().to_owned(),
            period_ns,
        });
    }
    *period_ns = rate.map(|rate| rate.period_ns).or(period).unwrap_or(0);
}
