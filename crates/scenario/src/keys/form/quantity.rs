//! Times, sizes, shares and numbers.

use super::Form;
use crate::document::Node;
use crate::error::Finding;
use crate::keys::Shape;
use crate::units::{format_size, parse_duration, parse_of_period, parse_share, parse_size};
use std::marker::PhantomData;
use toml::Value;
use wakepath_timeline::duration::{exact, exact_ascii};

/// A time in nanoseconds.
pub(crate) struct Time {
    example: &'static str,
    least: u64,
    most: u64,
    /// Length in nanoseconds of the unit that it must be a multiple of, and the name of several.
    unit: (u64, &'static str),
    /// Whether the reader checks the range.
    is_checked: bool,
}

pub(crate) const fn time(example: &'static str) -> Time {
    Time {
        example,
        least: 0,
        most: u64::MAX,
        unit: (1, "nanoseconds"),
        is_checked: true,
    }
}

impl Time {
    pub(crate) const fn in_units_of(self, ns: u64, name: &'static str) -> Self {
        Self {
            unit: (ns, name),
            ..self
        }
    }

    /// In this range as far as the schema is concerned; the reader has better words for it.
    pub(crate) const fn described_within(self, least: u64, most: u64) -> Self {
        Self {
            is_checked: false,
            ..self.within(least, most)
        }
    }

    pub(crate) const fn above_0(self) -> Self {
        Self { least: 1, ..self }
    }

