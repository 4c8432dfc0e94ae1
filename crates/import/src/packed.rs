//! Packed files: gzip, xz and Zstandard, known by their first bytes.

use crate::ImportError;
use flate2::read::MultiGzDecoder;
use lzma_rust2::XzReader;
use std::borrow::Cow;
use std::io::Read;

const GZIP: &[u8] = &[0x1F, 0x8B];
const XZ: &[u8] = &[0xFD, b'7', b'z', b'X', b'Z', 0];
const ZSTANDARD: &[u8] = &[0x28, 0xB5, 0x2F, 0xFD];

/// Contents of a packed file, or the file itself if it is not packed.
///
/// # Errors
/// If the packing is broken, or holds more than `most` bytes.
pub fn unpacked(bytes: &[u8], most: u64) -> Result<Cow<'_, [u8]>, ImportError> {
    let (packing, reader): (_, Box<dyn Read>) = if bytes.starts_with(GZIP) {
        ("gzip", Box::new(MultiGzDecoder::new(bytes)))
    } else if bytes.starts_with(XZ) {
        ("xz", Box::new(XzReader::new(bytes, true)))
    } else if bytes.starts_with(ZSTANDARD) {
        let reader = zstd::Decoder::new(bytes).map_err(|why| broken("Zstandard", &why))?;
        ("Zstandard", Box::new(reader))
    } else {
        return Ok(Cow::Borrowed(bytes));
    };
    let mut whole = Vec::new();
    let read = reader.take(most.saturating_add(1)).read_to_end(&mut whole);
    read.map_err(|why| broken(packing, &why))?;
    if whole.len() as u64 > most {
        Err(ImportError::whole(format!(
            "holds more than {most} bytes, packed: import a part of the file"
        )))
    } else {
        Ok(Cow::Owned(whole))
    }
}

fn broken(packing: &str, why: &std::io::Error) -> ImportError {
    ImportError::whole(format!(
        "its {packing} data is truncated or corrupt ({why})"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    const TEXT: &[u8] = include_bytes!("../tests/fixtures/cyclictest-h.txt");
    const XZ_FILE: &[u8] = include_bytes!("../tests/fixtures/cyclictest-h.txt.xz");

    fn gzip() -> Vec<u8> {
        let mut writer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        writer.write_all(TEXT).unwrap();
        writer.finish().unwrap()
    }

    #[test]
    fn every_packing_is_known_by_its_first_bytes() {
        let zstandard = zstd::encode_all(TEXT, 1).unwrap();
        for packed in [&gzip(), XZ_FILE, &zstandard, TEXT] {
            assert_eq!(unpacked(packed, 10_000).unwrap(), TEXT);
        }
    }

    #[test]
    fn a_cut_file_and_an_endless_one_are_refused() {
        let gzip = gzip();
        let cut = unpacked(&gzip[..gzip.len() - 9], 10_000).unwrap_err();
        assert!(cut.why.contains("gzip data is truncated"), "{cut}");
        assert!(
            unpacked(&gzip, 10)
                .unwrap_err()
                .why
                .contains("more than 10")
        );
        let cut = unpacked(&XZ_FILE[..20], 10_000).unwrap_err();
        assert!(cut.why.contains("xz data is truncated"), "{cut}");
    }
}
