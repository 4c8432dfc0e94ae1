//! Unpacks a kernel so that the emulator can start it directly.
//!
//! Under instruction counting a kernel's own unpacking takes longer than the rest of its boot.
//! Pure. A kernel that can't be unpacked is started unchanged.
//!
//! Formats: Linux's Documentation, x86/boot.rst (`setup_sects`, `payload_offset`, `payload_length`)
//! and x86/pvh; Xen's public/elfnote.h (`XEN_ELFNOTE_PHYS32_ENTRY`); ELF's chapter 5, notes.

use std::io::Read;

/// Sectors of the real-mode part if the header has zero.
const SECTORS_OF_OLD: usize = 4;
const SECTOR: usize = 512;
const SETUP_SECTORS: usize = 0x1f1;
const PAYLOAD_OFFSET: usize = 0x248;
const PAYLOAD_LENGTH: usize = 0x24c;
/// No kernel unpacks to more: a wrong length must not fill the memory.
const LARGEST: u32 = 512 << 20;

/// The kernel in a bzImage, if its compression is known and a note gives an entry point for direct
/// boot.
pub(crate) fn vmlinux(image: &[u8]) -> Option<Vec<u8>> {
    within(image).filter(|kernel| enters_directly(kernel))
}

/// The kernel in a bzImage, if its compression is known.
pub(crate) fn within(image: &[u8]) -> Option<Vec<u8>> {
    let sectors = match *image.get(SETUP_SECTORS)? {
        0 => SECTORS_OF_OLD,
        sectors => usize::from(sectors),
    };
    let from = ((sectors + 1) * SECTOR).checked_add(word(image, PAYLOAD_OFFSET)? as usize)?;
    let to = from.checked_add(word(image, PAYLOAD_LENGTH)? as usize)?;
    let packed = image.get(from..to)?;
    // The build appends the uncompressed length to the packed kernel.
    let length = word(packed, packed.len().checked_sub(4)?)?;
    if length > LARGEST {
        return None;
    }
    let mut kernel = Vec::new();
    let most = u64::from(length) + 1;
    match packed {
        [0xfd, b'7', b'z', b'X', b'Z', 0, ..] => {
            read(lzma_rust2::XzReader::new(packed, false), most, &mut kernel)?;
        }
        [0x1f, 0x8b, ..] => read(flate2::read::GzDecoder::new(packed), most, &mut kernel)?,
        [0x28, 0xb5, 0x2f, 0xfd, ..] => {
            let reader = zstd::Decoder::with_buffer(packed).ok()?.single_frame();
            read(reader, most, &mut kernel)?;
        }
        _ => return None,
    }
    (kernel.len() == length as usize).then_some(kernel)
}

fn read(reader: impl Read, most: u64, into: &mut Vec<u8>) -> Option<()> {
    reader.take(most).read_to_end(into).ok().map(drop)
}

/// Whether a 64-bit ELF kernel has Xen's note of a 32-bit physical entry, which the emulator uses
/// to start it.
pub(crate) fn enters_directly(kernel: &[u8]) -> bool {
    const NOTE: u32 = 4;
    let segments = || -> Option<bool> {
        let magic = kernel.starts_with(b"\x7fELF\x02\x01");
        let table = usize::try_from(long(kernel, 32)?).ok()?;
        let (size, count) = (half(kernel, 54)?, half(kernel, 56)?);
        let notes = (0..usize::from(count)).filter_map(|index| {
            let entry = kernel.get(table.checked_add(index * usize::from(size))?..)?;
            let from = usize::try_from(long(entry, 8)?).ok()?;
            let length = usize::try_from(long(entry, 32)?).ok()?;
            (word(entry, 0)? == NOTE).then(|| kernel.get(from..from.checked_add(length)?))?
        });
        Some(magic && notes.into_iter().any(has_entry))
    };
    segments().unwrap_or(false)
}

fn has_entry(mut notes: &[u8]) -> bool {
    const PHYSICAL_ENTRY: u32 = 18;
    let mut next = || -> Option<bool> {
        let (name, description, kind) = (word(notes, 0)?, word(notes, 4)?, word(notes, 8)?);
        let padded = |length: u32| (length as usize).next_multiple_of(4);
        let is_xen = notes.get(12..)?.starts_with(b"Xen\0");
        notes = notes.get(12 + padded(name) + padded(description)..)?;
        Some(is_xen && kind == PHYSICAL_ENTRY)
    };
    std::iter::from_fn(&mut next).any(|is| is)
}

fn half(bytes: &[u8], at: usize) -> Option<u16> {
    let bytes = bytes.get(at..at.checked_add(2)?)?;
    Some(u16::from_le_bytes(bytes.try_into().ok()?))
}

fn word(bytes: &[u8], at: usize) -> Option<u32> {
    let bytes = bytes.get(at..at.checked_add(4)?)?;
    Some(u32::from_le_bytes(bytes.try_into().ok()?))
}

fn long(bytes: &[u8], at: usize) -> Option<u64> {
    let bytes = bytes.get(at..at.checked_add(8)?)?;
    Some(u64::from_le_bytes(bytes.try_into().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    /// An ELF file with a single segment of notes, the last of which is this one of Xen's.
    fn kernel(kind: u32) -> Vec<u8> {
        let mut notes = Vec::new();
        for (name, kind) in [(*b"GNU\0", 3), (*b"Xen\0", kind)] {
            for word in [4, 8, kind] {
                notes.extend(u32::to_le_bytes(word));
            }
            notes.extend(name);
            notes.extend([0; 8]);
        }
        let mut elf = b"\x7fELF\x02\x01".to_vec();
        elf.resize(64 + 56, 0);
        elf[32] = 64;
        (elf[54], elf[56]) = (56, 1);
        (elf[64], elf[64 + 8], elf[64 + 32]) = (4, 120, notes.len() as u8);
        elf.extend(notes);
        elf
    }

    fn image(packed: &[u8], length: usize) -> Vec<u8> {
        let mut image = vec![0; 2 * SECTOR];
        image[SETUP_SECTORS] = 1;
        let packed = [packed, &(length as u32).to_le_bytes()].concat();
        image[PAYLOAD_LENGTH..][..4].copy_from_slice(&(packed.len() as u32).to_le_bytes());
        image.extend(packed);
        image
    }

    fn gzip(bytes: &[u8]) -> Vec<u8> {
        let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        packer.write_all(bytes).unwrap();
        packer.finish().unwrap()
    }

    #[test]
    fn a_packed_kernel_with_a_direct_entry_comes_out() {
        let kernel = kernel(18);
        let zstd = zstd::encode_all(&kernel[..], 1).unwrap();
        for packed in [gzip(&kernel), zstd] {
            assert_eq!(vmlinux(&image(&packed, kernel.len())), Some(kernel.clone()));
        }
    }

    #[test]
    fn what_can_not_be_entered_or_is_cut_or_wrong_starts_as_it_is() {
        let entered = kernel(18);
        let other = kernel(17);
        assert_eq!(vmlinux(&image(&gzip(&other), other.len())), None);
        let whole = image(&gzip(&entered), entered.len());
        for length in 0..whole.len() {
            assert_eq!(vmlinux(&whole[..length]), None, "{length}");
        }
        assert_eq!(vmlinux(&image(&gzip(&entered), entered.len() - 1)), None);
        assert_eq!(vmlinux(&image(&gzip(&entered), usize::MAX)), None);
        assert_eq!(vmlinux(&image(b"LZO", entered.len())), None);
    }
}
