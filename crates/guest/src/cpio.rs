//! Archives in the form that the kernel unpacks as its first file system: cpio, "newc"
//! (Documentation/driver-api/early-userspace/buffer-format.rst of Linux). Pure; the same entries
//! give the same bytes, so that a guest finds the same memory at every boot.

/// A file of an archive.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Its path, without a leading slash.
    pub path: String,
    /// Type of the entry.
    pub kind: Kind,
}

/// Types of entries.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Kind {
    /// A directory.
    Directory,
    /// A file.
    File {
        /// Whether it is executable.
        executable: bool,
        /// Its bytes.
        bytes: Vec<u8>,
    },
    /// A device of characters.
    CharacterDevice {
        /// Its major number.
        major: u32,
        /// Its minor number.
        minor: u32,
    },
}

const MAGIC: &[u8] = b"070701";
const HEADER: usize = 110;
const END: &str = "TRAILER!!!";

impl Entry {
    fn mode(&self) -> u32 {
        match self.kind {
            Kind::Directory => 0o040_755,
            Kind::File {
                executable: true, ..
            } => 0o100_755,
            Kind::File { .. } => 0o100_644,
            Kind::CharacterDevice { .. } => 0o020_600,
        }
    }
}

/// The archive of these entries, in their order; owner and time are 0.
pub fn pack(entries: &[Entry]) -> Vec<u8> {
    let mut archive = Vec::new();
    for (number, entry) in (1..).zip(entries) {
        let (bytes, device): (&[u8], _) = match &entry.kind {
            Kind::File { bytes, .. } => (bytes, (0, 0)),
            Kind::CharacterDevice { major, minor } => (&[], (*major, *minor)),
            Kind::Directory => (&[], (0, 0)),
        };
        write_entry(
            &mut archive,
            &entry.path,
            number,
            entry.mode(),
            device,
            bytes,
        );
    }
    write_entry(&mut archive, END, 0, 0, (0, 0), &[]);
    archive
}

fn write_entry(
    archive: &mut Vec<u8>,
    path: &str,
    number: u32,
    mode: u32,
    (major, minor): (u32, u32),
    bytes: &[u8],
) {
    let links = 1;
    let fields = [
        number,
        mode,
        0,
        0,
        links,
        0,
        bytes.len() as u32,
        0,
        0,
        major,
        minor,
        path.len() as u32 + 1,
        0,
    ];
    archive.extend_from_slice(MAGIC);
    for field in fields {
        archive.extend_from_slice(format!("{field:08x}").as_bytes());
    }
    archive.extend_from_slice(path.as_bytes());
    archive.push(0);
    align(archive);
    archive.extend_from_slice(bytes);
    align(archive);
}

fn align(archive: &mut Vec<u8>) {
    archive.resize(archive.len().next_multiple_of(4), 0);
}

/// Reasons why bytes aren't a complete archive.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum UnpackError {
    /// It is cut between two files.
    #[error("the archive ends at byte {at} without its end mark")]
    Ends {
        /// Offset at which a file should begin.
        at: usize,
    },
    /// Not the start of a file.
    #[error("byte {at} is not the head of a file")]
    NoHead {
        /// Its offset.
        at: usize,
    },
    /// A file's head has something else for a number.
    #[error("the head at byte {at} is not in hexadecimal digits")]
    Digits {
        /// Offset of the header.
        at: usize,
    },
    /// A file's name is cut short or no text.
    #[error("the name at byte {at} can't be read")]
    Name {
        /// Offset of the file.
        at: usize,
    },
    /// A file's content is cut short.
    #[error("{name} is cut short")]
    Cut {
        /// The file.
        name: String,
    },
}

/// The plain files of an archive, by path. Other entries are left out.
///
/// # Errors
/// If the archive is cut short or invalid.
pub fn unpack(archive: &[u8]) -> Result<Vec<(String, Vec<u8>)>, UnpackError> {
    let mut files = Vec::new();
    let mut at = 0;
    loop {
        let header = archive
            .get(at..at + HEADER)
            .ok_or(UnpackError::Ends { at })?;
        if &header[..6] != MAGIC {
            return Err(UnpackError::NoHead { at });
        }
        let field = |index: usize| {
            let digits = std::str::from_utf8(&header[6 + 8 * index..14 + 8 * index]).ok();
            digits
                .and_then(|digits| u32::from_str_radix(digits, 16).ok())
                .map(|value| value as usize)
                .ok_or(UnpackError::Digits { at })
        };
        let (mode, size, name_size) = (field(1)?, field(6)?, field(11)?);
        let name_at = at + HEADER;
        let name = archive.get(name_at..name_at + name_size);
        let name = name
            .and_then(|name| name.strip_suffix(&[0]))
            .and_then(|name| std::str::from_utf8(name).ok())
            .ok_or(UnpackError::Name { at: name_at })?;
        let bytes_at = (name_at + name_size).next_multiple_of(4);
        let bytes = archive
            .get(bytes_at..bytes_at + size)
            .ok_or_else(|| UnpackError::Cut { name: name.into() })?;
        if name == END {
            return Ok(files);
        }
        if mode & 0o170_000 == 0o100_000 {
            files.push((name.to_owned(), bytes.to_vec()));
        }
        at = (bytes_at + size).next_multiple_of(4);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn some() -> Vec<Entry> {
        vec![
            Entry {
                path: "dev".into(),
                kind: Kind::Directory,
            },
            Entry {
                path: "dev/console".into(),
                kind: Kind::CharacterDevice { major: 5, minor: 1 },
            },
            Entry {
                path: "init".into(),
                kind: Kind::File {
                    executable: true,
                    bytes: b"hello".to_vec(),
                },
            },
        ]
    }

    #[test]
    fn the_head_of_a_file_is_that_of_the_kernels_documentation() {
        let archive = pack(&some()[2..]);
        let head = "070701\
                    00000001000081ed000000000000000000000001000000000000000500000000\
                    0000000000000000000000000000000500000000init\0";
        assert_eq!(&archive[..head.len()], head.as_bytes());
        // 110 + 5 bytes are followed by one that aligns, the 5 of the content by three.
        assert_eq!(&archive[116..124], b"hello\0\0\0");
        assert_eq!(&archive[124..130], b"070701");
    }

    #[test]
    fn what_was_packed_comes_out_again() {
        assert_eq!(
            unpack(&pack(&some())).unwrap(),
            [("init".to_owned(), b"hello".to_vec())]
        );
    }

    #[test]
    fn an_archive_cut_anywhere_is_refused_and_not_half_read() {
        let whole = pack(&some());
        for length in 0..whole.len() {
            assert!(unpack(&whole[..length]).is_err(), "{length} bytes");
        }
    }

    #[test]
    fn sizes_that_lie_are_refused() {
        let mut archive = pack(&some());
        archive[54..62].copy_from_slice(b"ffffffff");
        assert!(unpack(&archive).is_err());
        archive[0] = b'x';
        assert_eq!(unpack(&archive), Err(UnpackError::NoHead { at: 0 }));
    }
}
