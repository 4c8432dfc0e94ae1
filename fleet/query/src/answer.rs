//! An answer: columns and rows of the four kinds of values that any two engines write alike. It knows no
//! engine.

use serde_json::json;
use wakepath_timeline::columns::width;
use wakepath_timeline::one_line;

/// A value of an answer.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// No value.
    Null,
    /// An integer, of nanoseconds as a rule.
    Integer(i64),
    /// A binary fraction.
    Real(f64),
    /// A text.
    Text(String),
    /// True or false.
    Flag(bool),
}

impl Value {
    /// The integer, if it is one.
    pub fn integer(&self) -> Option<i64> {
        match self {
            Self::Integer(value) => Some(*value),
            _ => None,
        }
    }

    /// As a table cell: one line, whatever the text contains.
    pub fn shown(&self) -> String {
        match self {
            Self::Null => String::new(),
            Self::Integer(value) => value.to_string(),
            Self::Real(value) => value.to_string(),
            Self::Text(text) => one_line(text),
            Self::Flag(value) => value.to_string(),
        }
    }

    fn to_json(&self) -> serde_json::Value {
        match self {
            Self::Null => serde_json::Value::Null,
            Self::Integer(value) => json!(value),
            Self::Real(value) => json!(value),
            Self::Text(text) => json!(text),
            Self::Flag(value) => json!(value),
        }
    }
}

/// Columns and rows.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Answer {
    /// The columns' names.
    pub columns: Vec<String>,
    /// The rows, each as long.
    pub rows: Vec<Vec<Value>>,
}

impl Answer {
    /// Index of a column.
    pub fn column(&self, name: &str) -> Option<usize> {
        self.columns.iter().position(|column| column == name)
    }

    /// Takes a column out.
    pub(crate) fn without(&mut self, names: &[&str]) {
        for name in names {
            if let Some(at) = self.column(name) {
                self.columns.remove(at);
                self.rows.iter_mut().for_each(|row| drop(row.remove(at)));
            }
        }
    }

    /// As a table for a terminal. Numbers end at the same column.
    pub fn to_text(&self) -> String {
        let cells: Vec<Vec<String>> = self
            .rows
            .iter()
            .map(|row| row.iter().map(Value::shown).collect())
            .collect();
        let widths: Vec<usize> = (0..self.columns.len())
            .map(|at| {
                let of_rows = cells.iter().map(|row| width(&row[at]));
                of_rows.chain([width(&self.columns[at])]).max().unwrap_or(0)
            })
            .collect();
        let is_number = |at: usize| {
            let number = |row: &Vec<Value>| matches!(row[at], Value::Integer(_) | Value::Real(_));
            self.rows.iter().any(number)
        };
        let mut text = String::new();
        for row in std::iter::once(&self.columns).chain(&cells) {
            let mut line = String::new();
            for (at, cell) in row.iter().enumerate() {
                let blank = " ".repeat(widths[at] - width(cell));
                let cell = if is_number(at) {
                    format!("{blank}{cell}")
                } else {
                    format!("{cell}{blank}")
                };
                line += if at > 0 { "  " } else { "" };
                line += &cell;
            }
            text += line.trim_end();
            text.push('\n');
        }
        text
    }

    /// As CSV (RFC 4180), texts as they are.
    pub fn to_csv(&self) -> String {
        let field = |text: &str| {
            if text.contains([',', '"', '\n', '\r']) {
                format!("\"{}\"", text.replace('"', "\"\""))
            } else {
                text.to_owned()
            }
        };
        let names: Vec<String> = self.columns.iter().map(|name| field(name)).collect();
        let mut csv = names.join(",") + "\r\n";
        for row in &self.rows {
            let cells: Vec<String> = row.iter().map(|value| field(&value.shown())).collect();
            csv += &(cells.join(",") + "\r\n");
        }
        csv
    }

    /// One line of JSON: an object for each row.
    pub fn to_json(&self) -> String {
        let rows: Vec<serde_json::Value> = self
            .rows
            .iter()
            .map(|row| {
                let cells = self
                    .columns
                    .iter()
                    .cloned()
                    .zip(row.iter().map(Value::to_json));
                serde_json::Value::Object(cells.collect())
            })
            .collect();
        serde_json::Value::Array(rows).to_string() + "\n"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer() -> Answer {
        Answer {
            columns: vec!["board".to_owned(), "worst_ns".to_owned()],
            rows: vec![
                vec![
                    Value::Text("a,\"b\"\u{1b}[2J".to_owned()),
                    Value::Integer(-5),
                ],
                vec![Value::Text("c".to_owned()), Value::Null],
            ],
        }
    }

    #[test]
    fn a_hostile_name_stays_a_name_in_every_form() {
        let text = answer().to_text();
        assert_eq!(
            text,
            "board      worst_ns\na,\"b\"\u{fffd}[2J        -5\nc\n"
        );
        assert_eq!(
            answer().to_csv(),
            "board,worst_ns\r\n\"a,\"\"b\"\"\u{fffd}[2J\",-5\r\nc,\r\n"
        );
        let json = answer().to_json();
        assert!(json.contains("\\u001b") && json.contains("null"), "{json}");
    }
}
