//! Types of fields, and fields read by them.

use super::bits::Bits;

/// A field has no deeper structure, and no more elements.
pub(super) const DEEPEST: usize = 16;
const MOST_ELEMENTS: u64 = 1 << 16;

/// How a field is laid out. Sizes and alignments are bits.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Type {
    Integer {
        bits: u32,
        align: u32,
        signed: bool,
        /// Whether it is an instant of the trace's clock.
        is_instant: bool,
        /// Whether it is a character.
        is_text: bool,
    },
    /// A number of as many bytes as it needs, seven bits in each.
    Variable {
        signed: bool,
    },
    Text,
    Struct {
        fields: Vec<(String, Type)>,
        align: u32,
    },
    Array(Box<Type>, u64),
    /// Its length is in an earlier field.
    Sequence(Box<Type>, String),
    /// Names for ranges of an integer.
    Enumeration(Box<Type>, Vec<(String, i128, i128)>),
    /// One of several, by the name of an enumeration's value.
    Variant(String, Vec<(String, Type)>),
    /// One of several, or none, by the value of an earlier field.
    Choice(String, Vec<(Vec<(i128, i128)>, Type)>),
    /// A field that packets are read by, whatever it is called, and by which name they know it.
    Role(&'static str, Box<Type>),
}

/// A field's value.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Value {
    Integer(i128),
    Text(String),
}

/// Fields read so far, by their names without the underscore that LTTng puts before them.
#[derive(Debug, Default, Clone)]
pub(crate) struct Fields {
    pub(super) all: Vec<(String, Value)>,
    labels: Vec<(String, String)>,
    /// An instant and its bits.
    pub(super) instant: Option<(u64, u32)>,
}

impl Fields {
    pub(crate) fn integer(&self, name: &str) -> Option<i128> {
        self.all.iter().rev().find_map(|(own, value)| match value {
            Value::Integer(value) if own == name => Some(*value),
            _ => None,
        })
    }

    /// The number that was read first of this name: a packet's, before the event's own.
    pub(crate) fn first(&self, name: &str) -> Option<i128> {
        self.all.iter().find_map(|(own, value)| match value {
            Value::Integer(value) if own == name => Some(*value),
            _ => None,
        })
    }

    pub(super) fn unsigned(&self, name: &str) -> Option<u64> {
        u64::try_from(self.integer(name)?).ok()
    }

    pub(crate) fn text(&self, name: &str) -> Option<&str> {
        self.all.iter().rev().find_map(|(own, value)| match value {
            Value::Text(text) if own == name => Some(&**text),
            _ => None,
        })
    }

    fn label(&self, name: &str) -> Option<&str> {
        let found = self.labels.iter().rev().find(|(own, _)| own == name);
        found.map(|(_, label)| &**label)
    }
}

impl Type {
    /// Reads a field of this type; `None` if it extends beyond the packet.
    pub(super) fn read(&self, name: &str, bits: &mut Bits<'_>, to: &mut Fields) -> Option<()> {
        self.read_at(name, bits, to, 0)
    }

    fn read_at(
        &self,
        name: &str,
        bits: &mut Bits<'_>,
        to: &mut Fields,
        depth: usize,
    ) -> Option<()> {
        if depth > DEEPEST {
            return None;
        }
        let name = name.strip_prefix('_').unwrap_or(name);
        match self {
            Self::Integer {
                bits: length,
                align,
                signed,
                is_instant,
                ..
            } => {
                bits.align(*align)?;
                let raw = bits.number(*length)?;
                if *is_instant {
                    to.instant = Some((raw, *length));
                }
                let value = match signed {
                    true if *length < 64 && raw >> (length - 1) == 1 => {
                        i128::from(raw) - (1_i128 << length)
                    }
                    true => i128::from(raw.cast_signed()),
                    false => raw.into(),
                };
                to.all.push((name.to_owned(), Value::Integer(value)));
            }
            Self::Variable { signed } => {
                bits.align(8)?;
                let value = bits.variable(*signed)?;
                to.all.push((name.to_owned(), Value::Integer(value)));
            }
            Self::Text => {
                bits.align(8)?;
                let text = bits.text()?;
                to.all.push((name.to_owned(), Value::Text(text)));
            }
            Self::Struct { fields, align } => {
                bits.align(self.alignment().max(*align))?;
                for (name, of) in fields {
                    of.read_at(name, bits, to, depth + 1)?;
                }
            }
            Self::Array(of, count) => elements(of, *count, name, bits, to, depth)?,
            Self::Sequence(of, length) => {
                let length = length.strip_prefix('_').unwrap_or(length);
                let count = to.unsigned(length)?;
                elements(of, count, name, bits, to, depth)?;
            }
            Self::Enumeration(of, names) => {
                of.read_at(name, bits, to, depth + 1)?;
                let value = to.integer(name)?;
                let found = names
                    .iter()
                    .find(|(_, low, high)| (*low..=*high).contains(&value));
                if let Some((label, ..)) = found {
                    to.labels.push((name.to_owned(), label.clone()));
                }
            }
            Self::Variant(tag, choices) => {
                let tag = tag.strip_prefix('_').unwrap_or(tag);
                let label = to.label(tag)?.to_owned();
                let (name, of) = choices.iter().find(|(own, _)| *own == label)?;
                of.read_at(name, bits, to, depth + 1)?;
            }
            Self::Choice(by, choices) => {
                let value = to.integer(by)?;
                let holds = |ranges: &[(i128, i128)]| {
                    ranges
                        .iter()
                        .any(|(low, high)| (*low..=*high).contains(&value))
                };
                if let Some((_, of)) = choices.iter().find(|(ranges, _)| holds(ranges)) {
                    of.read_at(name, bits, to, depth + 1)?;
                }
            }
            Self::Role(known_as, of) => {
                of.read_at(name, bits, to, depth + 1)?;
                let value = to.integer(name)?;
                to.all.push(((*known_as).to_owned(), Value::Integer(value)));
            }
        }
        Some(())
    }

