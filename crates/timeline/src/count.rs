//! Counts as text, with the word for one and the word for several.

/// A count, in groups of three from five digits on: `1375`, `150 000`.
pub fn count(value: u64) -> String {
    let digits = value.to_string();
    if digits.len() < 5 {
        return digits;
    }
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(' ');
        }
        text.push(digit);
    }
    text
}

/// `1 miss`, `2 misses`.
pub fn counted(value: u64, one: &str, several: &str) -> String {
    format!(
        "{} {}",
        count(value),
        if value == 1 { one } else { several }
    )
}

/// `both policies`, `all 3 policies`, and `the policy` if there is only one.
pub fn all_of(value: u64, one: &str, several: &str) -> String {
    match value {
        1 => format!("the {one}"),
        2 => format!("both {several}"),
        _ => format!("all {} {several}", count(value)),
    }
}

/// The first `most` names of a list, and how many more there are: `a`, `b`, `3 more`.
pub fn first_and_more(mut names: Vec<String>, most: usize) -> Vec<String> {
    let more = names.len().saturating_sub(most);
    names.truncate(most);
    if more > 0 {
        names.push(format!("{more} more"));
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_list_ends_with_how_many_more_there_are() {
        let names = || ["a", "b", "c"].map(String::from).to_vec();
        assert_eq!(first_and_more(names(), 3), ["a", "b", "c"]);
        assert_eq!(first_and_more(names(), 1), ["a", "2 more"]);
    }

    #[test]
    fn two_are_both() {
        let all = [1, 2, 3].map(|value| all_of(value, "policy", "policies"));
        assert_eq!(all, ["the policy", "both policies", "all 3 policies"]);
    }

    #[test]
    fn one_is_no_plural_and_long_counts_are_in_groups() {
        let all = [0, 1, 2, 9_999, 10_000, 1_234_567];
        assert_eq!(
            all.map(|value| counted(value, "miss", "misses")),
            [
                "0 misses",
                "1 miss",
                "2 misses",
                "9999 misses",
                "10 000 misses",
                "1 234 567 misses"
            ]
        );
    }
}
