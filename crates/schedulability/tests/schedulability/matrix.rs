//! The table of what is analysed together, and its page.

use wakepath_schedulability::matrix::{Cell, Feature, Queue, alone, page, pair};

#[test]
fn a_pair_is_refused_in_either_order_and_wherever_one_of_the_two_is() {
    for queue in Queue::ALL {
        for one in Feature::ALL {
            assert_eq!(pair(queue, one, one), alone(queue, one));
            for other in Feature::ALL {
                assert_eq!(pair(queue, one, other), pair(queue, other, one));
                let open = alone(queue, one) == Cell::Proved && alone(queue, other) == Cell::Proved;
                assert!(open || pair(queue, one, other) != Cell::Proved);
            }
        }
    }
}

#[test]
fn the_page_names_a_theorem_for_what_is_proved_and_a_reason_for_what_is_not() {
    let page = page();
    println!("{page}");
    for feature in Feature::ALL {
        let rows = page.lines().filter(|line| {
            line.starts_with(&format!("| {} | proved |", feature.name()))
                || line.starts_with(&format!("| {} | refused | reason ", feature.name()))
        });
        assert_eq!(rows.count(), Queue::ALL.len(), "{}", feature.name());
    }
    assert!(
        !page.contains("| proved |  |"),
        "a proof without its theorem"
    );
}
