//! Parts that were computed elsewhere, put together; or why they are not one sweep.

use super::{Sweep, SweptPlan, SweptPoint};

/// Why parts are not one sweep.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NotOneSweep {
    /// Nothing was given.
    #[error("no parts given; give the files that --points wrote")]
    Nothing,
    /// Parts of different sweeps.
    #[error("{first} and {other} belong to different sweeps; give parts with the same options")]
    Different {
        /// One of them.
        first: String,
        /// The other.
        other: String,
    },
    /// Two answers for one point.
    #[error("{0} contradicts an earlier part at point {1}; compute both again")]
    Contradiction(String, usize),
    /// More points than a sweep can have.
    #[error(
        "{name}: says that its sweep has {points} points, and a sweep has at most {}; give what \
         `wakepath schedulability sweep --points` printed",
        SweptPlan::MOST_POINTS
    )]
    TooManyPoints {
        /// The part.
        name: String,
        /// So many.
        points: usize,
    },
    /// A point with a number that the sweep doesn't have.
    #[error(
        "{name}: has a point {number}, and its sweep has {points}, from 0; give what \
         `wakepath schedulability sweep --points` printed"
    )]
    NoSuchPoint {
        /// The part.
        name: String,
        /// The number.
        number: usize,
        /// Points of the sweep.
        points: usize,
    },
    /// Points that no part has.
    #[error("points {0} are in no part; compute them with --points")]
    Missing(String),
}

impl Sweep {
    /// One sweep of its parts, which have names for messages. A point may be in several parts if all
    /// found the same: where a worker died, its points are computed again.
    ///
    /// # Errors
    /// [`NotOneSweep`].
    pub fn merged(parts: Vec<(String, Self)>) -> Result<Self, NotOneSweep> {
        let mut parts = parts.into_iter();
        let (first, mut whole) = parts.next().ok_or(NotOneSweep::Nothing)?;
        let count = whole.plan.points;
        if count > SweptPlan::MOST_POINTS {
            return Err(NotOneSweep::TooManyPoints {
                name: first,
                points: count,
            });
        }
        let mut found: Vec<Option<SweptPoint>> = vec![None; count];
        let own = std::mem::take(&mut whole.points);
        let mut all = vec![(first.clone(), own)];
        for (other, part) in parts {
            if part.plan != whole.plan {
                return Err(NotOneSweep::Different { first, other });
            }
            all.push((other, part.points));
        }
        for (name, points) in all {
            for point in points {
                let number = point.number;
                match found.get_mut(number) {
                    Some(place @ None) => *place = Some(point),
                    Some(Some(known)) if *known == point => {}
                    Some(_) => return Err(NotOneSweep::Contradiction(name, number)),
                    None => {
                        return Err(NotOneSweep::NoSuchPoint {
                            name,
                            number,
                            points: count,
                        });
                    }
                }
            }
        }
        let missing: Vec<String> = found
            .iter()
            .enumerate()
            .filter(|(_, point)| point.is_none())
            .map(|(number, _)| number.to_string())
            .collect();
        if !missing.is_empty() {
            return Err(NotOneSweep::Missing(missing.join(", ")));
        }
        whole.points = found.into_iter().flatten().collect();
        Ok(whole)
    }
}
