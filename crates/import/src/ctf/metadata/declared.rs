//! Types as metadata declares them, and names for earlier declarations. Names for names would grow without
//! end, so all types together have a weight.

use super::BrokenMetadata;
use super::tokens::{MOST_WORDS, Read, Tokens};
use crate::ctf::types::{DEEPEST as DEEPEST_FIELD, Type};
use std::collections::BTreeMap;

/// Types within types, at most.
const DEEPEST: usize = 12;
/// Maximum number of types and names in one type: names can refer to types made of names.
const HEAVIEST: usize = 4096;
/// Types and names that all types together are made of, at most: many times what LTTng describes.
const HEAVIEST_TOGETHER: usize = 1 << 18;

/// The types that were read, those with names remembered.
#[derive(Default)]
pub(super) struct Declared {
    depth: usize,
    weight: usize,
    aliases: BTreeMap<String, Type>,
    structures: BTreeMap<String, Type>,
}

impl Declared {
    /// A `typealias` was read: a type and its name.
    pub(super) fn alias(&mut self, from: &mut Tokens<'_>) -> Read<()> {
        let kind = self.kind(from)?;
        from.needs(":=")?;
        let name = from.several_words()?;
        self.aliases.insert(name, kind);
        Ok(())
    }

    /// Whether `name := type;` comes next; then its type.
    pub(super) fn typed(&mut self, from: &mut Tokens<'_>, wanted: &str) -> Read<Option<Type>> {
        let before = *from;
        if from.takes(wanted) && from.takes(":=") {
            let kind = self.kind(from)?;
            from.needs(";")?;
            return Ok(Some(kind));
        }
        *from = before;
        Ok(None)
    }

    /// A type.
    pub(super) fn kind(&mut self, from: &mut Tokens<'_>) -> Read<Type> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(BrokenMetadata::TooDeep);
        }
        let found = self.kind_within(from);
        self.depth -= 1;
        found
    }

    fn kind_within(&mut self, from: &mut Tokens<'_>) -> Read<Type> {
        let before = *from;
        match from.word() {
            "integer" => self.made(integer(from)?),
            "floating_point" => self.made(floating_point(from)?),
            "string" => {
                if from.takes("{") {
                    while !from.takes("}") {
                        from.setting()?;
                    }
                }
                self.made(Type::Text)
            }
            "struct" => self.structure(from),
            "enum" => self.enumeration(from),
            "variant" => self.variant(from),
            _ => {
                *from = before;
                self.named(from)
            }
        }
    }

    /// A type by its name. It may be of several words, of which the last is the field's name.
    fn named(&mut self, from: &mut Tokens<'_>) -> Read<Type> {
        let before = *from;
        let mut name = from.word().to_owned();
        let mut found = None;
        for _ in 0..MOST_WORDS {
            if let Some(kind) = self.aliases.get(&name) {
                found = Some((kind, *from));
            }
            let word = from.word();
            if word.is_empty() {
                break;
            }
            name = format!("{name} {word}");
        }
        let Some((kind, after)) = found else {
            return before.wrong();
        };
        *from = after;
        let (kind, weight) = (kind.clone(), kind.weight());
        self.weighs(weight)?;
        Ok(kind)
    }

    fn structure(&mut self, from: &mut Tokens<'_>) -> Read<Type> {
        let name = from.word();
        if !from.takes("{") {
            let Some(known) = self.structures.get(name) else {
                return from.wrong();
            };
            let (known, weight) = (known.clone(), known.weight());
            self.weighs(weight)?;
            return Ok(known);
        }
        let fields = self.fields(from)?;
        let mut align = 1;
        if from.takes_word("align") {
            from.needs("(")?;
            align = u32::try_from(from.number()?).or_else(|_| from.wrong())?;
            from.needs(")")?;
        }
        let made = self.made(Type::Struct { fields, align })?;
        if !name.is_empty() {
            self.weighs(made.weight())?;
            self.structures.insert(name.to_owned(), made.clone());
        }
        Ok(made)
    }

    /// Fields up to the closing brace.
    fn fields(&mut self, from: &mut Tokens<'_>) -> Read<Vec<(String, Type)>> {
        let mut fields = Vec::new();
        let mut weight = 0;
        while !from.takes("}") {
            let mut kind = self.kind(from)?;
            weight += kind.weight();
            let name = from.word().to_owned();
            while from.takes("[") {
                from.skip_blanks();
                kind = if from.rest.starts_with(|c: char| c.is_ascii_digit()) {
                    let count = u64::try_from(from.number()?).or_else(|_| from.wrong())?;
                    Type::Array(Box::new(kind), count)
                } else {
                    Type::Sequence(Box::new(kind), from.word().to_owned())
                };
                from.needs("]")?;
                weight += 1;
                kind = self.made(kind)?;
            }
            from.needs(";")?;
            within(weight)?;
            fields.push((name, kind));
        }
        Ok(fields)
    }

    fn enumeration(&mut self, from: &mut Tokens<'_>) -> Read<Type> {
        let _name = from.word();
        from.needs(":")?;
        let of = self.kind(from)?;
        from.needs("{")?;
        let mut names = Vec::new();
        let mut next = 0;
        while !from.takes("}") {
            from.skip_blanks();
            let name = if from.rest.starts_with('"') {
                from.quoted()?
            } else {
                from.word().to_owned()
            };
            if name.is_empty() {
                return from.wrong();
            }
            let (mut low, mut high) = (next, next);
            if from.takes("=") {
                low = from.number()?;
                high = low;
                if from.takes("...") {
                    high = from.number()?;
                }
            }
            next = high.saturating_add(1);
            names.push((name, low, high));
            within(names.len())?;
            self.weighs(1)?;
            from.takes(",");
        }
        self.made(Type::Enumeration(Box::new(of), names))
    }

    fn variant(&mut self, from: &mut Tokens<'_>) -> Read<Type> {
        let _name = from.word();
        from.needs("<")?;
        let tag = from.word().to_owned();
        from.needs(">")?;
        from.needs("{")?;
        let fields = self.fields(from)?;
        self.made(Type::Variant(tag, fields))
    }

    /// A type of parts that have been weighed. Names let it be deeper than its text is.
    fn made(&mut self, kind: Type) -> Read<Type> {
        self.weighs(1)?;
        if kind.depth() > DEEPEST_FIELD {
            Err(BrokenMetadata::TooDeep)
        } else {
            Ok(kind)
        }
    }

    fn weighs(&mut self, more: usize) -> Read<()> {
        self.weight = self.weight.saturating_add(more);
        if self.weight > HEAVIEST_TOGETHER {
            Err(BrokenMetadata::TooManyTypes)
        } else {
            Ok(())
        }
    }
}

