//! The Routh criterion on the linearised closed loops, whatever the timing: a gain set that fails
//! it is unstable even with a controller that never sleeps. Sampling is the margins' business.

use super::Vehicle;
use std::fmt;

/// One of the decoupled loops of the vehicle linearised at hover.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Axis {
    /// Position x through pitch.
    LateralX,
    /// Position y through roll.
    LateralY,
    /// Height through thrust.
    Height,
    /// Heading through yaw torque.
    Yaw,
}

impl fmt::Display for Axis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::LateralX => "lateral x (pitch)",
            Self::LateralY => "lateral y (roll)",
            Self::Height => "height",
            Self::Yaw => "yaw",
        })
    }
}

/// The entry of the Routh array's first column that isn't positive.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RouthViolation {
    /// The loop.
    pub axis: Axis,
    /// The power of s of the row.
    pub power: usize,
    /// The entry; stability needs all entries of the column above 0.
    pub entry: f64,
}

impl fmt::Display for RouthViolation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "the gains don't stabilise {}: in the Routh array the s^{} row begins with {:.4}, \
             which must be above 0",
            self.axis, self.power, self.entry
        )
    }
}

/// The first violation of each loop. Characteristic polynomials, with motor lag τ:
/// lateral τs⁵ + s⁴ + k_ω s³ + k_R s² + k_R k_d s + k_R k_p; height τs³ + s² + k_d s + k_p;
/// yaw τs³ + s² + k_ω s + k_R.
pub(super) fn violations(vehicle: &Vehicle) -> Vec<RouthViolation> {
    let (lag, gains) = (vehicle.rotor.lag, &vehicle.gains);
    let (kr, kw) = (gains.attitude, gains.rate);
    let lateral = |n: usize| {
        vec![
            lag,
            1.0,
            kw,
            kr,
            kr * gains.velocity[n],
            kr * gains.position[n],
        ]
    };
    [
        (Axis::LateralX, lateral(0)),
        (Axis::LateralY, lateral(1)),
        (
            Axis::Height,
            vec![lag, 1.0, gains.velocity[2], gains.position[2]],
        ),
        (Axis::Yaw, vec![lag, 1.0, kw, kr]),
    ]
    .into_iter()
    .filter_map(|(axis, polynomial)| {
        first_not_positive(&polynomial).map(|(power, entry)| RouthViolation { axis, power, entry })
    })
    .collect()
}

/// Power and value of the first entry of the Routh array's first column that isn't above 0, for a
/// polynomial given from its highest power down with a positive leading coefficient. The entries
/// before it are positive, so no row is divided by 0.
fn first_not_positive(polynomial: &[f64]) -> Option<(usize, f64)> {
    let degree = polynomial.len() - 1;
    let mut upper: Vec<f64> = polynomial.iter().copied().step_by(2).collect();
    let mut lower: Vec<f64> = polynomial.iter().copied().skip(1).step_by(2).collect();
    for power in (0..degree).rev() {
        let head = *lower.first()?;
        // Written so that NaN counts as a violation.
        if head.partial_cmp(&0.0) != Some(std::cmp::Ordering::Greater) {
            return Some((power, head));
        }
        let ratio = upper[0] / head;
        let below = |n: usize| {
            upper.get(n + 1).copied().unwrap_or(0.0)
                - ratio * lower.get(n + 1).copied().unwrap_or(0.0)
        };
        let next = (0..upper.len() - 1).map(below).collect();
        upper = std::mem::replace(&mut lower, next);
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_array_agrees_with_polynomials_of_known_roots() {
        // (s+1)(s+2)(s+3); (s+1)(s² − s + 4): s² row −... ; s³+s²+2s+24 = (s+3)(s²−2s+8).
        assert_eq!(first_not_positive(&[1.0, 6.0, 11.0, 6.0]), None);
        assert_eq!(first_not_positive(&[1.0, 0.0, 3.0, 4.0]), Some((2, 0.0)));
        assert_eq!(first_not_positive(&[1.0, 1.0, 2.0, 24.0]), Some((1, -22.0)));
        // (s+1)⁵ is stable.
        assert_eq!(first_not_positive(&[1.0, 5.0, 10.0, 10.0, 5.0, 1.0]), None);
    }

    #[test]
    fn a_rate_gain_too_small_for_the_motor_lag_is_named_for_every_loop_it_drives() {
        let text = Vehicle::built_in_text("crazyflie").unwrap();
        let (_, warnings) =
            Vehicle::parse(&text.replace("rate_per_s = 57.0", "rate_per_s = 20.0"), "t").unwrap();
        let messages: Vec<_> = warnings.iter().map(ToString::to_string).collect();
        assert_eq!(messages.len(), 3, "{messages:?}");
        assert!(
            messages[0].starts_with(
                "the gains don't stabilise lateral x (pitch): in the Routh array the s^3 row"
            ),
            "{}",
            messages[0]
        );
    }

    #[test]
    fn a_missing_position_gain_leaves_a_root_at_the_origin() {
        let text = Vehicle::built_in_text("hummingbird").unwrap();
        let text = text.replace("position_per_s2 = [6.5,", "position_per_s2 = [0.0,");
        let (_, warnings) = Vehicle::parse(&text, "t").unwrap();
        let zero = RouthViolation {
            axis: Axis::LateralX,
            power: 0,
            entry: 0.0,
        };
        assert_eq!(warnings, [super::super::Warning::Unstable(zero)]);
    }
}
