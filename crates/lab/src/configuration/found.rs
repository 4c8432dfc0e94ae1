//! Finds a kernel's configuration.
//!
//! Looks next to the kernel, in /boot, in its build tree and in its image (`CONFIG_IKCONFIG`,
//! kernel/configs.c of Linux).

use crate::unpacked;
use std::io::Read;
use std::path::{Path, PathBuf};

/// Markers before and after the gzip-compressed configuration in an image.
const BEGINS: &[u8] = b"IKCFG_ST";
const ENDS: &[u8] = b"IKCFG_ED";
/// No configuration is longer.
const LONGEST: u64 = 4 << 20;
const BOOT: &str = "/boot";

/// A file with the configuration of the kernel at `path` with this `release`: one named after its
/// release or file, else a `config` or `.config` of its version in the same directory or its build
/// tree.
pub(crate) fn beside(path: &Path, release: Option<&str>) -> Option<PathBuf> {
    let name = path.file_name()?.to_str()?;
    let by_name = name.strip_prefix("vmlinuz-").map(str::to_owned);
    let releases = by_name.into_iter().chain(release.map(str::to_owned));
    let of_release = releases.flat_map(|release| {
        let file = format!("config-{release}");
        [path.with_file_name(&file), Path::new(BOOT).join(file)]
    });
    let own = path.with_file_name(format!("{name}.config"));
    if let Some(found) = of_release.chain([own]).find(|path| path.is_file()) {
        return Some(found);
    }
    // arch/x86/boot/bzImage in a build tree.
    let whole = path.canonicalize().ok()?;
    let above = whole.ancestors().nth(4).map(|tree| tree.join(".config"));
    let unnamed = ["config", ".config"].map(|file| path.with_file_name(file));
    let mut unnamed = unnamed.into_iter().chain(above);
    unnamed.find(|path| is_of(path, release))
}

/// Whether the second line of a configuration names this release.
fn is_of(path: &Path, release: Option<&str>) -> bool {
    let text = std::fs::read(path).unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    match (written_for(&text), release) {
        (Some(version), Some(release)) => release.strip_prefix(version).is_some_and(|rest| {
            let same_number = |c: char| c.is_ascii_digit() || c == '.';
            !rest.starts_with(same_number)
        }),
        _ => false,
    }
}

/// `6.1.190` of `# Linux/x86 6.1.190 Kernel Configuration`.
fn written_for(text: &str) -> Option<&str> {
    let mut lines = text.lines().take(5);
    lines.find_map(|line| {
        let (head, version) = line
            .strip_suffix(" Kernel Configuration")?
            .rsplit_once(' ')?;
        head.starts_with("# Linux/").then_some(version)
    })
}

/// The first two numbers of the version that a configuration was written for.
pub(super) fn version(text: &str) -> Option<(u32, u32)> {
    let mut numbers = written_for(text)?.split(['.', '-', '+']);
    let mut next = || numbers.next()?.parse().ok();
    Some((next()?, next()?))
}

/// The configuration embedded in a kernel's image, if there is one and its compression is known.
pub(super) fn embedded(image: &[u8]) -> Option<String> {
    held(image).or_else(|| held(&unpacked::within(image)?))
}

fn held(kernel: &[u8]) -> Option<String> {
    let from = find(kernel, BEGINS)? + BEGINS.len();
    let packed = &kernel[from..];
    let packed = &packed[..find(packed, ENDS)?];
    let mut text = String::new();
    let reader = flate2::read::GzDecoder::new(packed);
    reader.take(LONGEST).read_to_string(&mut text).ok()?;
    Some(text)
}

fn find(bytes: &[u8], wanted: &[u8]) -> Option<usize> {
    // Searching for the first letter is faster: an image has 60 MB.
    let mut from = 0;
    while let Some(at) = bytes.get(from..)?.iter().position(|b| *b == wanted[0]) {
        if bytes[from + at..].starts_with(wanted) {
            return Some(from + at);
        }
        from += at + 1;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::io::Write;

    const TEXT: &str =
        "#\n# Linux/x86 6.1.190 Kernel Configuration\n#\nCONFIG_64BIT=y\n# CONFIG_NET is not set\n";

    #[test]
    fn an_image_tells_the_configuration_that_it_holds() {
        let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        packed.write_all(TEXT.as_bytes()).unwrap();
        let packed = packed.finish().unwrap();
        let image = [b"IIKCFG_S IK", BEGINS, &packed, ENDS, b"more"].concat();
        assert_eq!(embedded(&image).as_deref(), Some(TEXT));
        assert_eq!(version(TEXT), Some((6, 1)));
        assert_eq!(embedded(b"an image without"), None);
        for length in 0..image.len() - 4 {
            assert_eq!(embedded(&image[..length]), None, "{length}");
        }
    }

    #[test]
    fn a_configuration_is_the_kernels_by_its_name_or_by_its_version() {
        let place = tempfile::tempdir().unwrap();
        let tree = place.path().canonicalize().unwrap();
        let boot = tree.join("arch/x86/boot");
        fs::create_dir_all(&boot).unwrap();
        let kernel = boot.join("bzImage");
        fs::write(&kernel, "").unwrap();
        let release = Some("6.1.190-mine");
        assert_eq!(beside(&kernel, release), None);
        fs::write(tree.join(".config"), TEXT).unwrap();
        assert_eq!(beside(&kernel, release), Some(tree.join(".config")));
        // Another kernel's, or nobody knows.
        for other in [Some("6.1.19"), Some("6.1.1901"), Some("6.12.0"), None] {
            assert_eq!(beside(&kernel, other), None, "{other:?}");
        }
        fs::write(boot.join("bzImage.config"), "").unwrap();
        assert_eq!(beside(&kernel, None), Some(boot.join("bzImage.config")));
        fs::write(boot.join("config-6.1.190-mine"), "").unwrap();
        let named = Some(boot.join("config-6.1.190-mine"));
        assert_eq!(beside(&kernel, release), named);
        assert_eq!(beside(&boot.join("vmlinuz-6.1.190-mine"), None), named);
    }
}
