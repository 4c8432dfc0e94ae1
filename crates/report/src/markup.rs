//! Writes HTML and SVG so that no name can become markup: tags and attribute names are this
//! program's own words, and whatever else is written is escaped.

use crate::unbroken::unbroken;
use std::fmt::{Display, Write};

/// Attributes of an element: name and value.
pub(crate) type Attributes<'a> = &'a [(&'static str, &'a dyn Display)];

/// Elements whose text is copied, typed, or never broken.
const EXACT: [&str; 7] = ["code", "desc", "pre", "style", "text", "title", "tspan"];

/// Markup in the making.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(crate) struct Markup(String);

impl Markup {
    /// Markup of this program itself.
    pub(crate) fn raw(&mut self, markup: &'static str) {
        self.0.push_str(markup);
    }

    /// A script or style of this program's own, as it is.
    pub(crate) fn own(&mut self, tag: &'static str, text: &str) {
        let _ = write!(self.0, "<{tag}>{text}</{tag}>");
    }

    /// Text that people read, escaped.
    pub(crate) fn text(&mut self, text: impl Display) {
        self.exactly(unbroken(&text.to_string()));
    }

    /// Text to its last blank, escaped.
    fn exactly(&mut self, text: impl Display) {
        // Writing to a String can't fail.
        let _ = write!(Escaped(&mut self.0), "{text}");
    }

    /// A start tag.
    pub(crate) fn open(&mut self, tag: &'static str, attributes: Attributes<'_>) {
        self.0.push('<');
        self.0.push_str(tag);
        for (name, value) in attributes {
            self.0.push(' ');
            self.0.push_str(name);
            self.0.push_str("=\"");
            self.exactly(value);
            self.0.push('"');
        }
        self.0.push('>');
    }

    /// An end tag.
    pub(crate) fn close(&mut self, tag: &'static str) {
        let _ = write!(self.0, "</{tag}>");
    }

    /// An element with text in it.
    pub(crate) fn element(
        &mut self,
        tag: &'static str,
        attributes: Attributes<'_>,
        text: impl Display,
    ) {
        self.open(tag, attributes);
        if EXACT.contains(&tag) {
            self.exactly(text)
        } else {
            self.text(text)
        }
        self.close(tag);
    }

    /// A command to be typed, whose options are not broken after their dashes.
    pub(crate) fn command(&mut self, command: &str) {
        self.open("code", &[]);
        for (place, word) in command.split(' ').enumerate() {
            if place > 0 {
                self.0.push(' ');
            }
            if word.starts_with('-') {
                self.element("span", &[("class", &"word")], word)
            } else {
                self.exactly(word)
            }
        }
        self.close("code");
    }

    /// An element with a sentence in it; text between backticks is code.
    pub(crate) fn prose(
        &mut self,
        tag: &'static str,
        attributes: Attributes<'_>,
        sentence: impl Display,
    ) {
        self.open(tag, attributes);
        self.sentence(&sentence.to_string());
        self.close(tag);
    }

    /// A sentence within an element; text between backticks is code.
    pub(crate) fn sentence(&mut self, sentence: &str) {
        let parts: Vec<&str> = sentence.split('`').collect();
        // An odd mark, as in a name of the machine's, means nothing.
        if parts.len().is_multiple_of(2) {
            self.text(sentence);
            return;
        }
        for (place, part) in parts.into_iter().enumerate() {
            match place % 2 {
                0 => self.text(part),
                _ => self.command(part),
            }
        }
    }

    /// An element of SVG without content.
    pub(crate) fn shape(&mut self, tag: &'static str, attributes: Attributes<'_>) {
        self.open(tag, attributes);
        self.close(tag);
    }

    /// Other markup after this.
    pub(crate) fn append(&mut self, other: &Self) {
        self.0.push_str(&other.0);
    }

    /// Data for scripts, as JSON that no text in it can end or leave: HTML knows only `<` and `&`
    /// as special there, and JSON has another way to write both.
    pub(crate) fn data(&mut self, id: &str, json: &str) {
        self.open("script", &[("type", &"application/json"), ("id", &id)]);
        for part in json.split_inclusive(['<', '>', '&', '\u{2028}', '\u{2029}']) {
            let mut characters = part.chars();
            match characters.next_back() {
                Some(last @ ('<' | '>' | '&' | '\u{2028}' | '\u{2029}')) => {
                    self.0.push_str(characters.as_str());
                    let _ = write!(self.0, "\\u{:04x}", u32::from(last));
                }
                _ => self.0.push_str(part),
            }
        }
        self.close("script");
    }

    pub(crate) fn into_string(self) -> String {
        self.0
    }
}

struct Escaped<'a>(&'a mut String);

impl Write for Escaped<'_> {
    fn write_str(&mut self, text: &str) -> std::fmt::Result {
        for character in text.chars() {
            match character {
                '&' => self.0.push_str("&amp;"),
                '<' => self.0.push_str("&lt;"),
                '>' => self.0.push_str("&gt;"),
                '"' => self.0.push_str("&quot;"),
                '\'' => self.0.push_str("&#39;"),
                '\n' | '\t' => self.0.push(character),
                // Control characters have no place in either language; marks that turn the
                // direction of text round could make one name look like another.
                '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => self.0.push('\u{fffd}'),
                _ if character.is_control() => self.0.push('\u{fffd}'),
                _ => self.0.push(character),
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_stands_between_backticks_is_code_and_escaped() {
        let mut markup = Markup::default();
        markup.prose("p", &[], "type `show <RUN>` or `--json`.");
        markup.prose("p", &[], "one ` alone");
        let expected = "<p>type <code>show &lt;RUN&gt;</code> or <code><span class=\"word\">--json</span></code>.</p>\
             <p>one ` alone</p>";
        assert_eq!(markup.into_string(), expected);
    }

    const HOSTILE: &str = "</script><img src=x onerror=\"alert('1')\">&amp;\u{202e}\0";

    #[test]
    fn a_hostile_name_stays_text_in_elements_and_attributes() {
        let mut markup = Markup::default();
        markup.element("td", &[("title", &HOSTILE)], HOSTILE);
        let escaped = "&lt;/script&gt;&lt;img src=x onerror=&quot;alert(&#39;1&#39;)&quot;&gt;\
                       &amp;amp;\u{fffd}\u{fffd}";
        let expected = format!("<td title=\"{escaped}\">{escaped}</td>");
        assert_eq!(markup.into_string(), expected);
    }

    #[test]
    fn data_can_neither_end_its_script_nor_begin_another() {
        let json = serde_json::to_string(HOSTILE).unwrap();
        let mut markup = Markup::default();
        markup.data("data", &json);
        let text = markup.into_string();
        let inner = text
            .strip_prefix("<script type=\"application/json\" id=\"data\">")
            .and_then(|rest| rest.strip_suffix("</script>"))
            .unwrap();
        assert!(!inner.contains(['<', '>', '&']));
        assert_eq!(serde_json::from_str::<String>(inner).unwrap(), HOSTILE);
    }

    proptest! {
        #[test]
        fn any_text_comes_back_from_the_data_as_it_was(text: String) {
            let mut markup = Markup::default();
            markup.data("d", &serde_json::to_string(&text).unwrap());
            let whole = markup.into_string();
            let inner = &whole["<script type=\"application/json\" id=\"d\">".len()..];
            let inner = inner.strip_suffix("</script>").unwrap();
            prop_assert_eq!(serde_json::from_str::<String>(inner).unwrap(), text);
        }
    }
}
