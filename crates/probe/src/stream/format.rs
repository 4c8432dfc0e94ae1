//! The kernel's descriptions of its formats: `events/header_page` and each event's `format`. Offsets are
//! never assumed; they differ between kernels.

/// Why a format can't be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("its format {0}")]
pub struct FormatError(pub(crate) String);

/// Position of a field in a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Field {
    /// Bytes from the record's beginning.
    pub offset: usize,
    /// Bytes; 0 where the kernel gives none.
    pub size: usize,
    /// Whether it is signed.
    pub signed: bool,
    /// Whether it holds offset and length of something longer at the record's end.
    pub is_location: bool,
}

impl Field {
    /// The field as a number; `None` where the record is too short or the field is no number.
    #[inline]
    pub fn number(&self, record: &[u8]) -> Option<i64> {
        let bytes = record.get(self.offset..self.offset + self.size)?;
        Some(match (self.size, self.signed) {
            (1, true) => i64::from(bytes[0] as i8),
            (1, false) => bytes[0].into(),
            (2, true) => i16::from_le_bytes(bytes.try_into().ok()?).into(),
            (2, false) => u16::from_le_bytes(bytes.try_into().ok()?).into(),
            (4, true) => i32::from_le_bytes(bytes.try_into().ok()?).into(),
            (4, false) => u32::from_le_bytes(bytes.try_into().ok()?).into(),
            (8, _) => i64::from_le_bytes(bytes.try_into().ok()?),
            _ => return None,
        })
    }

    /// The field's bytes: its own, or those that it points to.
    #[inline]
    pub fn bytes<'a>(&self, record: &'a [u8]) -> Option<&'a [u8]> {
        if !self.is_location {
            return record.get(self.offset..self.offset + self.size);
        }
        let location = self.number(record)? as u32;
        let (from, length) = ((location & 0xffff) as usize, (location >> 16) as usize);
        record.get(from..from.checked_add(length)?)
    }
}

/// An event's `format` file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EventFormat {
    /// The kernel's number for the event, which begins each record.
    pub id: u16,
    fields: Vec<(String, Field)>,
    print: String,
}

impl EventFormat {
    /// Reads a `format` file.
    ///
    /// # Errors
    /// [`FormatError`] if it has no number, or a field's line can't be read.
    pub fn parse(text: &str) -> Result<Self, FormatError> {
        let value = |key: &str| text.lines().find_map(|line| line.strip_prefix(key));
        let id = value("ID:")
            .and_then(|id| id.trim().parse().ok())
            .ok_or_else(|| FormatError("has no number".into()))?;
        let fields = text
            .lines()
            .filter(|line| line.trim_start().starts_with("field:"))
            .map(|line| field(line).ok_or_else(|| FormatError(format!("has the line {line:?}"))))
            .collect::<Result<_, _>>()?;
        Ok(Self {
            id,
            fields,
            print: value("print fmt:").unwrap_or_default().to_owned(),
        })
    }

    /// A field by its name.
    ///
    /// # Errors
    /// [`FormatError`] names the one that is missing.
    pub fn field(&self, name: &str) -> Result<Field, FormatError> {
        self.fields
            .iter()
            .find(|(known, _)| known == name)
            .map(|&(_, field)| field)
            .ok_or_else(|| FormatError(format!("has no field {name}")))
    }

    /// The pairs of number and text by which the event's line is printed: `{ 0x1, "S" }`.
    pub fn printed_names(&self) -> Vec<(u64, String)> {
        let mut names = Vec::new();
        for piece in self.print.split('{').skip(1) {
            let Some((number, rest)) = piece.split_once(',') else {
                continue;
            };
            let number = number.trim();
            let number = match number.strip_prefix("0x") {
                Some(digits) => u64::from_str_radix(digits, 16),
                None => number.parse(),
            };
            let text = rest.split('"').nth(1);
            if let (Ok(number), Some(text)) = (number, text) {
                names.push((number, text.to_owned()));
            }
        }
        names
    }
}

