//! A parsed TOML document in which every value knows its key and its place, so that each refusal
//! can name them. It knows no scenario keys.

use crate::error::Finding;
use crate::units::Complaint;
use std::ops::RangeInclusive;
use toml::Spanned;
use toml::de::{DeTable, DeValue};
use wakepath_timeline::{quoted, shortened};

/// A value with its key and place.
#[derive(Debug, Clone)]
pub(crate) struct Node<'a> {
    pub(crate) key: String,
    /// Place in the text, in bytes.
    at: usize,
    value: &'a DeValue<'a>,
}

impl<'a> Node<'a> {
    fn new(key: String, value: &'a Spanned<DeValue<'a>>) -> Self {
        Self {
            key,
            at: value.span().start,
            value: value.get_ref(),
        }
    }

    /// A refusal of this value that shows it.
    pub(crate) fn refuse(&self, problem: impl Into<String>, remedy: impl Into<String>) -> Finding {
        let complaint = Complaint::new(problem, remedy);
        Finding {
            at: self.at,
            key: self.key.clone(),
            found: self.shown(),
            complaint,
        }
    }

    fn shown(&self) -> String {
        // The parser accepts any text as a broken number.
        let short = |text: &str| shortened(text, 40);
        match self.value {
            DeValue::String(text) => quoted(text),
            DeValue::Integer(number) => short(number.as_str()),
            DeValue::Float(number) => short(number.as_str()),
            DeValue::Boolean(value) => value.to_string(),
            DeValue::Datetime(date) => short(&date.to_string()),
            DeValue::Array(_) | DeValue::Table(_) => String::new(),
        }
    }

    fn wrong_type(&self, remedy: impl Into<String>) -> Finding {
        let problem = match self.value {
            DeValue::String(_) => "is text",
            DeValue::Integer(_) | DeValue::Float(_) => "is a bare number",
            DeValue::Boolean(_) => "is a truth value",
            DeValue::Datetime(_) => "is a date",
            DeValue::Array(_) => "is a list",
            DeValue::Table(_) => "is a table",
        };
        self.refuse(problem, remedy)
    }

    pub(crate) fn as_text(&self) -> Option<&'a str> {
        self.value.as_str()
    }

    pub(crate) fn is_integer(&self) -> bool {
        self.value.is_integer()
    }

    /// The text; `remedy` is the advice if it is something else.
    pub(crate) fn text(&self, remedy: &str) -> Result<&'a str, Finding> {
        self.as_text().ok_or_else(|| self.wrong_type(remedy))
    }

    /// A quantity read from text by `read`.
    pub(crate) fn quantity<T>(
        &self,
        remedy: &str,
        read: impl FnOnce(&str) -> Result<T, Complaint>,
    ) -> Result<T, Finding> {
        read(self.text(remedy)?)
            .map_err(|complaint| self.refuse(complaint.problem, complaint.remedy))
    }

    /// A whole number within `range`.
    pub(crate) fn integer(&self, range: RangeInclusive<i64>) -> Result<i64, Finding> {
        let (least, most) = (*range.start(), *range.end());
        let remedy = format!("give a whole number from {least} to {most}");
        let DeValue::Integer(number) = self.value else {
            return Err(match self.value {
                DeValue::Float(_) => self.refuse("is not a whole number", remedy),
                _ => self.wrong_type(remedy),
            });
        };
        match i64::from_str_radix(number.as_str(), number.radix()) {
            Ok(value) if range.contains(&value) => Ok(value),
            Ok(value) if value < least => Err(self.refuse(format!("is less than {least}"), remedy)),
            _ => Err(self.refuse(format!("is more than {most}"), remedy)),
        }
    }

    /// A finite number, whole or decimal.
    pub(crate) fn number(&self, remedy: &str) -> Result<f64, Finding> {
        let value = match self.value {
            DeValue::Float(number) => number.as_str().parse::<f64>().ok(),
            DeValue::Integer(number) => i64::from_str_radix(number.as_str(), number.radix())
                .ok()
                .map(|number| number as f64),
            _ => return Err(self.wrong_type(remedy)),
        };
        value
            .filter(|value| value.is_finite())
            .ok_or_else(|| self.refuse("is not a finite number", remedy))
    }

    pub(crate) fn boolean(&self) -> Result<bool, Finding> {
        self.value
            .as_bool()
            .ok_or_else(|| self.wrong_type("give true or false"))
    }

    /// The items of a list, at most `most`.
    pub(crate) fn items(&self, most: usize, remedy: &str) -> Result<Vec<Node<'a>>, Finding> {
        let list = self
            .value
            .as_array()
            .ok_or_else(|| self.wrong_type(remedy))?;
        if list.len() > most {
            let problem = format!("has {} items", list.len());
            return Err(self.refuse(problem, format!("give at most {most}")));
        }
        let item = |(index, value)| Node::new(format!("{}[{index}]", self.key), value);
        Ok(list.iter().enumerate().map(item).collect())
    }

    /// The table that the value is.
    pub(crate) fn table(&self, remedy: &str) -> Result<Section<'a>, Finding> {
        let table = self
            .value
            .as_table()
            .ok_or_else(|| self.wrong_type(remedy))?;
        Ok(Section {
            node: self.clone(),
            table,
        })
    }
}

/// A table with its key and place.
#[derive(Debug, Clone)]
pub(crate) struct Section<'a> {
    pub(crate) node: Node<'a>,
    table: &'a DeTable<'a>,
}

impl<'a> Section<'a> {
    /// The document's root. `value` is the root table as a value.
    pub(crate) fn root(value: &'a Spanned<DeValue<'a>>) -> Option<Self> {
        let node = Node {
            at: 0,
            ..Node::new(String::new(), value)
        };
        Some(Self {
            table: value.get_ref().as_table()?,
            node,
        })
    }

    /// Full key of an entry, such as `criterion.latency`, quoted if necessary and cut at 40
    /// characters.
    fn full_key(&self, name: &str) -> String {
        let bare = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
        let name = if !name.is_empty() && name.len() <= 40 && name.chars().all(bare) {
            name.to_owned()
        } else {
            quoted(name)
        };
        if self.node.key.is_empty() {
            name
        } else {
            format!("{}.{name}", self.node.key)
        }
    }

    pub(crate) fn get(&self, name: &str) -> Option<Node<'a>> {
        let value = self.table.get(name)?;
        Some(Node::new(self.full_key(name), value))
    }

    /// The entry, which is required; `remedy` is the advice if it is missing.
    pub(crate) fn need(&self, name: &str, remedy: &str) -> Result<Node<'a>, Finding> {
        self.get(name).ok_or_else(|| self.missing(name, remedy))
    }

    /// The refusal of a table that lacks an entry.
    pub(crate) fn missing(&self, name: &str, remedy: &str) -> Finding {
        let complaint = Complaint::new("is missing", remedy);
        Finding {
            at: self.node.at,
            key: self.full_key(name),
            found: String::new(),
            complaint,
        }
    }

    /// Names of all entries.
    pub(crate) fn names(&self) -> impl Iterator<Item = &'a str> {
        self.table.keys().map(|key| key.get_ref().as_ref())
    }

    /// A refusal at the entry's key.
    pub(crate) fn refuse_key(
        &self,
        name: &str,
        problem: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Finding {
        let at = match self.table.get_key_value(name) {
            Some((key, _)) => key.span().start,
            None => self.node.at,
        };
        let complaint = Complaint::new(problem, remedy);
        Finding {
            at,
            key: self.full_key(name),
            found: String::new(),
            complaint,
        }
    }
}
