//! Parts of a sweep put together, and its figures, by hand.

use super::*;

fn part(numbers: &[usize], held: u64) -> Sweep {
    let share = |policy: &str, held| SweptShare {
        overheads: "ideal".into(),
        policy: policy.into(),
        sets: 10,
        held,
        share: six(held as f64 / 10.0),
        low: 0.0,
        high: 1.0,
    };
    let point = |&number: &usize| SweptPoint {
        number,
        distribution: "light".into(),
        utilization: (number + 1) as f64 / 4.0,
        tasks: 3,
        sets: 10,
        shares: vec![share("P-EDF", held)],
    };
    Sweep {
        plan: SweptPlan {
            version: SweptPlan::VERSION,
            seed: 1,
            cpus: 2,
            cluster: 2,
            periods_ns: (1, 2),
            half_width: 0.01,
            most_sets: 10,
            policies: vec!["P-EDF".into()],
            overheads: Vec::new(),
            distributions: Vec::new(),
            points: 4,
        },
        points: numbers.iter().map(point).collect(),
    }
}

fn merged(parts: &[Sweep]) -> Result<Sweep, NotOneSweep> {
    let named = parts.iter().enumerate();
    Sweep::merged(
        named
            .map(|(place, part)| (format!("part {place}"), part.clone()))
            .collect(),
    )
}

#[test]
fn parts_in_any_order_and_twice_are_the_whole() {
    let whole = merged(&[part(&[2, 3], 5), part(&[0, 1], 5), part(&[1, 2], 5)]);
    assert_eq!(whole, Ok(part(&[0, 1, 2, 3], 5)));
    assert_eq!(whole.map(|whole| whole.sets()), Ok(40));
}

#[test]
fn parts_that_are_no_whole_are_refused_with_what_is_wrong() {
    assert_eq!(merged(&[]), Err(NotOneSweep::Nothing));
    let missing = merged(&[part(&[0, 2], 5)]);
    assert_eq!(missing, Err(NotOneSweep::Missing("1, 3".into())));
    let apart = merged(&[part(&[0, 1, 2, 3], 5), part(&[2], 6)]);
    assert_eq!(apart, Err(NotOneSweep::Contradiction("part 1".into(), 2)));
    let beyond = merged(&[part(&[0, 1, 2, 3, 7], 5)]);
    assert_eq!(
        beyond,
        Err(NotOneSweep::NoSuchPoint {
            name: "part 0".into(),
            number: 7,
            points: 4
        })
    );
    let mut other = part(&[0], 5);
    other.plan.seed = 2;
    assert!(matches!(
        merged(&[part(&[1], 5), other]),
        Err(NotOneSweep::Different { .. })
    ));
}

#[test]
fn a_number_of_points_is_refused_before_there_is_room_for_them() {
    let mut vast = part(&[0], 5);
    vast.plan.points = usize::MAX;
    let refused = merged(&[vast]).unwrap_err().to_string();
    assert!(
        refused.starts_with("part 0: says that its sweep has 18446744073709551615 points")
            && refused.contains("at most 2000"),
        "{refused}"
    );
}

#[test]
fn one_figure_weighs_high_utilizations_more() {
    let mut whole = part(&[0, 1, 2, 3], 10);
    whole.points[3].shares[0].share = 0.0;
    // (0.25 + 0.5 + 0.75) / 2.5.
    assert_eq!(whole.weighted("light", "ideal", "P-EDF"), Some(0.6));
    assert_eq!(whole.up_to(0.99, "light", "ideal", "P-EDF"), Some(0.75));
    assert_eq!(whole.weighted("light", "ideal", "G-EDF"), None);
}
