//! Protobuf's wire format, as far as it is needed: varints and length-delimited fields
//! (<https://protobuf.dev/programming-guides/encoding/>).

/// A message under way; reused, so that a packet costs no allocation.
#[derive(Debug, Default)]
pub(crate) struct Message(Vec<u8>);

impl Message {
    pub fn clear(&mut self) {
        self.0.clear();
    }

    pub fn bytes(&self) -> &[u8] {
        &self.0
    }

    /// A field of one of the unsigned types, or an enumeration.
    pub fn number(&mut self, field: u64, value: u64) {
        self.varint(field << 3);
        self.varint(value);
    }

    pub fn text(&mut self, field: u64, text: &str) {
        self.head(field, text.len());
        self.0.extend_from_slice(text.as_bytes());
    }

    pub fn message(&mut self, field: u64, message: &Self) {
        self.head(field, message.0.len());
        self.0.extend_from_slice(&message.0);
    }

    /// The head of a field whose bytes follow.
    pub fn head(&mut self, field: u64, length: usize) {
        self.varint(field << 3 | 2);
        self.varint(length as u64);
    }

    fn varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.0.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.0.push(value as u8);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The examples of the specification.
    #[test]
    fn numbers_and_texts_are_those_of_the_specification() {
        let mut message = Message::default();
        message.number(1, 150);
        assert_eq!(message.bytes(), [0x08, 0x96, 0x01]);
        message.clear();
        message.text(2, "testing");
        assert_eq!(message.bytes(), b"\x12\x07testing");
    }
}
