//! Arguments of a log line: plain numbers and short texts, as they are copied in the loop.

use super::TEXT_BYTES;

/// One argument.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Argument<'a> {
    /// A number with a sign.
    Integer(i64),
    /// A number without one.
    Natural(u64),
    /// A number with a fraction.
    Real(f64),
    /// A text, cut to [`TEXT_BYTES`].
    Text(&'a str),
    /// An address.
    Address(u64),
}

/// Encoding of an argument: four bits of a record's head. C's types are distinguished, because C
/// reads each argument by its type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Code {
    /// `int` and shorter types.
    Int = 1,
    /// `unsigned int` and shorter types.
    UnsignedInt = 2,
    /// `long`.
    Long = 3,
    /// `unsigned long`.
    UnsignedLong = 4,
    /// `long long`.
    LongLong = 5,
    /// `unsigned long long`.
    UnsignedLongLong = 6,
    /// `double` and `float`.
    Double = 7,
    /// `const char *`.
    Text = 8,
    /// `void *`.
    Address = 9,
}

impl Code {
    /// From four bits; `None` for no argument.
    pub fn new(bits: u64) -> Option<Self> {
        Some(match bits & 15 {
            1 => Self::Int,
            2 => Self::UnsignedInt,
            3 => Self::Long,
            4 => Self::UnsignedLong,
            5 => Self::LongLong,
            6 => Self::UnsignedLongLong,
            7 => Self::Double,
            8 => Self::Text,
            9 => Self::Address,
            _ => return None,
        })
    }
}

impl Argument<'_> {
    /// How it travels.
    #[inline]
    pub(crate) const fn code(&self) -> Code {
        match self {
            Self::Integer(_) => Code::LongLong,
            Self::Natural(_) => Code::UnsignedLongLong,
            Self::Real(_) => Code::Double,
            Self::Text(_) => Code::Text,
            Self::Address(_) => Code::Address,
        }
    }

    /// Number of words.
    #[inline]
    pub(crate) const fn words(&self) -> usize {
        match self {
            Self::Text(text) => {
                let length = text.len();
                1 + if length < TEXT_BYTES {
                    length
                } else {
                    TEXT_BYTES
                }
                .div_ceil(8)
            }
            _ => 1,
        }
    }
}

macro_rules! from {
    ($($kind:ident as $wide:ty: $($narrow:ty)*;)*) => {
        $($(impl From<$narrow> for Argument<'_> {
            #[inline]
            fn from(value: $narrow) -> Self {
                Self::$kind(value as $wide)
            }
        })*)*
    };
}

from! {
    Integer as i64: i8 i16 i32 i64 isize;
    Natural as u64: u8 u16 u32 u64 usize;
    Real as f64: f32 f64;
}

impl From<bool> for Argument<'_> {
    #[inline]
    fn from(value: bool) -> Self {
        Self::Text(if value { "true" } else { "false" })
    }
}

impl<'a> From<&'a str> for Argument<'a> {
    #[inline]
    fn from(value: &'a str) -> Self {
        Self::Text(value)
    }
}
