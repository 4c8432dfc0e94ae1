//! The flight and its settings, in two lines.

use wakepath_assess::FlownConditions;
use wakepath_flight::Trajectory;
use wakepath_flight::replay::{Missed, OverrunRule, Sampling};

/// The flight and its settings.
pub(crate) fn headline(flown: &FlownConditions) -> String {
    let settings = &flown.settings;
    let course = match &settings.trajectory {
        Trajectory::Hover { .. } => "hovers".to_owned(),
        Trajectory::Step { from, to } => {
            let length = from.iter().zip(to).map(|(a, b)| (a - b).powi(2));
            format!("steps {} m", length.sum::<f64>().sqrt())
        }
        Trajectory::Circle {
            radius_m,
            frequency_hz,
            ..
        } => format!("circles at {radius_m} m and {frequency_hz} Hz"),
        Trajectory::Waypoints(points) => format!("follows {} waypoints", points.len()),
    };
    let choices = &settings.choices;
    let sampling = match choices.sampling {
        Sampling::AtWake => "samples when it wakes",
        Sampling::AtRelease => "works on samples taken at the due time",
    };
    let missed = match choices.missed {
        Missed::Hold => "a missed command leaves the last one in force",
        Missed::Zero => "a missed command stops the rotors",
    };
    let overrun = match choices.overrun {
        OverrunRule::Skip => "overruns skip as recorded",
        OverrunRule::Queue => "overruns queue",
        OverrunRule::Kill => "overruns are killed",
    };
    let sweep = &settings.sweep;
    format!(
        "the {} {course}; the loop {sampling}, {missed}, {overrun}\n\
             kicks: up to {} of {} rad/s for each condition, within its {} worst bursts and at its \
             longest silence; noise: {} rad/s²; seed {}\n",
        flown.vehicle,
        sweep.most_kicks(),
        sweep.rate_rad_s,
        sweep.bursts,
        settings.noise.rad_s2,
        sweep.seed,
    )
}
