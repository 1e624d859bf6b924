//! The part of the protocol buffer encoding (protobuf.dev/programming-guides/encoding) that Perfetto's messages need.
//!
//! ```text
//! field 8, the number 300  ->  40 ac 02      (8 << 3 | 0, then LEB128)
//! field 2, the text "ab"   ->  12 02 61 62   (2 << 3 | 2, length, bytes)
//! ```

/// A message that is being built.
#[derive(Debug, Default)]
pub struct Message {
    bytes: Vec<u8>,
}

impl Message {
    /// Empties the message and keeps its memory.
    pub fn clear(&mut self) {
        self.bytes.clear();
    }

    /// The encoded message.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Adds a varint field: int32, int64, uint32, uint64, bool or an enum.
    pub fn number(&mut self, field: u32, value: u64) {
        self.varint(u64::from(field) << 3);
        self.varint(value);
    }

    /// Adds a fixed64 field.
    pub fn fixed(&mut self, field: u32, value: u64) {
        self.varint(u64::from(field) << 3 | 1);
        self.bytes.extend_from_slice(&value.to_le_bytes());
    }

    /// Adds a string field.
    pub fn text(&mut self, field: u32, value: &str) {
        self.blob(field, value.as_bytes());
    }

    /// Adds a field with an embedded message.
    pub fn message(&mut self, field: u32, value: &Message) {
        self.blob(field, &value.bytes);
    }

    fn blob(&mut self, field: u32, value: &[u8]) {
        self.varint(u64::from(field) << 3 | 2);
        self.varint(value.len() as u64);
        self.bytes.extend_from_slice(value);
    }

    fn varint(&mut self, mut n: u64) {
        while n >= 0x80 {
            self.bytes.push(n as u8 | 0x80);
            n >>= 7;
        }
        self.bytes.push(n as u8);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_the_examples_say() {
        let mut m = Message::default();
        m.number(8, 300);
        m.text(2, "ab");
        m.fixed(47, 1);
        assert_eq!(m.bytes(), [0x40, 0xac, 2, 0x12, 2, b'a', b'b', 0xf9, 2, 1, 0, 0, 0, 0, 0, 0, 0]);
    }
}