/// `field:unsigned char common_flags; offset:2; size:1; signed:0;`
fn field(line: &str) -> Option<(String, Field)> {
    let mut parts = line.trim().split(';').map(str::trim);
    let declaration = parts.next()?.strip_prefix("field:")?;
    let (mut offset, mut size, mut signed) = (None, None, false);
    for part in parts {
        match part.split_once(':') {
            Some(("offset", value)) => offset = value.parse().ok(),
            Some(("size", value)) => size = value.parse().ok(),
            Some(("signed", value)) => signed = value == "1",
            _ => {}
        }
    }
    let name = declaration.rsplit([' ', '*']).next()?;
    let name = name.split('[').next()?;
    let (offset, size): (usize, usize) = (offset?, size?);
    // Records are far shorter than a page; larger numbers are not a format's.
    (offset <= 1 << 20 && size <= 1 << 20).then(|| {
        let is_location = declaration.starts_with("__data_loc");
        let found = Field {
            offset,
            size,
            signed,
            is_location,
        };
        (name.to_owned(), found)
    })
}

/// The head of a page of the ring buffer, from `events/header_page`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PageFormat {
    pub(super) timestamp: Field,
    pub(super) commit: Field,
    pub(super) data: usize,
}

impl PageFormat {
    /// Reads `events/header_page`.
    ///
    /// # Errors
    /// [`FormatError`] where a field is missing.
    pub fn parse(text: &str) -> Result<Self, FormatError> {
        let fields: Vec<_> = text.lines().filter_map(field).collect();
        let named = |name: &str| {
            let found = fields.iter().find(|(known, _)| known == name);
            found
                .map(|&(_, field)| field)
                .ok_or_else(|| FormatError(format!("has no field {name}")))
        };
        Ok(Self {
            timestamp: named("timestamp")?,
            commit: named("commit")?,
            data: named("data")?.offset,
        })
    }

    /// Bytes of a page's head; the rest of it holds records.
    pub fn head_bytes(&self) -> usize {
        self.data
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dynamic_field_is_followed_to_where_it_lies() {
        let text = "name: irq_handler_entry\nID: 225\nformat:\n\
            \tfield:int irq;\toffset:8;\tsize:4;\tsigned:1;\n\
            \tfield:__data_loc char[] name;\toffset:12;\tsize:4;\tsigned:0;\n";
        let format = EventFormat::parse(text).unwrap();
        assert_eq!(format.id, 225);
        let mut record = vec![0; 16];
        record[8..12].copy_from_slice(&(-3_i32).to_le_bytes());
        record[12..16].copy_from_slice(&(16_u32 | 5 << 16).to_le_bytes());
        record.extend(b"eth0\0");
        assert_eq!(format.field("irq").unwrap().number(&record), Some(-3));
        assert_eq!(
            format.field("name").unwrap().bytes(&record),
            Some(&b"eth0\0"[..])
        );
        // One byte less, and it points beyond the end.
        assert_eq!(format.field("name").unwrap().bytes(&record[..20]), None);
    }

    #[test]
    fn the_states_of_a_thread_come_from_the_kernels_own_text() {
        let text = "ID: 1\nprint fmt: \"%s\", __print_flags(REC->prev_state, \"|\", \
            { 0x00000001, \"S\" }, { 0x00000002, \"D\" }) : \"R\"";
        let names = EventFormat::parse(text).unwrap().printed_names();
        assert_eq!(names, [(1, "S".to_owned()), (2, "D".to_owned())]);
    }

    #[test]
    fn a_format_without_what_is_needed_is_refused_by_name() {
        let format = EventFormat::parse("ID: 7\n").unwrap();
        assert_eq!(
            format.field("pid").unwrap_err().to_string(),
            "its format has no field pid"
        );
        assert!(EventFormat::parse("name: x\n").is_err());
        assert!(EventFormat::parse("ID: 7\n\tfield:int a;\toffset:x;\n").is_err());
    }
}
