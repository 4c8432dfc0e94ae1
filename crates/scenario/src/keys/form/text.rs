//! Words, names, paths and other texts.

use super::Form;
use crate::document::Node;
use crate::error::Finding;
use crate::keys::{Shape, listed, suggestion};
use crate::units::Complaint;
use toml::Value;
use wakepath_timeline::{is_unprintable, quoted};

/// One of several words.
pub(crate) struct Words<T: 'static>(pub(crate) &'static [(&'static str, T)]);

impl<T: Copy + PartialEq> Form for Words<T> {
    type Value = T;
    fn shape(&self) -> Shape {
        Shape::Choice(self.0.iter().map(|(word, _)| *word).collect())
    }
    fn remedy(&self) -> String {
        let words: Vec<String> = self.0.iter().map(|(word, _)| quoted(word)).collect();
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        format!("give one of {}", listed(&words))
    }
    fn read(&self, node: &Node<'_>) -> Result<T, Finding> {
        let text = node.text(&self.remedy())?;
        let found = self.0.iter().find(|(word, _)| *word == text);
        found.map(|(_, value)| *value).ok_or_else(|| {
            let words: Vec<&str> = self.0.iter().map(|(word, _)| *word).collect();
            node.refuse("is not a valid value here", suggestion(text, &words))
        })
    }
    fn write(&self, value: &T) -> Value {
        let found = self.0.iter().find(|(_, known)| known == value);
        found.map_or("", |(word, _)| word).into()
    }
}

/// A text that a rule accepts.
pub(crate) struct Text {
    pub(crate) shape: fn() -> Shape,
    pub(crate) remedy: &'static str,
    pub(crate) parse: fn(&str) -> Result<String, Complaint>,
}

impl Form for Text {
    type Value = String;
    fn shape(&self) -> Shape {
        (self.shape)()
    }
    fn remedy(&self) -> String {
        self.remedy.into()
    }
    fn read(&self, node: &Node<'_>) -> Result<String, Finding> {
        node.quantity(self.remedy, self.parse)
    }
    fn write(&self, text: &String) -> Value {
        text.as_str().into()
    }
}

/// Longest path or text, in bytes.
const LONGEST_TEXT: usize = 4096;

/// Text without a NUL.
pub(crate) const TEXT: Text = Text {
    shape: || Shape::Text,
    remedy: "give text in quotes",
    parse: |text| {
        if text.len() > LONGEST_TEXT {
            let problem = format!("has {} bytes", text.len());
            return Err(Complaint::new(
                problem,
                format!("give at most {LONGEST_TEXT}"),
            ));
        }
        if text.contains('\0') {
            return Err(Complaint::new("holds a NUL", "leave it out"));
        }
        Ok(text.to_owned())
    },
};

/// A file's path, or a program. It appears in tables and messages, so it must not contain a line break.
pub(crate) const fn path(remedy: &'static str) -> Text {
    Text {
        shape: || Shape::Line,
        remedy,
        parse: |text| match (TEXT.parse)(text)? {
            path if path.is_empty() => Err(Complaint::new("is empty", "give a path")),
            path if path.contains(is_unprintable) => Err(Complaint::new(
                "holds a control or invisible character",
                "give a path of printable characters",
            )),
            path => Ok(path),
        },
    }
}

/// Longest description, in characters.
const LONGEST_DESCRIPTION: usize = 2_000;

/// Text in one line: line breaks and runs of white space become single spaces.
pub(crate) const DESCRIPTION: Text = Text {
    shape: || Shape::Text,
    remedy: TEXT.remedy,
    parse: |text| {
        let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
        if line.chars().any(is_unprintable) {
            let problem = "holds a control or invisible character";
            return Err(Complaint::new(problem, "give printable text"));
        }
        match line.chars().count() {
            0..=LONGEST_DESCRIPTION => Ok(line),
            length => {
                let remedy = format!("give at most {LONGEST_DESCRIPTION}");
                Err(Complaint::new(format!("has {length} characters"), remedy))
            }
        }
    },
};

/// Longest accepted name, in characters.
pub(crate) const LONGEST_NAME: usize = 64;

/// A name, with an example: printable, bounded, and safe to show on a terminal or use in a path.
pub(crate) struct Name(pub(crate) &'static str);

impl Form for Name {
    type Value = String;
    fn shape(&self) -> Shape {
        Shape::Name
    }
    fn remedy(&self) -> String {
        "give a name in quotes".into()
    }
    fn missing(&self) -> String {
        format!("give one, such as name = \"{}\"", self.0)
    }
    fn read(&self, node: &Node<'_>) -> Result<String, Finding> {
        node.quantity(&self.remedy(), parse_name)
    }
    fn write(&self, name: &String) -> Value {
        name.as_str().into()
    }
}

fn parse_name(name: &str) -> Result<String, Complaint> {
    let bounded = format!("give up to {LONGEST_NAME} printable characters");
    let length = name.chars().count();
    Err(if name.is_empty() {
        Complaint::new("is empty", bounded)
    } else if length > LONGEST_NAME {
        Complaint::new(format!("has {length} characters"), bounded)
    } else if name.chars().any(is_unprintable) {
        Complaint::new("holds a control or invisible character", bounded)
    } else if name.contains(['/', '\\']) || name.starts_with('.') {
        let remedy = "leave out slashes and a leading dot";
        Complaint::new("could be taken for a path", remedy)
    } else if name.trim() != name || name.chars().any(|c| c.is_whitespace() && c != ' ') {
        let problem = "has white space at an end or other than plain spaces";
        Complaint::new(problem, "use plain spaces between words only")
    } else {
        return Ok(name.to_owned());
    })
}

/// One of these names.
pub(crate) fn built_in(text: &str, names: &[&str]) -> Result<String, Complaint> {
    if names.contains(&text) {
        Ok(text.to_owned())
    } else {
        Err(Complaint::new("is not built in", suggestion(text, names)))
    }
}

/// Most arguments of a program.
const MOST_ARGUMENTS: usize = 256;

/// Arguments, one text for each; with at least one of them, it names a program.
pub(crate) struct Arguments {
    least: usize,
    remedy: &'static str,
}

pub(crate) const ARGUMENTS: Arguments = Arguments {
    least: 0,
    remedy: "give a list of texts, one for each argument",
};

/// A program and its arguments.
pub(crate) const fn command(remedy: &'static str) -> Arguments {
    Arguments { least: 1, remedy }
}

impl Form for Arguments {
    type Value = Vec<String>;
    fn shape(&self) -> Shape {
        Shape::Texts(self.least, MOST_ARGUMENTS)
    }
    fn remedy(&self) -> String {
        self.remedy.into()
    }
    fn read(&self, node: &Node<'_>) -> Result<Vec<String>, Finding> {
        let items = node.items(MOST_ARGUMENTS, self.remedy)?;
        let texts: Vec<String> = items
            .iter()
            .map(|item| TEXT.read(item))
            .collect::<Result<_, _>>()?;
        if self.least > 0 && texts.first().is_none_or(String::is_empty) {
            return Err(node.refuse("names no program", self.remedy));
        }
        Ok(texts)
    }
    fn write(&self, texts: &Vec<String>) -> Value {
        texts.clone().into()
    }
}
