//! Which conditions fit one screen: all if they are few, else the worst of each policy, else the worst of those.

/// Rows that a table on one screen has at most.
const MOST: usize = 10;

/// For each condition whether it is shown, in their order. Conditions of one `group` compete by `badness`.
pub(super) fn worst_of_each<T, G: PartialEq>(
    all: &[T],
    group: impl Fn(&T) -> G,
    badness: impl Fn(&T) -> i64,
) -> Vec<bool> {
    if all.len() <= MOST {
        return vec![true; all.len()];
    }
    let mut order: Vec<usize> = (0..all.len()).collect();
    order.sort_by_cached_key(|&at| std::cmp::Reverse(badness(&all[at])));
    let mut groups: Vec<G> = Vec::new();
    let mut shown = vec![false; all.len()];
    for at in order {
        let of = group(&all[at]);
        if groups.len() < MOST && !groups.contains(&of) {
            groups.push(of);
            shown[at] = true;
        }
    }
    shown
}

/// Keeps what is shown.
pub(super) fn keep<T>(all: &mut Vec<T>, shown: &[bool]) {
    let mut shown = shown.iter();
    all.retain(|_| shown.next().is_some_and(|shown| *shown));
}

/// The line about conditions that are not shown, with the command that shows them; empty if all are.
pub(super) fn rest(shown: &[bool], command: &str) -> String {
    match shown.iter().filter(|shown| !**shown).count() {
        0 => String::new(),
        1 => format!("1 other condition is less bad: {command}\n"),
        more => format!("{more} other conditions are less bad: {command}\n"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_worst_of_each_policy_is_shown_and_no_more_than_fit() {
        let few = [("a", 1), ("a", 2)];
        assert_eq!(worst_of_each(&few, |of| of.0, |of| of.1), [true, true]);
        let many: Vec<(usize, i64)> = (0..32).map(|at| (at % 8, at as i64)).collect();
        let shown = worst_of_each(&many, |of| of.0, |of| of.1);
        assert_eq!(shown, [vec![false; 24], vec![true; 8]].concat());
        let own: Vec<(usize, i64)> = (0..32).map(|at| (at, -(at as i64))).collect();
        let shown = worst_of_each(&own, |of| of.0, |of| of.1);
        assert_eq!(shown, [vec![true; 10], vec![false; 22]].concat());
        assert!(rest(&shown, "wakepath bound --all").starts_with("22 other"));
        let mut kept = own.clone();
        keep(&mut kept, &shown);
        assert_eq!(kept, own[..10]);
    }
}
