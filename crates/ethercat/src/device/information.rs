//! A device's description of itself.
//!
//! The memory that a master reads before it configures the device (ETG.1000.6, 5.4). Pure.

const FIRST_CATEGORY: usize = 0x80;
const STRINGS: u16 = 10;
const GENERAL: u16 = 30;
const MAPPINGS: u16 = 40;
const SYNC_MANAGERS: u16 = 41;
const SENT: u16 = 50;
const RECEIVED: u16 = 51;
const END: u16 = 0xffff;

pub(crate) struct Information {
    bytes: Vec<u8>,
}

impl Information {
    /// For the device number `index`, with `length` bytes of process data each way.
    pub(crate) fn new(index: u16, outputs: u16, inputs: u16, length: u16) -> Self {
        let mut bytes = vec![0; FIRST_CATEGORY];
        // Vendor 0 belongs to nobody; product, revision, serial number.
        bytes[0x14..0x18].copy_from_slice(&0x77_61_6b_65_u32.to_le_bytes());
        bytes[0x18..0x1c].copy_from_slice(&1_u32.to_le_bytes());
        bytes[0x1c..0x20].copy_from_slice(&u32::from(index).to_le_bytes());
        // Size in KiBit less one, version.
        bytes[0x7c..0x80].copy_from_slice(&[15, 0, 1, 0]);

        let name = format!("simulated {}", index + 1);
        let mut strings = vec![1, name.len() as u8];
        strings.extend(name.as_bytes());
        category(&mut bytes, STRINGS, &strings);

        let mut general = [0; 32];
        general[2] = 1;
        general[3] = 1;
        category(&mut bytes, GENERAL, &general);
        // Outputs by the first mapping, inputs by the second.
        category(&mut bytes, MAPPINGS, &[1, 2]);

        let mut managers = Vec::new();
        for (start, control, kind) in [(outputs, 0x24, 3), (inputs, 0x20, 4)] {
            managers.extend(start.to_le_bytes());
            managers.extend(length.to_le_bytes());
            managers.extend([control, 0, 1, kind]);
        }
        category(&mut bytes, SYNC_MANAGERS, &managers);

        for (kind, manager, object) in [(SENT, 1, 0x1a00_u16), (RECEIVED, 0, 0x1600)] {
            let mut objects = object.to_le_bytes().to_vec();
            objects.extend([1, manager, 0, 0, 0, 0]);
            // One entry of all bits.
            objects.extend([0, 0x60, 1, 0, 0x1b, (length * 8) as u8, 0, 0]);
            category(&mut bytes, kind, &objects);
        }
        bytes.extend(END.to_le_bytes());
        Self { bytes }
    }

    /// Eight bytes from a word on; bytes beyond the end read as erased memory.
    pub(crate) fn read(&self, word: u64) -> [u8; 8] {
        let from = usize::try_from(word)
            .unwrap_or(usize::MAX)
            .saturating_mul(2);
        std::array::from_fn(|byte| {
            let at = from.saturating_add(byte);
            self.bytes.get(at).copied().unwrap_or(0xff)
        })
    }
}

/// A category: its kind, its length in words, and the words.
fn category(bytes: &mut Vec<u8>, kind: u16, content: &[u8]) {
    let words = content.len().div_ceil(2);
    bytes.extend(kind.to_le_bytes());
    bytes.extend((words as u16).to_le_bytes());
    bytes.extend(content);
    if content.len() % 2 == 1 {
        bytes.push(0);
    }
}
