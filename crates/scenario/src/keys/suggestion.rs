//! Suggestions for unknown names.

use wakepath_timeline::quoted;

/// "a, b and c".
pub(crate) fn listed(names: &[&str]) -> String {
    match names {
        [] => String::new(),
        [only] => (*only).to_owned(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

/// "did you mean …?" if a known name is similar, else all of them.
pub(crate) fn suggestion(name: &str, known: &[&str]) -> String {
    near(name, known).unwrap_or_else(|| format!("known are {}", listed(known)))
}

/// "did you mean …?" if a known name is similar.
pub(crate) fn near(name: &str, known: &[&str]) -> Option<String> {
    const LONGEST: usize = 40;
    let nearest = known
        .iter()
        .filter(|_| name.len() <= LONGEST)
        .map(|candidate| {
            (
                distance(&name.to_lowercase().replace('_', "-"), candidate),
                *candidate,
            )
        })
        .min_by_key(|(distance, _)| *distance);
    nearest
        .filter(|(distance, candidate)| *distance <= 1 + candidate.len() / 4)
        .map(|(_, candidate)| format!("did you mean {}?", quoted(candidate)))
}

/// The first known name with this number of wrong letters, or fewer.
pub(crate) fn near_within<'a>(name: &str, known: &[&'a str], most: usize) -> Option<&'a str> {
    let mut known = known.iter().copied();
    known.find(|candidate| {
        // A short name is within reach of any other.
        candidate.len() > 2 * most + 1 && distance(name, candidate) <= most
    })
}

/// The fewest insertions, deletions, replacements and swaps of neighbours (optimal string
/// alignment) that make one text of the other.
fn distance(from: &str, to: &str) -> usize {
    let (from, to): (Vec<char>, Vec<char>) = (from.chars().collect(), to.chars().collect());
    let mut rows = vec![vec![0; to.len() + 1]; from.len() + 1];
    rows[0] = (0..=to.len()).collect();
    for above in 0..from.len() {
        rows[above + 1][0] = above + 1;
        for column in 0..to.len() {
            let same = from[above] == to[column];
            let mut fewest = (rows[above][column] + usize::from(!same))
                .min(rows[above][column + 1] + 1)
                .min(rows[above + 1][column] + 1);
            let swapped = above > 0
                && column > 0
                && from[above] == to[column - 1]
                && from[above - 1] == to[column];
            if swapped {
                fewest = fewest.min(rows[above - 1][column - 1] + 1);
            }
            rows[above + 1][column + 1] = fewest;
        }
    }
    rows[from.len()][to.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_known_name_is_suggested() {
        let known = ["rate", "period", "warm-up", "cycles"];
        assert_eq!(suggestion("rte", &known), "did you mean \"rate\"?");
        assert_eq!(suggestion("warm_up", &known), "did you mean \"warm-up\"?");
        assert_eq!(
            suggestion("zzzzzz", &known),
            "known are rate, period, warm-up and cycles"
        );
    }

    #[test]
    fn the_distance_counts_single_edits() {
        assert_eq!(distance("kitten", "sitting"), 3);
        assert_eq!(distance("", "abc"), 3);
        assert_eq!(distance("same", "same"), 0);
        assert_eq!(distance("cup", "cpu"), 1);
    }
}