    /// How many types and names it is made of.
    pub(super) fn weight(&self) -> usize {
        let of_all = |fields: &[(String, Self)]| {
            let inner = fields.iter().map(|(_, of)| of.weight());
            inner.fold(1_usize, usize::saturating_add)
        };
        match self {
            Self::Integer { .. } | Self::Variable { .. } | Self::Text => 1,
            Self::Role(_, of) => of.weight().saturating_add(1),
            Self::Choice(_, choices) => {
                let inner = choices
                    .iter()
                    .map(|(ranges, of)| of.weight().saturating_add(ranges.len()));
                inner.fold(1_usize, usize::saturating_add)
            }
            Self::Struct { fields, .. } | Self::Variant(_, fields) => of_all(fields),
            Self::Array(of, _) | Self::Sequence(of, _) => of.weight().saturating_add(1),
            Self::Enumeration(of, names) => {
                let own = names.len().saturating_add(1);
                of.weight().saturating_add(own)
            }
        }
    }

    /// How many types are within each other, itself not counted.
    pub(super) fn depth(&self) -> usize {
        let below = match self {
            Self::Integer { .. } | Self::Variable { .. } | Self::Text => return 0,
            Self::Role(_, of) => Some(of.depth()),
            Self::Choice(_, choices) => choices.iter().map(|(_, of)| of.depth()).max(),
            Self::Struct { fields, .. } | Self::Variant(_, fields) => {
                fields.iter().map(|(_, of)| of.depth()).max()
            }
            Self::Array(of, _) | Self::Sequence(of, _) | Self::Enumeration(of, _) => {
                Some(of.depth())
            }
        };
        below.map_or(0, |below| below + 1)
    }

    /// Its alignment: of a structure the largest of its fields'.
    fn alignment(&self) -> u32 {
        match self {
            Self::Integer { align, .. } => *align,
            Self::Text | Self::Variable { .. } => 8,
            Self::Role(_, of) => of.alignment(),
            Self::Struct { fields, align } => {
                let inner = fields.iter().map(|(_, of)| of.alignment());
                inner.fold(*align, u32::max)
            }
            Self::Array(of, _) | Self::Sequence(of, _) | Self::Enumeration(of, _) => of.alignment(),
            Self::Variant(..) | Self::Choice(..) => 1,
        }
    }
}

fn elements(
    of: &Type,
    count: u64,
    name: &str,
    bits: &mut Bits<'_>,
    to: &mut Fields,
    depth: usize,
) -> Option<()> {
    if count > MOST_ELEMENTS {
        return None;
    }
    if let Type::Integer {
        bits: 8,
        is_text: true,
        ..
    } = of
    {
        let mut bytes = Vec::new();
        for _ in 0..count {
            bytes.push(u8::try_from(bits.number(8)?).ok()?);
        }
        let end = bytes
            .iter()
            .position(|&byte| byte == 0)
            .unwrap_or(bytes.len());
        let text = String::from_utf8_lossy(&bytes[..end]).into_owned();
        to.all.push((name.to_owned(), Value::Text(text)));
        return Some(());
    }
    bits.align(of.alignment())?;
    let before = to.all.len();
    for _ in 0..count {
        let begin = bits.at();
        of.read_at(name, bits, to, depth + 1)?;
        // Elements without bits would never end.
        (bits.at() > begin).then_some(())?;
        // Of an array nothing is asked for.
        to.all.truncate(before);
    }
    Some(())
}
