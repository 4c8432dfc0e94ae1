//! Text into HTML: whatever a board, a kernel or a run is called, it stays a name.

/// Text, escaped for use between tags and in quoted attributes.
pub(crate) fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for c in wakepath_timeline::one_line(text).chars() {
        match c {
            '&' => safe += "&amp;",
            '<' => safe += "&lt;",
            '>' => safe += "&gt;",
            '"' => safe += "&quot;",
            '\'' => safe += "&#39;",
            c => safe.push(c),
        }
    }
    safe
}

/// JSON, escaped for use in a script element: it contains no `<`.
pub(crate) fn json_in_page(value: &serde_json::Value) -> String {
    value.to_string().replace('<', "\\u003c")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_name_becomes_markup() {
        assert_eq!(
            escaped("<script>'\"&\u{202e}\n</script>"),
            "&lt;script&gt;&#39;&quot;&amp;\u{fffd}\u{fffd}&lt;/script&gt;"
        );
        let json = json_in_page(&serde_json::json!("</script><!--"));
        assert_eq!(json, "\"\\u003c/script>\\u003c!--\"");
    }
}
