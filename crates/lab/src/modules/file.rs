//! One module's file: its bytes for the kernel, and its own description.
//!
//! Pure.

use super::{ModuleFault, as_called};
use crate::elf;
use std::io::Read;
use std::path::Path;

/// No module is larger: damaged ones must not fill the memory.
const LARGEST: u64 = 256 << 20;

/// A module's own information.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Info {
    /// Modules whose functions it calls.
    pub depends: Vec<String>,
    /// The release of the kernel that it was built for.
    pub release: Option<String>,
}

/// The name of the module in a file, if the file is a module.
pub(super) fn name_of(path: &Path) -> Option<String> {
    let name = path.file_name()?.to_str()?;
    let endings = [".ko", ".ko.xz", ".ko.zst", ".ko.gz"];
    let name = endings
        .iter()
        .find_map(|ending| name.strip_suffix(ending))?;
    Some(as_called(name))
}

/// The module in a file of that name, unpacked.
pub(super) fn unpacked(path: &Path, bytes: Vec<u8>) -> Result<Vec<u8>, ModuleFault> {
    let reader: (&'static str, Box<dyn Read + '_>) = match path.extension().and_then(|e| e.to_str())
    {
        Some("xz") => ("xz", Box::new(lzma_rust2::XzReader::new(&bytes[..], false))),
        Some("gz") => ("gzip", Box::new(flate2::read::GzDecoder::new(&bytes[..]))),
        Some("zst") => match zstd::Decoder::new(&bytes[..]) {
            Ok(decoder) => ("zstd", Box::new(decoder)),
            Err(_) => return Err(ModuleFault::Packed { as_what: "zstd" }),
        },
        _ => return Ok(bytes),
    };
    let (as_what, reader) = reader;
    let mut module = Vec::new();
    match reader.take(LARGEST).read_to_end(&mut module) {
        Ok(_) => Ok(module),
        Err(_) => Err(ModuleFault::Packed { as_what }),
    }
}

/// The entries of its section .modinfo: `KEY=VALUE`, each ended by a zero byte
/// (include/linux/moduleparam.h of Linux).
pub(super) fn info(module: &[u8]) -> Result<Info, ModuleFault> {
    let section = elf::section(module, ".modinfo").ok_or(ModuleFault::NoModule)?;
    let mut info = Info::default();
    for entry in section.split(|&byte| byte == 0) {
        let entry = String::from_utf8_lossy(entry);
        match entry.split_once('=') {
            Some(("depends", names)) => {
                let names = names.split(',').filter(|name| !name.is_empty());
                info.depends = names.map(as_called).collect();
            }
            Some(("vermagic", kernel)) => {
                info.release = kernel.split_whitespace().next().map(str::to_owned);
            }
            _ => {}
        }
    }
    Ok(info)
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use std::io::Write;

    /// A 64-bit ELF file with one section, and a table of their names.
    pub fn module(info: &str) -> Vec<u8> {
        let names = b"\0.modinfo\0.names\0";
        let (info_at, names_at) = (64, 64 + info.len());
        let table = names_at + names.len();
        let mut file = vec![0; 64];
        file[..6].copy_from_slice(b"\x7fELF\x02\x01");
        file[0x12] = 62;
        file[0x28..0x30].copy_from_slice(&(table as u64).to_le_bytes());
        for (at, value) in [(0x3a, 64_u16), (0x3c, 3), (0x3e, 2)] {
            file[at..at + 2].copy_from_slice(&value.to_le_bytes());
        }
        file.extend_from_slice(info.as_bytes());
        file.extend_from_slice(names);
        let mut section = |name: u32, at: usize, length: usize| {
            let mut head = vec![0; 64];
            head[..4].copy_from_slice(&name.to_le_bytes());
            head[0x18..0x20].copy_from_slice(&(at as u64).to_le_bytes());
            head[0x20..0x28].copy_from_slice(&(length as u64).to_le_bytes());
            file.extend_from_slice(&head);
        };
        section(0, 0, 0);
        section(1, info_at, info.len());
        section(10, names_at, names.len());
        file
    }

    #[test]
    fn a_module_is_the_same_however_it_is_packed() {
        let plain = module("name=a\0depends=b-c,d\0vermagic=6.1.0-56 SMP mod_unload \0");
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        gzip.write_all(&plain).unwrap();
        let gzip = gzip.finish().unwrap();
        let zst = zstd::encode_all(&plain[..], 1).unwrap();
        for (name, bytes) in [
            ("a.ko", plain.clone()),
            ("a.ko.gz", gzip),
            ("a.ko.zst", zst),
        ] {
            let path = Path::new("/x").join(name);
            assert_eq!(name_of(&path).as_deref(), Some("a"));
            let found = unpacked(&path, bytes.clone()).unwrap();
            assert_eq!(found, plain, "{name}");
            if name != "a.ko" {
                let cut = unpacked(&path, bytes[..bytes.len() / 2].to_vec());
                assert!(matches!(cut, Err(ModuleFault::Packed { .. })), "{name}");
            }
        }
        let found = info(&plain).unwrap();
        assert_eq!(found.depends, ["b_c", "d"]);
        assert_eq!(found.release.as_deref(), Some("6.1.0-56"));
        for length in 0..plain.len() {
            let _ = info(&plain[..length]);
        }
        assert!(info(b"#!/bin/sh").is_err());
        assert_eq!(name_of(Path::new("modules.dep")), None);
    }
}
