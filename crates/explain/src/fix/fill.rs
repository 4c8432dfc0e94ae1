//! Names in a sentence.

/// Replaces each `{}` of the text by one of these names, in order. Placeholders in a name are not replaced.
pub(super) fn fill(text: &str, names: &[&str]) -> String {
    debug_assert_eq!(text.matches("{}").count(), names.len(), "{text}");
    let mut names = names.iter();
    let mut parts = text.split("{}");
    let mut filled = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        filled.push_str(names.next().unwrap_or(&"…"));
        filled.push_str(part);
    }
    filled
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_thread_named_like_a_place_stays_as_it_is() {
        assert_eq!(super::fill("{} above {}.", &["{}", "b"]), "{} above b.");
    }
}
