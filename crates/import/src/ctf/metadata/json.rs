//! The metadata of CTF 2: a sequence of JSON texts, each a fragment that describes a class.

use super::{BrokenMetadata, EventType, Metadata, StreamType};
use crate::ctf::types::{DEEPEST, Type};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// Each fragment begins with it (RFC 7464).
const SEPARATOR: u8 = 0x1e;
/// Types and names that all fragments together are made of, at most.
const HEAVIEST: usize = 1 << 18;

type Read<T> = Result<T, BrokenMetadata>;
type Fragment = Map<String, Value>;

/// Fields that packets are read by.
const ROLES: [(&str, &str); 6] = [
    ("event-record-class-id", "id"),
    ("data-stream-class-id", "stream_id"),
    ("packet-total-length", "packet_size"),
    ("packet-content-length", "content_size"),
    (
        "discarded-event-record-counter-snapshot",
        "events_discarded",
    ),
    ("default-clock-timestamp", "timestamp_begin"),
];

pub(super) fn is_it(bytes: &[u8]) -> bool {
    bytes.first() == Some(&SEPARATOR)
}

pub(super) fn parse(bytes: &[u8]) -> Read<Metadata> {
    let mut reader = Reader::default();
    let mut metadata = Metadata {
        packet_header: empty(),
        streams: BTreeMap::new(),
        events: BTreeMap::new(),
        frequency: 1_000_000_000,
        clock: None,
        environment: BTreeMap::new(),
    };
    for text in bytes.split(|byte| *byte == SEPARATOR) {
        if text.iter().all(u8::is_ascii_whitespace) {
            continue;
        }
        let near = || {
            let shown = String::from_utf8_lossy(&text[..text.len().min(40)]).into_owned();
            BrokenMetadata::Near(shown)
        };
        let value: Value = serde_json::from_slice(text).map_err(|_| near())?;
        let fragment = value.as_object().ok_or_else(near)?;
        reader.fragment(fragment, &mut metadata)?.ok_or_else(near)?;
    }
    Ok(metadata)
}

fn empty() -> Type {
    Type::Struct {
        fields: Vec::new(),
        align: 1,
    }
}

#[derive(Default)]
struct Reader {
    aliases: BTreeMap<String, Type>,
    weight: usize,
}

impl Reader {
    /// Takes one fragment; `None` if a required part is missing.
    fn fragment(&mut self, of: &Fragment, to: &mut Metadata) -> Read<Option<()>> {
        let number = |name: &str| of.get(name).and_then(Value::as_u64).unwrap_or(0);
        match text(of, "type") {
            Some("preamble") => {
                if number("version") != 2 {
                    return Err(BrokenMetadata::Version(number("version").to_string()));
                }
            }
            Some("field-class-alias") => {
                let (Some(name), Some(class)) = (text(of, "name"), of.get("field-class")) else {
                    return Ok(None);
                };
                let class = self.class(class, 0)?;
                self.aliases.insert(name.to_owned(), class);
            }
            Some("trace-class") => {
                if let Some(class) = self.optional(of, "packet-header-field-class")? {
                    to.packet_header = class;
                }
                if let Some(environment) = of.get("environment").and_then(Value::as_object) {
                    let texts = environment.iter();
                    let texts = texts
                        .filter_map(|(name, of)| Some((name.clone(), of.as_str()?.to_owned())));
                    to.environment.extend(texts);
                }
            }
            Some("clock-class") => {
                to.frequency = Some(number("frequency"))
                    .filter(|hertz| *hertz > 0)
                    .unwrap_or(1_000_000_000);
                to.clock = text(of, "uid").map(str::to_owned);
            }
            Some("data-stream-class") => {
                let id = number("id");
                let stream = StreamType {
                    id,
                    packet_context: self
                        .optional(of, "packet-context-field-class")?
                        .unwrap_or_else(empty),
                    event_header: self.optional(of, "event-record-header-field-class")?,
                    event_context: self.optional(of, "event-record-common-context-field-class")?,
                };
                to.streams.insert(id, stream);
            }
            Some("event-record-class") => {
                let event = EventType {
                    name: text(of, "name").unwrap_or("").to_owned(),
                    context: self.optional(of, "specific-context-field-class")?,
                    fields: self.optional(of, "payload-field-class")?,
                };
                to.events
                    .insert((number("data-stream-class-id"), number("id")), event);
            }
            // Skip descriptions that later versions might add.
            Some(_) => {}
            None => return Ok(None),
        }
        Ok(Some(()))
    }

    fn optional(&mut self, of: &Fragment, name: &str) -> Read<Option<Type>> {
        of.get(name).map(|class| self.class(class, 0)).transpose()
    }

    /// A field class, or the name of one.
    fn class(&mut self, value: &Value, depth: usize) -> Read<Type> {
        if depth > DEEPEST {
            return Err(BrokenMetadata::TooDeep);
        }
        if let Some(name) = value.as_str() {
            let known = self.aliases.get(name).cloned();
            let known =
                known.ok_or_else(|| BrokenMetadata::Near(name.chars().take(40).collect()))?;
            self.weighs(known.weight())?;
            return Ok(known);
        }
        let near = || BrokenMetadata::Near(value.to_string().chars().take(40).collect());
        let of = value.as_object().ok_or_else(near)?;
        self.weighs(1)?;
        let made = self.described(of, depth)?.ok_or_else(near)?;
        if made.depth() > DEEPEST {
            return Err(BrokenMetadata::TooDeep);
        }
        Ok(with_role(of, made))
    }

