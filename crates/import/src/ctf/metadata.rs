//! What a trace's metadata says (TSDL, the description language of CTF 1.8): its types, streams and
//! events. What LTTng does not write of programs is refused.

use super::types::Type;
use std::collections::BTreeMap;

/// Bytes of metadata, at most.
const MOST_BYTES: usize = 16 << 20;
/// Blocks within blocks, at most.
const DEEPEST: usize = 12;
/// Types that one type is made of, at most: names may stand for types of names.
const HEAVIEST: usize = 4096;
/// A packet of metadata.
const PACKET_MAGIC: [u8; 4] = 0x75d1_1d57_u32.to_le_bytes();
const PACKET_HEAD: usize = 37;

/// Why metadata can't be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum BrokenMetadata {
    #[error("its metadata is cut short or not as LTTng writes it")]
    Packet,
    #[error("its metadata is longer than {MOST_BYTES} bytes")]
    TooLong,
    #[error("its metadata is not as LTTng writes it, near {0:?}")]
    Near(String),
    #[error("its metadata is nested deeper than LTTng writes it")]
    TooDeep,
    #[error("it was written on a machine of the other byte order: not read")]
    ByteOrder,
    #[error("CTF {0}; 1.8 is known")]
    Version(String),
}

/// One event's description.
#[derive(Debug, Default)]
pub(super) struct EventType {
    pub(super) name: String,
    pub(super) context: Option<Type>,
    pub(super) fields: Option<Type>,
}

/// One stream's description.
#[derive(Debug)]
pub(super) struct StreamType {
    pub(super) id: u64,
    pub(super) packet_context: Type,
    pub(super) event_header: Option<Type>,
    pub(super) event_context: Option<Type>,
}

/// What a trace says of itself.
#[derive(Debug)]
pub(crate) struct Metadata {
    pub(super) packet_header: Type,
    pub(super) streams: BTreeMap<u64, StreamType>,
    /// By stream and number.
    pub(super) events: BTreeMap<(u64, u64), EventType>,
    /// Of the clock, in hertz.
    frequency: u64,
    environment: BTreeMap<String, String>,
}

impl Metadata {
    /// Reads metadata, in packets as LTTng writes it or as text.
    pub(crate) fn parse(bytes: &[u8]) -> Result<Self, BrokenMetadata> {
        if bytes.len() > MOST_BYTES {
            return Err(BrokenMetadata::TooLong);
        }
        let text = unpacked(bytes)?;
        let text = String::from_utf8(text).map_err(|_| BrokenMetadata::Packet)?;
        let mut parser = Parser {
            rest: &text,
            ..Parser::default()
        };
        parser.top()?;
        let empty = || Type::Struct {
            fields: Vec::new(),
            align: 8,
        };
        Ok(Self {
            packet_header: parser.packet_header.unwrap_or_else(empty),
            streams: parser.streams,
            events: parser.events,
            frequency: parser
                .frequency
                .filter(|hertz| *hertz > 0)
                .unwrap_or(1_000_000_000),
            environment: parser.environment,
        })
    }

    /// What its environment says, such as `tracer_name`.
    pub(crate) fn environment(&self, name: &str) -> Option<&str> {
        self.environment.get(name).map(String::as_str)
    }

    pub(super) fn nanoseconds(&self, cycles: u64) -> Option<u64> {
        let ns = u128::from(cycles) * 1_000_000_000 / u128::from(self.frequency);
        u64::try_from(ns)
            .ok()
            .filter(|ns| i64::try_from(*ns).is_ok())
    }
}

/// The text within packets.
fn unpacked(bytes: &[u8]) -> Result<Vec<u8>, BrokenMetadata> {
    if !bytes.starts_with(&PACKET_MAGIC) {
        if bytes.starts_with(&0x75d1_1d57_u32.to_be_bytes()) {
            return Err(BrokenMetadata::ByteOrder);
        }
        return Ok(bytes.to_vec());
    }
    let mut rest = bytes;
    let mut text = Vec::new();
    while !rest.is_empty() {
        let head = rest.get(..PACKET_HEAD).ok_or(BrokenMetadata::Packet)?;
        let size = |at: usize| {
            let bits = u32::from_le_bytes(std::array::from_fn(|i| head[at + i]));
            bits as usize / 8
        };
        let (content, packet) = (size(24), size(28));
        let body = rest
            .get(PACKET_HEAD..content)
            .filter(|_| head.starts_with(&PACKET_MAGIC));
        text.extend_from_slice(body.ok_or(BrokenMetadata::Packet)?);
        rest = rest
            .get(packet.max(PACKET_HEAD)..)
            .filter(|_| packet >= content)
            .ok_or(BrokenMetadata::Packet)?;
    }
    Ok(text)
}

