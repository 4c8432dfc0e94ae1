//! Trajectories for the vehicle: hover, a step, a circle, waypoints.
//!
//! Evaluating a trajectory allocates nothing and can't fail.

use crate::vector;

/// The reference at one time.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Reference {
    /// Position, m.
    pub position: [f64; 3],
    /// Velocity, m/s.
    pub velocity: [f64; 3],
    /// Acceleration, m/s².
    pub acceleration: [f64; 3],
    /// Heading ψ, rad.
    pub yaw: f64,
    /// ψ̇, rad/s.
    pub yaw_rate: f64,
}

impl Reference {
    /// Rest at `position` (metres), heading along x.
    pub fn at_rest(position: [f64; 3]) -> Self {
        Self {
            position,
            ..Self::default()
        }
    }

    /// Whether every number is finite.
    #[inline]
    pub fn is_finite(&self) -> bool {
        vector::all_finite(&self.position)
            && vector::all_finite(&self.velocity)
            && vector::all_finite(&self.acceleration)
            && vector::all_finite(&[self.yaw, self.yaw_rate])
    }
}

/// A point to reach at a given time.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Waypoint {
    /// Seconds after the start.
    pub at_s: f64,
    /// Position, m.
    pub position: [f64; 3],
}

/// Why a trajectory was refused.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
pub enum TrajectoryError {
    /// No waypoints.
    #[error("a list of waypoints needs at least one")]
    NoWaypoints,
    /// A waypoint that isn't later than the one before it, or whose time isn't a number.
    #[error("waypoint {number} is at {at_s} s; it must come after waypoint {before} at {before_s} s", before = number - 1)]
    NotLater {
        /// Number of the waypoint, counted from 1.
        number: usize,
        /// Its time, s.
        at_s: f64,
        /// The time of the one before, s.
        before_s: f64,
    },
    /// A number that isn't finite.
    #[error("the trajectory's {what} is not a finite number")]
    NotFinite {
        /// The quantity.
        what: &'static str,
    },
}

/// A reference trajectory.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Trajectory {
    /// Stay at a position.
    Hover {
        /// Position, m.
        position: [f64; 3],
    },
    /// A step of position at the start: the vehicle hovers at `from` and has to go to `to`.
    Step {
        /// Place where the vehicle hovers before, m.
        from: [f64; 3],
        /// Target, m.
        to: [f64; 3],
    },
    /// A horizontal circle that starts at centre + (radius, 0, 0), anticlockwise seen from above.
    Circle {
        /// Centre, m.
        centre: [f64; 3],
        /// Radius, m.
        radius_m: f64,
        /// Turns per second, Hz.
        frequency_hz: f64,
    },
    /// Waypoints in order of time, joined by minimum-jerk polynomials from rest to rest.
    Waypoints(Vec<Waypoint>),
}

impl Trajectory {
    /// Checks it: finite numbers, waypoints in strict order of time.
    pub fn check(&self) -> Result<(), TrajectoryError> {
        let finite = |values: &[f64], what| {
            if vector::all_finite(values) {
                Ok(())
            } else {
                Err(TrajectoryError::NotFinite { what })
            }
        };
        match self {
            Self::Hover { position } => finite(position, "position"),
            Self::Step { from, to } => finite(from, "start").and(finite(to, "end")),
            Self::Circle {
                centre,
                radius_m,
                frequency_hz,
            } => finite(centre, "centre")
                .and(finite(&[*radius_m], "radius"))
                .and(finite(&[*frequency_hz], "frequency")),
            Self::Waypoints(points) => {
                let mut before = points.first().ok_or(TrajectoryError::NoWaypoints)?;
                finite(&[before.at_s], "time of waypoint 1")?;
                for (n, point) in points.iter().enumerate() {
                    finite(&point.position, "position of a waypoint")?;
                    if n > 0 && !(point.at_s.is_finite() && point.at_s > before.at_s) {
                        return Err(TrajectoryError::NotLater {
                            number: n + 1,
                            at_s: point.at_s,
                            before_s: before.at_s,
                        });
                    }
                    before = point;
                }
                Ok(())
            }
        }
    }

    /// Place where the vehicle hovers before the trajectory begins, m.
    pub fn start(&self) -> [f64; 3] {
        match self {
            Self::Step { from, .. } => *from,
            other => other.at(0.0).position,
        }
    }

