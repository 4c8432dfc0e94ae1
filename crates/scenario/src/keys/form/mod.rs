//! Forms of single values: each reads, writes and describes its own.

mod cpus;
mod quantity;
mod text;

pub(crate) use cpus::Cpus;
pub(crate) use quantity::{
    Boolean, Number, OfPeriod, Share, Whole, between, from, size, time, whole,
};
pub(crate) use text::{
    ARGUMENTS, DESCRIPTION, LONGEST_NAME, Name, TEXT, Text, Words, built_in, command, path,
};

use super::Shape;
use crate::document::Node;
use crate::error::Finding;
use crate::units::Complaint;
use toml::Value;

/// The form of a key's value.
pub(crate) trait Form {
    type Value: Clone + PartialEq;
    /// Its form for the schema and the reference page.
    fn shape(&self) -> Shape;
    /// The advice for a value of another type.
    fn remedy(&self) -> String;
    /// The advice if a required value is missing.
    fn missing(&self) -> String {
        self.remedy()
    }
    fn read(&self, node: &Node<'_>) -> Result<Self::Value, Finding>;
    fn write(&self, value: &Self::Value) -> Value;

    /// This form, or a word that means none.
    fn or_word(self, word: &'static str) -> OrWord<Self>
    where
        Self: Sized,
    {
        OrWord { word, form: self }
    }
}

/// A form, or a word that means none.
pub(crate) struct OrWord<F> {
    word: &'static str,
    form: F,
}

impl<F: Form> Form for OrWord<F> {
    type Value = Option<F::Value>;
    fn shape(&self) -> Shape {
        Shape::Either(vec![Shape::Choice(vec![self.word]), self.form.shape()])
    }
    fn remedy(&self) -> String {
        let remedy = self.form.remedy();
        let form = remedy.strip_prefix("give ").unwrap_or(&remedy);
        format!("give \"{}\" or {form}", self.word)
    }
    fn read(&self, node: &Node<'_>) -> Result<Option<F::Value>, Finding> {
        if node.as_text() == Some(self.word) {
            return Ok(None);
        }
        let read = self.form.read(node);
        read.map(Some).map_err(|finding| {
            let remedy = if finding.complaint.remedy == self.form.remedy() {
                self.remedy()
            } else {
                finding.complaint.remedy
            };
            let complaint = Complaint::new(finding.complaint.problem, remedy);
            Finding {
                complaint,
                ..finding
            }
        })
    }
    fn write(&self, value: &Option<F::Value>) -> Value {
        match value {
            None => self.word.into(),
            Some(value) => self.form.write(value),
        }
    }
}

/// A form whose value a field holds as another type.
pub(crate) struct Held<F: Form, T> {
    pub(crate) form: F,
    pub(crate) read: fn(F::Value) -> T,
    pub(crate) write: fn(&T) -> F::Value,
}

impl<F: Form, T: Clone + PartialEq> Form for Held<F, T> {
    type Value = T;
    fn shape(&self) -> Shape {
        self.form.shape()
    }
    fn remedy(&self) -> String {
        self.form.remedy()
    }
    fn missing(&self) -> String {
        self.form.missing()
    }
    fn read(&self, node: &Node<'_>) -> Result<T, Finding> {
        self.form.read(node).map(self.read)
    }
    fn write(&self, value: &T) -> Value {
        self.form.write(&(self.write)(value))
    }
}

/// A list of one form.
pub(crate) struct List<F> {
    pub(crate) item: F,
    pub(crate) least: usize,
    pub(crate) most: usize,
}

impl<F: Form> Form for List<F> {
    type Value = Vec<F::Value>;
    fn shape(&self) -> Shape {
        Shape::List(Box::new(self.item.shape()), self.least, self.most)
    }
    fn remedy(&self) -> String {
        let remedy = self.item.remedy();
        let item = remedy.strip_prefix("give ").unwrap_or(&remedy);
        format!("give a list, each {item}")
    }
    fn read(&self, node: &Node<'_>) -> Result<Vec<F::Value>, Finding> {
        let items = node.items(self.most, &self.remedy())?;
        if items.len() < self.least {
            let problem = format!("has {} items", items.len());
            return Err(node.refuse(problem, format!("give at least {}", self.least)));
        }
        items.iter().map(|item| self.item.read(item)).collect()
    }
    fn write(&self, items: &Vec<F::Value>) -> Value {
        Value::Array(items.iter().map(|item| self.item.write(item)).collect())
    }
}

/// A number from 1, or a word for one on each CPU, which a field holds as 0.
pub(crate) fn per_cpu(most: i64) -> Held<OrWord<Whole<u32>>, u32> {
    Held {
        form: whole(1, most).or_word("per-cpu"),
        read: |number| number.unwrap_or(0),
        write: |number| Some(*number).filter(|number| *number > 0),
    }
}
