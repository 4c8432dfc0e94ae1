//! The blocks of metadata: the trace, its clock, its streams and its events.

use super::declared::Declared;
use super::tokens::{Read, Tokens};
use super::{BrokenMetadata, EventType, StreamType};
use crate::ctf::types::Type;
use std::collections::BTreeMap;

/// The blocks read so far.
pub(super) struct Blocks<'a> {
    from: Tokens<'a>,
    declared: Declared,
    pub(super) packet_header: Option<Type>,
    pub(super) streams: BTreeMap<u64, StreamType>,
    pub(super) events: BTreeMap<(u64, u64), EventType>,
    pub(super) frequency: Option<u64>,
    pub(super) clock: Option<String>,
    pub(super) environment: BTreeMap<String, String>,
}

impl<'a> Blocks<'a> {
    /// Reads all of them.
    pub(super) fn new(text: &'a str) -> Read<Self> {
        let mut blocks = Self {
            from: Tokens { rest: text },
            declared: Declared::default(),
            packet_header: None,
            streams: BTreeMap::new(),
            events: BTreeMap::new(),
            frequency: None,
            clock: None,
            environment: BTreeMap::new(),
        };
        blocks.all()?;
        Ok(blocks)
    }

    fn all(&mut self) -> Read<()> {
        loop {
            self.from.skip_blanks();
            if self.from.rest.is_empty() {
                return Ok(());
            }
            let before = self.from;
            match self.from.word() {
                "typealias" => self.declared.alias(&mut self.from)?,
                "trace" => self.trace()?,
                "env" => self.environment()?,
                "clock" => self.clock()?,
                "stream" => self.stream()?,
                "event" => self.event()?,
                "struct" | "enum" => {
                    self.from = before;
                    self.declared.kind(&mut self.from)?;
                }
                // What callers of functions are and the like says nothing of events.
                "callsite" => {
                    self.from.needs("{")?;
                    while !self.from.takes("}") {
                        self.from.setting()?;
                    }
                }
                _ => {
                    self.from = before;
                    return self.from.wrong();
                }
            }
            self.from.needs(";")?;
        }
    }

    fn trace(&mut self) -> Read<()> {
        self.from.needs("{")?;
        let (mut major, mut minor) = (String::new(), String::new());
        while !self.from.takes("}") {
            if let Some(kind) = self.declared.typed(&mut self.from, "packet.header")? {
                self.packet_header = Some(kind);
                continue;
            }
            match self.from.setting()? {
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
            _ => {
                let version = format!("{major}.{minor}");
                Err(BrokenMetadata::Version(wakepath_timeline::one_line(
                    &version,
                )))
            }
        }
    }

    fn environment(&mut self) -> Read<()> {
        self.from.needs("{")?;
        while !self.from.takes("}") {
            let (name, value) = self.from.setting()?;
            self.environment.insert(name, value);
        }
        Ok(())
    }

    fn clock(&mut self) -> Read<()> {
        self.from.needs("{")?;
        while !self.from.takes("}") {
            let (name, value) = self.from.setting()?;
            match name.as_str() {
                "freq" => self.frequency = value.parse().ok(),
                "uuid" => self.clock = Some(value),
                _ => {}
            }
        }
        Ok(())
    }

    fn stream(&mut self) -> Read<()> {
        self.from.needs("{")?;
        let mut found = StreamType {
            id: 0,
            packet_context: Type::Struct {
                fields: Vec::new(),
                align: 8,
            },
            event_header: None,
            event_context: None,
        };
        while !self.from.takes("}") {
            if let Some(kind) = self.declared.typed(&mut self.from, "event.header")? {
                found.event_header = Some(kind);
            } else if let Some(kind) = self.declared.typed(&mut self.from, "event.context")? {
                found.event_context = Some(kind);
            } else if let Some(kind) = self.declared.typed(&mut self.from, "packet.context")? {
                found.packet_context = kind;
            } else if let (name, value) = self.from.setting()?
                && name == "id"
            {
                found.id = value.parse().or_else(|_| self.from.wrong())?;
            }
        }
        self.streams.insert(found.id, found);
        Ok(())
    }

    fn event(&mut self) -> Read<()> {
        self.from.needs("{")?;
        let mut found = EventType::default();
        let (mut id, mut stream) = (0, 0);
        while !self.from.takes("}") {
            if let Some(kind) = self.declared.typed(&mut self.from, "fields")? {
                found.fields = Some(kind);
            } else if let Some(kind) = self.declared.typed(&mut self.from, "context")? {
                found.context = Some(kind);
            } else {
                let (name, value) = self.from.setting()?;
                match name.as_str() {
                    "name" => found.name = value,
                    "id" => id = value.parse().or_else(|_| self.from.wrong())?,
                    "stream_id" => stream = value.parse().or_else(|_| self.from.wrong())?,
                    _ => {}
                }
            }
        }
        self.events.insert((stream, id), found);
        Ok(())
    }
}
