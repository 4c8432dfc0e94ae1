//! In which of its sections a loop ended that said no word of its end. It reads nothing.

use wakepath_timeline::one_line;

/// In which sections a loop was when it ended: the end of a sentence, empty where it was in none.
pub fn within(sections: &[String]) -> String {
    let names: Vec<String> = sections
        .iter()
        .map(|name| format!("`{}`", one_line(name)))
        .collect();
    match &names[..] {
        [] => String::new(),
        [only] => format!(", within its section {only}"),
        several => format!(", within its sections {}", several.join(" and ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sections_end_the_sentence() {
        let [read, update] = ["read", "up\ndate"].map(str::to_owned);
        assert_eq!(within(&[]), "");
        assert_eq!(
            within(std::slice::from_ref(&read)),
            ", within its section `read`"
        );
        let both = within(&[read, update]);
        assert!(both.starts_with(", within its sections `read` and `up"));
        assert!(!both.contains('\n'));
    }
}