#[derive(Default)]
struct Parser<'a> {
    rest: &'a str,
    depth: usize,
    aliases: BTreeMap<String, Type>,
    structures: BTreeMap<String, Type>,
    packet_header: Option<Type>,
    streams: BTreeMap<u64, StreamType>,
    events: BTreeMap<(u64, u64), EventType>,
    frequency: Option<u64>,
    environment: BTreeMap<String, String>,
}

type Read<T> = Result<T, BrokenMetadata>;

impl<'a> Parser<'a> {
    fn wrong<T>(&self) -> Read<T> {
        let near: String = self.rest.chars().take(30).collect();
        Err(BrokenMetadata::Near(near))
    }

    fn skip_blanks(&mut self) {
        loop {
            self.rest = self.rest.trim_start();
            let comment = |end: &str, length: usize, rest: &'a str| {
                let at = rest.find(end).map(|at| at + length);
                &rest[at.unwrap_or(rest.len())..]
            };
            if self.rest.starts_with("/*") {
                self.rest = comment("*/", 2, self.rest);
            } else if self.rest.starts_with("//") {
                self.rest = comment("\n", 1, self.rest);
            } else {
                return;
            }
        }
    }

    /// Takes a sign where it stands next.
    fn takes(&mut self, sign: &str) -> bool {
        self.skip_blanks();
        match self.rest.strip_prefix(sign) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    fn needs(&mut self, sign: &str) -> Read<()> {
        match self.takes(sign) {
            true => Ok(()),
            false => self.wrong(),
        }
    }

    /// A word of letters, digits and what names are made of, or nothing.
    fn word(&mut self) -> &'a str {
        self.skip_blanks();
        let inside = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let end = self.rest.find(|c| !inside(c)).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest;
        word
    }

    /// Whether a word stands next, which is taken.
    fn takes_word(&mut self, wanted: &str) -> bool {
        let before = self.rest;
        if self.word() == wanted {
            return true;
        }
        self.rest = before;
        false
    }

    fn number(&mut self) -> Read<i128> {
        let negative = self.takes("-");
        let word = self.word();
        let word = word.trim_end_matches(['u', 'U', 'l', 'L']);
        let value = match word.strip_prefix("0x") {
            Some(digits) => i128::from_str_radix(digits, 16),
            None => word.parse(),
        };
        match value {
            Ok(value) => Ok(if negative { -value } else { value }),
            Err(_) => self.wrong(),
        }
    }

    fn quoted(&mut self) -> Read<String> {
        self.needs("\"")?;
        let mut text = String::new();
        let mut chars = self.rest.char_indices();
        while let Some((at, c)) = chars.next() {
            match c {
                '"' => {
                    self.rest = &self.rest[at + 1..];
                    return Ok(text);
                }
                '\\' => text.extend(chars.next().map(|(_, c)| c)),
                c => text.push(c),
            }
        }
        self.wrong()
    }

    /// What stands behind `name =`, as text.
    fn value(&mut self) -> Read<String> {
        self.skip_blanks();
        if self.rest.starts_with('"') {
            return self.quoted();
        }
        let end = self.rest.find([';', '}', '{']).unwrap_or(self.rest.len());
        let (value, rest) = self.rest.split_at(end);
        self.rest = rest;
        Ok(value.trim().to_owned())
    }

    fn top(&mut self) -> Read<()> {
        loop {
            self.skip_blanks();
            if self.rest.is_empty() {
                return Ok(());
            }
            let before = self.rest;
            match self.word() {
                "typealias" => self.alias()?,
                "trace" => self.trace()?,
                "env" => self.environment()?,
                "clock" => self.clock()?,
                "stream" => self.stream()?,
                "event" => self.event()?,
                "struct" | "enum" => {
                    self.rest = before;
                    self.kind()?;
                }
                // What callers of functions are and the like says nothing of events.
                "callsite" => {
                    self.needs("{")?;
                    while !self.takes("}") {
                        self.setting()?;
                    }
                }
                _ => {
                    self.rest = before;
                    return self.wrong();
                }
            }
            self.needs(";")?;
        }
    }

    fn alias(&mut self) -> Read<()> {
        let kind = self.kind()?;
        self.needs(":=")?;
        let name = self.several_words();
        self.aliases.insert(name, kind);
        Ok(())
    }

    /// Words up to a sign, such as `unsigned long`.
    fn several_words(&mut self) -> String {
        let mut words = Vec::new();
        loop {
            let word = self.word();
            if word.is_empty() {
                return words.join(" ");
            }
            words.push(word);
        }
    }

    /// `name = value;` or a type's `name := type;` that is of no interest.
    fn setting(&mut self) -> Read<(String, String)> {
        let mut name = self.word().to_owned();
        while self.takes(".") {
            name = format!("{name}.{}", self.word());
        }
        if name.is_empty() {
            return self.wrong();
        }
        self.needs("=")?;
        let value = self.value()?;
        self.needs(";")?;
        Ok((name, value))
    }

    /// Whether `name := type;` stands next; then its type.
    fn typed(&mut self, wanted: &str) -> Read<Option<Type>> {
        let before = self.rest;
        self.skip_blanks();
        if let Some(rest) = self.rest.strip_prefix(wanted) {
            self.rest = rest;
            if self.takes(":=") {
                let kind = self.kind()?;
                self.needs(";")?;
                return Ok(Some(kind));
            }
        }
        self.rest = before;
        Ok(None)
    }

    fn trace(&mut self) -> Read<()> {
        self.needs("{")?;
        let (mut major, mut minor) = (String::new(), String::new());
        while !self.takes("}") {
            if let Some(kind) = self.typed("packet.header")? {
                self.packet_header = Some(kind);
                continue;
            }
            match self.setting()? {
                (name, value) if name == "byte_order" && value != "le" => {
                    return Err(BrokenMetadata::ByteOrder);
                }
                (name, value) if name == "major" => major = value,
                (name, value) if name == "minor" => minor = value,
                _ => {}
            }
        }
        match (&*major, &*minor) {
            ("1", "8") => Ok(()),
            _ => Err(BrokenMetadata::Version(format!("{major}.{minor}"))),
        }
    }

    fn environment(&mut self) -> Read<()> {
        self.needs("{")?;
        while !self.takes("}") {
            let (name, value) = self.setting()?;
            self.environment.insert(name, value);
        }
        Ok(())
    }

    fn clock(&mut self) -> Read<()> {
        self.needs("{")?;
        while !self.takes("}") {
            let (name, value) = self.setting()?;
            if name == "freq" {
                self.frequency = value.parse().ok();
            }
        }
        Ok(())
    }

    fn stream(&mut self) -> Read<()> {
        self.needs("{")?;
        let mut found = StreamType {
            id: 0,
            packet_context: Type::Struct {
                fields: Vec::new(),
                align: 8,
            },
            event_header: None,
            event_context: None,
        };
        while !self.takes("}") {
            if let Some(kind) = self.typed("event.header")? {
                found.event_header = Some(kind);
            } else if let Some(kind) = self.typed("event.context")? {
                found.event_context = Some(kind);
            } else if let Some(kind) = self.typed("packet.context")? {
                found.packet_context = kind;
            } else if let (name, value) = self.setting()?
                && name == "id"
            {
                found.id = value.parse().or_else(|_| self.wrong())?;
            }
        }
        self.streams.insert(found.id, found);
        Ok(())
    }

    fn event(&mut self) -> Read<()> {
        self.needs("{")?;
        let mut found = EventType::default();
        let (mut id, mut stream) = (0, 0);
        while !self.takes("}") {
            if let Some(kind) = self.typed("fields")? {
                found.fields = Some(kind);
            } else if let Some(kind) = self.typed("context")? {
                found.context = Some(kind);
            } else {
                let (name, value) = self.setting()?;
                match name.as_str() {
                    "name" => found.name = value,
                    "id" => id = value.parse().or_else(|_| self.wrong())?,
                    "stream_id" => stream = value.parse().or_else(|_| self.wrong())?,
                    _ => {}
                }
            }
        }
        self.events.insert((stream, id), found);
        Ok(())
    }

    /// A type.
    fn kind(&mut self) -> Read<Type> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(BrokenMetadata::TooDeep);
        }
        let found = self.kind_within();
        self.depth -= 1;
        found
    }

    fn kind_within(&mut self) -> Read<Type> {
        if self.takes_word("integer") {
            return self.integer();
        }
        if self.takes_word("string") {
            if self.takes("{") {
                while !self.takes("}") {
                    self.setting()?;
                }
            }
            return Ok(Type::Text);
        }
        if self.takes_word("floating_point") {
            return self.floating_point();
        }
        if self.takes_word("struct") {
            return self.structure();
        }
        if self.takes_word("enum") {
            return self.enumeration();
        }
        if self.takes_word("variant") {
            return self.variant();
        }
        // An alias may be of several words, of which the last is the field's name.
        let before = self.rest;
        let mut name = self.word().to_owned();
        let mut found = None;
        loop {
            if let Some(kind) = self.aliases.get(&name) {
                found = Some((kind.clone(), self.rest));
            }
            let word = self.word();
            if word.is_empty() {
                break;
            }
            name = format!("{name} {word}");
        }
        match found {
            Some((kind, rest)) => {
                self.rest = rest;
                Ok(kind)
            }
            None => {
                self.rest = before;
                self.wrong()
            }
        }
    }

    fn integer(&mut self) -> Read<Type> {
        let (mut bits, mut align, mut signed) = (0, None, false);
        let (mut is_instant, mut is_text) = (false, false);
        self.needs("{")?;
        while !self.takes("}") {
            let (name, value) = self.setting()?;
            let number = || value.parse::<u32>();
            match name.as_str() {
                "size" => bits = number().or_else(|_| self.wrong())?,
                "align" => align = Some(number().or_else(|_| self.wrong())?),
                "signed" => signed = ["1", "true", "TRUE"].contains(&&*value),
                "map" => is_instant = value.starts_with("clock."),
                "encoding" => is_text = ["UTF8", "ASCII"].contains(&&*value),
                "byte_order" if value == "be" => return Err(BrokenMetadata::ByteOrder),
                _ => {}
            }
        }
        if !(1..=64).contains(&bits) {
            return self.wrong();
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
    fn floating_point(&mut self) -> Read<Type> {
        let (mut bits, mut align) = (0, 8);
        self.needs("{")?;
        while !self.takes("}") {
            let (name, value) = self.setting()?;
            let number = || value.parse::<u32>();
            match name.as_str() {
                "exp_dig" | "mant_dig" => bits += number().or_else(|_| self.wrong())?.min(64),
                "align" => align = number().or_else(|_| self.wrong())?,
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
            _ => self.wrong(),
        }
    }

    fn structure(&mut self) -> Read<Type> {
        let name = self.word();
        if !self.takes("{") {
            return match self.structures.get(name) {
                Some(known) => Ok(known.clone()),
                None => self.wrong(),
            };
        }
        let fields = self.fields()?;
        let mut align = 1;
        if self.takes_word("align") {
            self.needs("(")?;
            align = u32::try_from(self.number()?).or_else(|_| self.wrong())?;
            self.needs(")")?;
        }
        let made = Type::Struct { fields, align };
        if !name.is_empty() {
            self.structures.insert(name.to_owned(), made.clone());
        }
        Ok(made)
    }

    /// Fields up to the closing brace.
    fn fields(&mut self) -> Read<Vec<(String, Type)>> {
        let mut fields = Vec::new();
        let mut weight = 0;
        while !self.takes("}") {
            let mut kind = self.kind()?;
            let name = self.word().to_owned();
            while self.takes("[") {
                self.skip_blanks();
                kind = match self.rest.starts_with(|c: char| c.is_ascii_digit()) {
                    true => {
                        let count = u64::try_from(self.number()?).or_else(|_| self.wrong())?;
                        Type::Array(Box::new(kind), count)
                    }
                    false => Type::Sequence(Box::new(kind), self.word().to_owned()),
                };
                self.needs("]")?;
            }
            self.needs(";")?;
            weight += kind.weight();
            if weight > HEAVIEST {
                return Err(BrokenMetadata::TooDeep);
            }
            fields.push((name, kind));
        }
        Ok(fields)
    }

    fn enumeration(&mut self) -> Read<Type> {
        let _name = self.word();
        self.needs(":")?;
        let of = self.kind()?;
        self.needs("{")?;
        let mut names = Vec::new();
        let mut next = 0;
        while !self.takes("}") {
            self.skip_blanks();
            let name = match self.rest.starts_with('"') {
                true => self.quoted()?,
                false => self.word().to_owned(),
            };
            if name.is_empty() {
                return self.wrong();
            }
            let (mut low, mut high) = (next, next);
            if self.takes("=") {
                low = self.number()?;
                high = low;
                if self.takes("...") {
                    high = self.number()?;
                }
            }
            next = high.saturating_add(1);
            names.push((name, low, high));
            self.takes(",");
        }
        Ok(Type::Enumeration(Box::new(of), names))
    }

    fn variant(&mut self) -> Read<Type> {
        let _name = self.word();
        self.needs("<")?;
        let tag = self.word().to_owned();
        self.needs(">")?;
        self.needs("{")?;
        Ok(Type::Variant(tag, self.fields()?))
    }
}
