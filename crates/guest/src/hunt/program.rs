//! A program: system calls with their arguments. Its `Display` is the text that `text` parses.

use std::fmt::{self, Display, Formatter};

/// Most calls of a program.
pub const MOST_CALLS: usize = 24;

/// A sequence of system calls.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct Program {
    /// In the order of execution.
    pub calls: Vec<Call>,
}

/// A system call.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Call {
    /// The kernel's name of it.
    pub name: String,
    /// Number of times that it is called in a row.
    pub times: u32,
    /// At most six.
    pub arguments: Vec<Value>,
}

/// An argument.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Value {
    /// A number.
    Number(u64),
    /// The result of an earlier call; -1 if that failed.
    Result(usize),
    /// 32 bits that an earlier call wrote into its first block or room.
    Written {
        /// The call.
        call: usize,
        /// Offset in bytes.
        offset: u32,
    },
    /// Address of a text that ends with a zero byte.
    Text(String),
    /// Address of this number of zero bytes.
    Room(u64),
    /// Address of fields without gaps.
    Block(Vec<Field>),
}

/// A field of a block.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Field {
    /// Its value.
    pub value: Value,
    /// Its width: 1, 2, 4 or 8 bytes.
    pub bytes: u8,
}

impl Program {
    /// Whether every call uses only calls before it, and nothing exceeds its limit.
    pub fn is_sound(&self) -> bool {
        let mut calls = self.calls.iter().enumerate();
        self.calls.len() <= MOST_CALLS
            && calls.all(|(number, call)| {
                let mut arguments = call.arguments.iter();
                call.arguments.len() <= 6
                    && arguments.all(|value| value.uses().iter().all(|used| *used < number))
            })
    }

    /// The same without one call. Arguments that used its result become -1.
    pub fn without(&self, removed: usize) -> Self {
        let mut calls = self.calls.clone();
        calls.remove(removed);
        for call in &mut calls {
            for value in &mut call.arguments {
                value.renumber(&|used| match used {
                    used if used == removed => None,
                    used if used > removed => Some(used - 1),
                    used => Some(used),
                });
            }
        }
        Self { calls }
    }
}

impl Value {
    /// Numbers of the calls that it uses.
    pub fn uses(&self) -> Vec<usize> {
        match self {
            Self::Result(call) | Self::Written { call, .. } => vec![*call],
            Self::Block(fields) => fields.iter().flat_map(|field| field.value.uses()).collect(),
            Self::Number(_) | Self::Text(_) | Self::Room(_) => Vec::new(),
        }
    }

    /// Replaces the numbers of the calls that it uses; without one it becomes -1.
    pub fn renumber(&mut self, new: &impl Fn(usize) -> Option<usize>) {
        match self {
            Self::Result(call) | Self::Written { call, .. } => match new(*call) {
                Some(number) => *call = number,
                None => *self = Self::Number(u64::MAX),
            },
            Self::Block(fields) => {
                for field in fields {
                    field.value.renumber(new);
                }
            }
            Self::Number(_) | Self::Text(_) | Self::Room(_) => {}
        }
    }
}

impl Display for Program {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        for (number, call) in self.calls.iter().enumerate() {
            writeln!(f, "r{number} = {call}")?;
        }
        Ok(())
    }
}

impl Display for Call {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if self.times != 1 {
            write!(f, "{} x ", self.times)?;
        }
        write!(f, "{}(", self.name)?;
        for (number, value) in self.arguments.iter().enumerate() {
            let comma = if number > 0 { ", " } else { "" };
            write!(f, "{comma}{value}")?;
        }
        write!(f, ")")
    }
}

impl Display for Value {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => match *number as i64 {
                small @ -4096..=9 => write!(f, "{small}"),
                _ => write!(f, "{number:#x}"),
            },
            Self::Result(call) => write!(f, "r{call}"),
            Self::Written { call, offset } => write!(f, "r{call}@{offset}"),
            Self::Text(text) => write!(f, "{text:?}"),
            Self::Room(bytes) => write!(f, "room({bytes})"),
            Self::Block(fields) => {
                write!(f, "{{")?;
                for (number, field) in fields.iter().enumerate() {
                    let space = if number > 0 { " " } else { "" };
                    write!(f, "{space}{}/{}", field.value, field.bytes)?;
                }
                write!(f, "}}")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::parse;

    #[test]
    fn a_removed_call_takes_its_uses_with_it_and_renumbers_the_others() {
        let text =
            "r0 = dup(1)\nr1 = socket(2, 1, 0)\nr2 = dup2(r0, r1)\nr3 = read(r2, {r1/8}, 8)\n";
        let program = parse(text).unwrap();
        let without = "r0 = socket(2, 1, 0)\nr1 = dup2(-1, r0)\nr2 = read(r1, {r0/8}, 8)\n";
        assert_eq!(program.without(0).to_string(), without);
        assert!(program.is_sound() && program.without(0).is_sound());
    }

    #[test]
    fn a_call_that_uses_a_later_one_is_not_sound() {
        assert!(!parse("r0 = dup(r0)\n").unwrap().is_sound());
        assert!(
            !parse("r0 = read(0, {r1@4/8}, 8)\nr1 = dup(0)\n")
                .unwrap()
                .is_sound()
        );
    }
}
