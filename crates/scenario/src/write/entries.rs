//! Keys and values of a TOML table in the order in which they are added. It knows no scenario.

use serde::Serialize;
use toml::{Table, Value};

/// A table under way.
#[derive(Default)]
pub(super) struct Entries(Table);

impl Entries {
    pub(super) fn new() -> Self {
        Self::default()
    }

    /// A value that serialises as a table: a structure of words and lists.
    pub(super) fn of(value: &impl Serialize) -> Self {
        Self(Table::try_from(value).expect("words and lists are TOML"))
    }

    pub(super) fn with(mut self, key: &str, value: impl Into<Value>) -> Self {
        self.0.insert(key.to_owned(), value.into());
        self
    }

    /// The entry, if there is one.
    pub(super) fn maybe(self, key: &str, value: Option<impl Into<Value>>) -> Self {
        match value {
            Some(value) => self.with(key, value),
            None => self,
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Appends all entries of another table.
    pub(super) fn and(mut self, more: Self) -> Self {
        self.0.extend(more.0);
        self
    }

    /// The table as a file.
    pub(super) fn into_text(self) -> String {
        toml::to_string_pretty(&self.0).expect("a table is TOML")
    }
}

impl From<Entries> for Value {
    fn from(entries: Entries) -> Self {
        Self::Table(entries.0)
    }
}

/// A choice as the word that it serialises to.
pub(super) fn word(choice: impl Serialize) -> Value {
    Value::try_from(choice).expect("a word is TOML")
}