/// Whether one type may be so heavy.
fn within(weight: usize) -> Read<()> {
    if weight > HEAVIEST {
        Err(BrokenMetadata::TooDeep)
    } else {
        Ok(())
    }
}

fn integer(from: &mut Tokens<'_>) -> Read<Type> {
    let (mut bits, mut align, mut signed) = (0, None, false);
    let (mut is_instant, mut is_text) = (false, false);
    from.needs("{")?;
    while !from.takes("}") {
        let (name, value) = from.setting()?;
        let number = || value.parse::<u32>();
        match name.as_str() {
            "size" => bits = number().or_else(|_| from.wrong())?,
            "align" => align = Some(number().or_else(|_| from.wrong())?),
            "signed" => signed = ["1", "true", "TRUE"].contains(&&*value),
            "map" => is_instant = value.starts_with("clock."),
            "encoding" => is_text = ["UTF8", "ASCII"].contains(&&*value),
            "byte_order" if value == "be" => return Err(BrokenMetadata::ByteOrder),
            _ => {}
        }
    }
    if !(1..=64).contains(&bits) {
        return from.wrong();
    }
    Ok(Type::Integer {
        bits,
        align: align.unwrap_or(if bits % 8 == 0 { 8 } else { 1 }),
        signed,
        is_instant,
        is_text,
    })
}

/// Read as a number of its bits: none of the events that are understood has one.
fn floating_point(from: &mut Tokens<'_>) -> Read<Type> {
    let (mut bits, mut align) = (0, 8);
    from.needs("{")?;
    while !from.takes("}") {
        let (name, value) = from.setting()?;
        let number = || value.parse::<u32>();
        match name.as_str() {
            "exp_dig" | "mant_dig" => bits += number().or_else(|_| from.wrong())?.min(64),
            "align" => align = number().or_else(|_| from.wrong())?,
            _ => {}
        }
    }
    match bits {
        1..=64 => Ok(Type::Integer {
            bits,
            align,
            signed: false,
            is_instant: false,
            is_text: false,
        }),
        _ => from.wrong(),
    }
}
