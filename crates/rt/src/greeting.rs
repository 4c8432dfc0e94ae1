//! The start of the shared memory, whose form never changes.
//!
//! From it a recorder and a program's library of different versions learn that they are
//! incompatible, and each other's version.

use std::fmt;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// "wakepath" as a number.
const MARK: u64 = 0x7761_6b65_7061_7468;
/// Layout after the greeting: changes with every change there.
pub const LAYOUT: u32 = 8;
/// Stored bytes of a version.
const VERSION_BYTES: usize = 16;

/// The first 48 bytes, whose form never changes: later versions append to them and use another
/// [`LAYOUT`].
#[repr(C)]
#[derive(Debug, Default)]
pub struct Greeting {
    mark: AtomicU64,
    recorder_layout: AtomicU32,
    program_layout: AtomicU32,
    recorder_version: Version,
    program_version: Version,
}

type Version = [AtomicU64; VERSION_BYTES / 8];

/// The version of one side that the other does not understand.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stranger {
    /// Such as `0.2.0`; from memory that the program can have overwritten.
    pub version: String,
    /// Its [`LAYOUT`].
    pub layout: u32,
}

impl fmt::Display for Stranger {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "wakepath {} (memory layout {})",
            self.version, self.layout
        )
    }
}

impl Greeting {
    /// For who makes the memory, last of all.
    pub(crate) fn introduce(&self) {
        write_version(&self.recorder_version);
        self.recorder_layout.store(LAYOUT, Ordering::Relaxed);
        self.mark.store(MARK, Ordering::Release);
    }

    /// Called by a program's library, whether or not it understands the layout.
    pub(crate) fn answer(&self) {
        write_version(&self.program_version);
        self.program_layout.store(LAYOUT, Ordering::Release);
    }

    /// Whether this is memory of wakepath's, of whichever version.
    pub(crate) fn is_ours(&self) -> bool {
        self.mark.load(Ordering::Acquire) == MARK
    }

    /// The recorder's version, if this one does not understand it.
    pub(crate) fn strange_recorder(&self) -> Option<Stranger> {
        let layout = self.recorder_layout.load(Ordering::Relaxed);
        stranger(layout, &self.recorder_version)
    }

    /// The version of the program's library, if there was one and this one does not understand it.
    pub fn strange_program(&self) -> Option<Stranger> {
        let layout = self.program_layout.load(Ordering::Acquire);
        stranger(layout, &self.program_version).filter(|_| layout != 0)
    }

    /// Before another program.
    pub(crate) fn forget_program(&self) {
        self.program_layout.store(0, Ordering::Release);
    }
}

fn stranger(layout: u32, version: &Version) -> Option<Stranger> {
    (layout != LAYOUT).then(|| Stranger {
        version: read_version(version),
        layout,
    })
}

fn write_version(place: &Version) {
    let mut bytes = [0; VERSION_BYTES];
    let version = env!("CARGO_PKG_VERSION").as_bytes();
    let length = version.len().min(VERSION_BYTES);
    bytes[..length].copy_from_slice(&version[..length]);
    for (word, bytes) in place.iter().zip(bytes.as_chunks::<8>().0) {
        word.store(u64::from_le_bytes(*bytes), Ordering::Relaxed);
    }
}

fn read_version(place: &Version) -> String {
    let words = place.iter().map(|word| word.load(Ordering::Relaxed));
    let bytes: Vec<u8> = words
        .flat_map(u64::to_le_bytes)
        .take_while(|&byte| byte != 0)
        .collect();
    wakepath_timeline::decoded(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::mem::offset_of;

    #[test]
    fn it_lies_where_all_versions_look_for_it() {
        assert_eq!(size_of::<Greeting>(), 48);
        assert_eq!(offset_of!(Greeting, mark), 0);
        assert_eq!(offset_of!(Greeting, recorder_layout), 8);
        assert_eq!(offset_of!(Greeting, program_layout), 12);
        assert_eq!(offset_of!(Greeting, recorder_version), 16);
        assert_eq!(offset_of!(Greeting, program_version), 32);
        assert_eq!(MARK.to_be_bytes(), *b"wakepath");
    }

    #[test]
    fn sides_of_one_version_are_no_strangers() {
        let greeting = Greeting::default();
        assert!(!greeting.is_ours());
        greeting.introduce();
        assert!(greeting.is_ours());
        assert_eq!(greeting.strange_recorder(), None);
        assert_eq!(greeting.strange_program(), None, "nobody has come");
        greeting.answer();
        assert_eq!(greeting.strange_program(), None);
    }

    #[test]
    fn a_side_of_another_layout_is_named_with_its_version() {
        let greeting = Greeting::default();
        greeting.introduce();
        greeting.answer();
        greeting.program_layout.store(77, Ordering::Relaxed);
        let program = greeting.strange_program().expect("it is one");
        let version = env!("CARGO_PKG_VERSION");
        assert_eq!(
            program.to_string(),
            format!("wakepath {version} (memory layout 77)")
        );
        greeting.forget_program();
        assert_eq!(greeting.strange_program(), None);
    }
}