    pub(crate) const fn within(self, least: u64, most: u64) -> Self {
        Self {
            least,
            most,
            ..self
        }
    }
}

impl Form for Time {
    type Value = u64;
    fn shape(&self) -> Shape {
        Shape::Time(self.least, self.most)
    }
    fn remedy(&self) -> String {
        let what = match self.unit {
            (1, _) => "a time".to_owned(),
            (_, unit) => format!("whole {unit}"),
        };
        let range = if self.least > 1 {
            format!(
                " from \"{}\" to \"{}\",",
                bound(self.least),
                bound(self.most)
            )
        } else {
            String::new()
        };
        format!("give {what}{range} such as \"{}\"", self.example)
    }
    fn read(&self, node: &Node<'_>) -> Result<u64, Finding> {
        match node.quantity(&self.remedy(), parse_duration)? {
            ns if ns % self.unit.0 != 0 => {
                let problem = format!("is not a whole number of {}", self.unit.1);
                Err(node.refuse(problem, self.remedy()))
            }
            ns if !self.is_checked => Ok(ns),
            0 if self.least > 0 => Err(node.refuse("is not a time above 0", self.remedy())),
            ns if ns < self.least => Err(node.refuse(
                format!("is shorter than {}", bound(self.least)),
                format!("give at least \"{}\"", bound(self.least)),
            )),
            ns if ns > self.most => Err(node.refuse(
                format!("is longer than {}", bound(self.most)),
                format!("give at most \"{}\"", bound(self.most)),
            )),
            ns => Ok(ns),
        }
    }
    fn write(&self, ns: &u64) -> Value {
        exact_ascii(*ns).into()
    }
}

/// A bound of times, as people write it.
fn bound(ns: u64) -> String {
    const HOUR_NS: u64 = 3_600_000_000_000;
    match ns {
        ns if ns % HOUR_NS == 0 => format!("{} h", ns / HOUR_NS),
        ns => exact(ns),
    }
}

/// A size in bytes.
pub(crate) struct Size {
    least: u64,
    most: u64,
}

pub(crate) const fn size(least: u64, most: u64) -> Size {
    Size { least, most }
}

impl Form for Size {
    type Value = u64;
    fn shape(&self) -> Shape {
        Shape::Size(self.least, self.most)
    }
    fn remedy(&self) -> String {
        "give a size such as \"64 KiB\"".into()
    }
    fn read(&self, node: &Node<'_>) -> Result<u64, Finding> {
        match node.quantity(&self.remedy(), parse_size)? {
            bytes if bytes < self.least => {
                let least = format_size(self.least);
                Err(node.refuse("is too small", format!("give at least \"{least}\"")))
            }
            bytes if bytes > self.most => {
                let most = format_size(self.most);
                Err(node.refuse("is too large", format!("give at most \"{most}\"")))
            }
            bytes => Ok(bytes),
        }
    }
    fn write(&self, bytes: &u64) -> Value {
        format_size(*bytes).into()
    }
}

/// A time above 0, as such or in terms of the period.
pub(crate) struct OfPeriod {
    pub(crate) period_ns: u64,
}

impl Form for OfPeriod {
    type Value = u64;
    fn shape(&self) -> Shape {
        Shape::OfPeriod
    }
    fn remedy(&self) -> String {
        "give a time or a share of the period, such as \"400 µs\", \"10 %\" or \"3 periods\"".into()
    }
    fn read(&self, node: &Node<'_>) -> Result<u64, Finding> {
        let period_ns = self.period_ns;
        match node.quantity(&self.remedy(), |text| parse_of_period(text, period_ns))? {
            0 => Err(node.refuse("allows no time", self.remedy())),
            ns => Ok(ns),
        }
    }
    fn write(&self, ns: &u64) -> Value {
        exact_ascii(*ns).into()
    }
}

/// A number from 0 to below 1, or a percentage.
pub(crate) struct Share {
    /// Whether 0 is refused.
    pub(crate) above_0: bool,
}

impl Form for Share {
    type Value = f64;
    fn shape(&self) -> Shape {
        Shape::Share {
            above_0: self.above_0,
        }
    }
    fn remedy(&self) -> String {
        let (from, example) = if self.above_0 {
            ("above 0 and", "\"50 %\"")
        } else {
            ("from 0 to", "0.005 or \"0.5 %\"")
        };
        format!("give a share {from} below 1, such as {example}")
    }
    fn read(&self, node: &Node<'_>) -> Result<f64, Finding> {
        let value = if node.as_text().is_some() {
            node.quantity(&self.remedy(), parse_share)?
        } else {
            node.number(&self.remedy())?
        };
        if value < 0.0 || (self.above_0 && value == 0.0) {
            Err(node.refuse("is too small", self.remedy()))
        } else if value >= 1.0 {
            Err(node.refuse("is not below 1", self.remedy()))
        } else {
            // Adding 0 turns −0 into 0.
            Ok(value + 0.0)
        }
    }
    fn write(&self, share: &f64) -> Value {
        (*share).into()
    }
}

/// A number in a range.
pub(crate) struct Number {
    from: f64,
    with_from: bool,
    below: f64,
}

/// A number between the two, exclusive.
pub(crate) const fn between(above: f64, below: f64) -> Number {
    Number {
        from: above,
        with_from: false,
        below,
    }
}

/// A number from the first to below the second.
pub(crate) const fn from(from: f64, below: f64) -> Number {
    Number {
        from,
        with_from: true,
        below,
    }
}

impl Form for Number {
    type Value = f64;
    fn shape(&self) -> Shape {
        Shape::Number(self.from, self.with_from, self.below)
    }
    fn remedy(&self) -> String {
        let (from, below) = (self.from, self.below);
        if self.with_from {
            format!("give a number from {from} to below {below}")
        } else {
            format!("give a number above {from} and below {below}")
        }
    }
    fn read(&self, node: &Node<'_>) -> Result<f64, Finding> {
        let value = node.number(&self.remedy())?;
        let in_range = value > self.from || (self.with_from && value == self.from);
        if in_range && value < self.below {
            Ok(value)
        } else {
            Err(node.refuse("is out of range", self.remedy()))
        }
    }
    fn write(&self, number: &f64) -> Value {
        (*number).into()
    }
}

/// Integers that a model's fields have.
pub(crate) trait Int: Copy + PartialEq {
    fn from_i64(value: i64) -> Self;
    fn to_i64(self) -> i64;
}

macro_rules! ints {
    ($($int:ty),+) => {$(
        impl Int for $int {
            fn from_i64(value: i64) -> Self {
                value as Self
            }
            fn to_i64(self) -> i64 {
                self as i64
            }
        }
    )+};
}
ints!(i8, u8, u16, u32, u64);

/// A whole number in a range that the field's type has.
pub(crate) struct Whole<T> {
    least: i64,
    most: i64,
    int: PhantomData<T>,
}

pub(crate) const fn whole<T: Int>(least: i64, most: i64) -> Whole<T> {
    Whole {
        least,
        most,
        int: PhantomData,
    }
}

impl<T: Int> Form for Whole<T> {
    type Value = T;
    fn shape(&self) -> Shape {
        Shape::Integer(self.least, self.most)
    }
    fn remedy(&self) -> String {
        format!("give a whole number from {} to {}", self.least, self.most)
    }
    fn read(&self, node: &Node<'_>) -> Result<T, Finding> {
        node.integer(self.least..=self.most).map(T::from_i64)
    }
    fn write(&self, number: &T) -> Value {
        number.to_i64().into()
    }
}

/// True or false.
pub(crate) struct Boolean;

impl Form for Boolean {
    type Value = bool;
    fn shape(&self) -> Shape {
        Shape::Boolean
    }
    fn remedy(&self) -> String {
        "give true or false".into()
    }
    fn read(&self, node: &Node<'_>) -> Result<bool, Finding> {
        node.boolean()
    }
    fn write(&self, value: &bool) -> Value {
        (*value).into()
    }
}