    fn described(&mut self, of: &Fragment, depth: usize) -> Read<Option<Type>> {
        let number = |name: &str| of.get(name).and_then(Value::as_u64);
        let align = |name: &str| u32::try_from(number(name).unwrap_or(1)).ok();
        let (Some(kind), Some(own_align), Some(align)) = (
            text(of, "type"),
            align("alignment"),
            align("minimum-alignment"),
        ) else {
            return Ok(None);
        };
        let inner = |reader: &mut Self| {
            of.get("element-field-class")
                .map(|class| reader.class(class, depth + 1))
                .transpose()
        };
        let byte = |is_text| Type::Integer {
            bits: 8,
            align: 8,
            signed: false,
            is_instant: false,
            is_text,
        };
        let aligned = |of: Type| Type::Struct {
            fields: vec![(String::new(), of)],
            align,
        };
        Ok(match kind {
            "fixed-length-unsigned-integer"
            | "fixed-length-signed-integer"
            | "fixed-length-bit-array"
            | "fixed-length-bit-map"
            | "fixed-length-boolean"
            | "fixed-length-floating-point-number" => {
                if text(of, "byte-order") == Some("big-endian") {
                    return Err(BrokenMetadata::ByteOrder);
                }
                let bits = number("length").and_then(|bits| u32::try_from(bits).ok());
                let bits = bits.filter(|bits| (1..=64).contains(bits));
                bits.map(|bits| Type::Integer {
                    bits,
                    align: own_align,
                    signed: kind == "fixed-length-signed-integer",
                    is_instant: has_role(of, "default-clock-timestamp"),
                    is_text: false,
                })
            }
            "variable-length-unsigned-integer" => Some(Type::Variable { signed: false }),
            "variable-length-signed-integer" => Some(Type::Variable { signed: true }),
            "null-terminated-string" => Some(Type::Text),
            "static-length-string" | "static-length-blob" => number("length")
                .map(|length| Type::Array(Box::new(byte(kind.ends_with("string"))), length)),
            "dynamic-length-string" | "dynamic-length-blob" => {
                location(of, "length-field-location")
                    .map(|by| Type::Sequence(Box::new(byte(kind.ends_with("string"))), by))
            }
            "static-length-array" => match (inner(self)?, number("length")) {
                (Some(class), Some(length)) => Some(aligned(Type::Array(Box::new(class), length))),
                _ => None,
            },
            "dynamic-length-array" => match (inner(self)?, location(of, "length-field-location")) {
                (Some(class), Some(by)) => Some(aligned(Type::Sequence(Box::new(class), by))),
                _ => None,
            },
            "structure" => {
                let members = of.get("member-classes").and_then(Value::as_array);
                let mut fields = Vec::new();
                for member in members.into_iter().flatten() {
                    let (Some(name), Some(class)) = (
                        member.get("name").and_then(Value::as_str),
                        member.get("field-class"),
                    ) else {
                        return Ok(None);
                    };
                    fields.push((name.to_owned(), self.class(class, depth + 1)?));
                }
                Some(Type::Struct { fields, align })
            }
            "optional" => {
                let ranges = match ranges(of) {
                    Some(ranges) => ranges,
                    // By a boolean.
                    None => vec![(1, i128::MAX)],
                };
                let class = of.get("field-class");
                let class = class
                    .map(|class| self.class(class, depth + 1))
                    .transpose()?;
                let by = location(of, "selector-field-location");
                class
                    .zip(by)
                    .map(|(class, by)| Type::Choice(by, vec![(ranges, class)]))
            }
            "variant" => {
                let mut choices = Vec::new();
                let options = of.get("options").and_then(Value::as_array);
                for option in options.into_iter().flatten() {
                    let Some(option) = option.as_object() else {
                        return Ok(None);
                    };
                    let (Some(ranges), Some(class)) = (ranges(option), option.get("field-class"))
                    else {
                        return Ok(None);
                    };
                    choices.push((ranges, self.class(class, depth + 1)?));
                }
                location(of, "selector-field-location").map(|by| Type::Choice(by, choices))
            }
            _ => None,
        })
    }

    fn weighs(&mut self, more: usize) -> Read<()> {
        self.weight = self.weight.saturating_add(more);
        if self.weight > HEAVIEST {
            Err(BrokenMetadata::TooManyTypes)
        } else {
            Ok(())
        }
    }
}

fn text<'a>(of: &'a Fragment, name: &str) -> Option<&'a str> {
    of.get(name)?.as_str()
}

fn has_role(of: &Fragment, role: &str) -> bool {
    let roles = of.get("roles").and_then(Value::as_array);
    roles.is_some_and(|roles| roles.iter().any(|own| own.as_str() == Some(role)))
}

fn with_role(of: &Fragment, made: Type) -> Type {
    let known = ROLES.iter().find(|(role, _)| has_role(of, role));
    match known {
        Some((_, known_as)) => Type::Role(known_as, Box::new(made)),
        None => made,
    }
}

/// The name of the field that a location ends at.
fn location(of: &Fragment, name: &str) -> Option<String> {
    let location = of.get(name)?;
    // An array in early drafts.
    let path = location.get("path").unwrap_or(location).as_array()?;
    let last = path.iter().rev().find_map(Value::as_str)?;
    Some(last.to_owned())
}

fn ranges(of: &Fragment) -> Option<Vec<(i128, i128)>> {
    let ranges = of.get("selector-field-ranges")?.as_array()?;
    let end = |value: &Value| {
        let signed = value.as_i64().map(i128::from);
        signed.or_else(|| value.as_u64().map(i128::from))
    };
    let range = |range: &Value| Some((end(range.get(0)?)?, end(range.get(1)?)?));
    ranges.iter().map(range).collect()
}