    /// The reference `time` seconds after the start.
    pub fn at(&self, time: f64) -> Reference {
        match self {
            Self::Hover { position } => Reference::at_rest(*position),
            Self::Step { to, .. } => Reference::at_rest(*to),
            Self::Circle {
                centre,
                radius_m,
                frequency_hz,
            } => {
                let omega = std::f64::consts::TAU * frequency_hz;
                let (sin, cos) = (omega * time).sin_cos();
                let outward = [radius_m * cos, radius_m * sin, 0.0];
                Reference {
                    position: vector::add(*centre, outward),
                    velocity: [-omega * radius_m * sin, omega * radius_m * cos, 0.0],
                    acceleration: vector::scale(-omega * omega, outward),
                    ..Reference::default()
                }
            }
            Self::Waypoints(points) => along(points, time),
        }
    }
}

/// Minimum-jerk motion between the waypoints around `time`: s(u) = 10u³ − 15u⁴ + 6u⁵.
fn along(points: &[Waypoint], time: f64) -> Reference {
    let next = points.partition_point(|point| point.at_s <= time);
    let (from, to) = match (
        next.checked_sub(1).and_then(|n| points.get(n)),
        points.get(next),
    ) {
        (Some(from), Some(to)) => (from, to),
        (Some(only), None) | (None, Some(only)) => return Reference::at_rest(only.position),
        (None, None) => return Reference::default(),
    };
    let duration = to.at_s - from.at_s;
    let u = (time - from.at_s) / duration;
    let way = vector::subtract(to.position, from.position);
    let part = u * u * u * (10.0 + u * (6.0 * u - 15.0));
    let speed = 30.0 * u * u * (1.0 - u) * (1.0 - u) / duration;
    let acceleration = 60.0 * u * (1.0 - u) * (1.0 - 2.0 * u) / (duration * duration);
    Reference {
        position: vector::add(from.position, vector::scale(part, way)),
        velocity: vector::scale(speed, way),
        acceleration: vector::scale(acceleration, way),
        ..Reference::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn points() -> Trajectory {
        let point = |at_s, x| Waypoint {
            at_s,
            position: [x, 0.0, 1.0],
        };
        Trajectory::Waypoints(vec![point(1.0, 0.0), point(3.0, 4.0), point(4.0, 3.0)])
    }

    #[test]
    fn waypoints_are_reached_at_rest_at_their_times_and_held_at_both_ends() {
        for (time, x) in [
            (-5.0, 0.0),
            (1.0, 0.0),
            (2.0, 2.0),
            (3.0, 4.0),
            (4.0, 3.0),
            (9.0, 3.0),
        ] {
            let reference = points().at(time);
            assert!((reference.position[0] - x).abs() < 1e-12, "{time}");
            if time != 2.0 {
                assert!(reference.velocity[0].abs() < 1e-12, "{time}");
            }
        }
    }

    #[test]
    fn velocity_and_acceleration_are_the_derivatives_of_position() {
        let circle = Trajectory::Circle {
            centre: [1.0; 3],
            radius_m: 2.0,
            frequency_hz: 0.3,
        };
        let h = 1e-5;
        for trajectory in [points(), circle] {
            for time in [1.3, 2.0, 2.9, 3.5] {
                let (a, b, c) = (
                    trajectory.at(time - h),
                    trajectory.at(time),
                    trajectory.at(time + h),
                );
                for n in 0..3 {
                    let velocity = (c.position[n] - a.position[n]) / (2.0 * h);
                    let acceleration = (c.velocity[n] - a.velocity[n]) / (2.0 * h);
                    assert!((velocity - b.velocity[n]).abs() < 1e-6);
                    assert!((acceleration - b.acceleration[n]).abs() < 1e-6);
                }
            }
        }
    }

    #[test]
    fn waypoints_out_of_order_or_not_finite_are_refused_with_their_number() {
        let point = |at_s| Waypoint {
            at_s,
            position: [0.0; 3],
        };
        let refused = |points: Vec<Waypoint>| {
            Trajectory::Waypoints(points)
                .check()
                .unwrap_err()
                .to_string()
        };
        assert_eq!(
            refused(vec![point(0.0), point(2.0), point(2.0)]),
            "waypoint 3 is at 2 s; it must come after waypoint 2 at 2 s"
        );
        assert!(refused(vec![point(0.0), point(f64::NAN)]).starts_with("waypoint 2"));
        assert!(refused(vec![]).contains("at least one"));
        assert!(points().check().is_ok());
    }
}
