//! The section in which a loop ended that did not report its end. It reads nothing.

use wakepath_timeline::one_line;

/// The sections that a loop was in when it ended: the end of a sentence, none if it was in none.
pub fn within(sections: &[String]) -> Option<String> {
    let names: Vec<String> = sections
        .iter()
        .map(|name| format!("`{}`", one_line(name)))
        .collect();
    match &names[..] {
        [] => None,
        [only] => Some(format!("within its section {only}")),
        several => Some(format!("within its sections {}", several.join(" and "))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sections_end_the_sentence() {
        let [read, update] = ["read", "up\ndate"].map(str::to_owned);
        assert_eq!(within(&[]), None);
        assert_eq!(
            within(std::slice::from_ref(&read)).as_deref(),
            Some("within its section `read`")
        );
        let both = within(&[read, update]).unwrap();
        assert!(both.starts_with("within its sections `read` and `up"));
        assert!(!both.contains('\n'));
    }
}
