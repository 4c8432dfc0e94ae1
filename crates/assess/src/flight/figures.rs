//! Figures of a flight, in the terms of its criterion.

use wakepath_flight::replay::{FlightReport, Flown, Loss, LossCause};
use wakepath_timeline::duration::three_digits;
use wakepath_verdict::FlightFigures;

/// The figures of a report that a criterion may speak of.
pub(super) fn figures(report: &FlightReport) -> FlightFigures {
    let measured = &report.flights.measured;
    FlightFigures {
        vehicle: report.vehicle.clone(),
        lost: loss_text(measured),
        ideal_lost: report.flights.ideal.lost(),
        delay_left_ns: report.margins.delay_ns,
        peak_tilt_deg: measured.kicks.peak_tilt_deg,
        kicks: measured.kicks.kicks,
    }
}

/// How the vehicle was lost, in a few words; `None` if it was not.
pub fn loss_text(flown: &Flown) -> Option<String> {
    let at = |flight: &str, loss: Loss| {
        let cause = match loss.cause {
            LossCause::Spin => "spinning",
            LossCause::Astray => "astray",
        };
        format!(
            "{flight}, {cause} after {}",
            three_digits(loss.at_ns.cast_signed())
        )
    };
    let kicks = &flown.kicks;
    let tracking = flown.lost_tracking.map(|loss| at("tracking", loss));
    let in_noise = flown.lost_in_noise.map(|loss| at("hovering", loss));
    let kicked = (kicks.lost > 0).then(|| format!("after {} of {} kicks", kicks.lost, kicks.kicks));
    let all: Vec<String> = [tracking, in_noise, kicked].into_iter().flatten().collect();
    (!all.is_empty()).then(|| all.join("; "))
}
