//! Names of kernels that users can give, and the files they lead to.

use crate::apt::Client;
use crate::architecture::Architecture;
use crate::cache::Cache;
use crate::kernel::{Kernel, refuse_other, release};
use crate::{LabError, Result, configuration, packages};
use std::fmt;
use std::fs;
use std::path::PathBuf;
use wakepath_guest::sha256_hex;

/// A kernel as a user names it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KernelName {
    /// A file.
    Path(PathBuf),
    /// A package of the system's package client.
    Package {
        /// As the user called it.
        called: String,
        /// Name of the package, or of one that depends on it.
        package: String,
        /// Version; the newest if none.
        version: Option<String>,
        /// Release of Debian; if none, the one that the system's package client uses.
        release: Option<String>,
    },
}

impl KernelName {
    /// Parses `debian:stock`, `debian:rt`, `package:NAME`, `package:NAME=VERSION`, each of these
    /// followed by an optional `@RELEASE`, or a path.
    ///
    /// # Errors
    /// [`LabError::KernelName`].
    pub fn parse(text: &str, architecture: Architecture) -> Result<Self> {
        let architecture = architecture.of_kernels();
        let wrong = || LabError::KernelName {
            name: text.to_owned(),
        };
        // All of it becomes arguments of the package client: no option, no path.
        let plain = |word: &str| {
            let plain = |c: char| c.is_ascii_alphanumeric() || "+-.".contains(c);
            word.starts_with(|c: char| c.is_ascii_alphanumeric()) && word.chars().all(plain)
        };
        let package = |package: &str, release: Option<&str>, version: Option<&str>| {
            if plain(package) && release.is_none_or(plain) {
                Ok(Self::Package {
                    called: text.to_owned(),
                    package: package.to_owned(),
                    version: version.map(str::to_owned),
                    release: release.map(str::to_owned),
                })
            } else {
                Err(wrong())
            }
        };
        let of_debian = |kind: &str| {
            let (kind, release) = at_release(kind);
            match kind {
                "stock" => package(&format!("linux-image-{architecture}"), release, None),
                "rt" => package(&format!("linux-image-rt-{architecture}"), release, None),
                _ => Err(wrong()),
            }
        };
        match text.split_once(':') {
            Some(("debian", kind)) => of_debian(kind),
            Some(("package", wanted)) => {
                let (name, version) = match wanted.split_once('=') {
                    Some((name, version)) => (name, Some(version)),
                    None => (wanted, None),
                };
                let (name, release) = at_release(name);
                package(name, release, version)
            }
            _ if text.is_empty() => Err(wrong()),
            _ => match PathBuf::from(text) {
                path if path.is_file() => Ok(Self::Path(path)),
                _ => Err(wrong()),
            },
        }
    }

    /// The kernel's file; packages are downloaded, checked and stored in `cache`.
    ///
    /// # Errors
    /// If it isn't available.
    pub fn fetch(&self, architecture: Architecture, cache: &Cache) -> Result<Kernel> {
        let kernel = match self {
            Self::Path(path) => {
                let bytes = fs::read(path).map_err(|e| LabError::io("read", path, e))?;
                refuse_other(path, &bytes, architecture)?;
                let release = release(&bytes);
                Kernel {
                    path: path.clone(),
                    started: path.clone(),
                    sha256: sha256_hex(&bytes),
                    package: None,
                    config: configuration::beside(path, release.as_deref()),
                    release,
                }
            }
            Self::Package {
                package,
                version,
                release,
                ..
            } => {
                let client = client(release.as_deref(), architecture, cache)?;
                packages::kernel(package, version.as_deref(), &client, cache)?
            }
        };
        match architecture {
            Architecture::X86_64 => packages::unpacked(kernel, cache),
            Architecture::Aarch64 | Architecture::Armv7 => Ok(kernel),
        }
    }
}

impl KernelName {
    /// A directory with the modules of its package; none if the kernel is a file.
    ///
    /// # Errors
    /// If they aren't available.
    pub fn modules(
        &self,
        kernel: &Kernel,
        architecture: Architecture,
        cache: &Cache,
    ) -> Result<Option<PathBuf>> {
        match (self, &kernel.package) {
            (Self::Package { release, .. }, Some(package)) => {
                let client = client(release.as_deref(), architecture, cache)?;
                packages::modules(package, &client, cache).map(Some)
            }
            _ => Ok(None),
        }
    }
}

/// Splits `NAME@RELEASE`.
fn at_release(name: &str) -> (&str, Option<&str>) {
    match name.split_once('@') {
        Some((name, release)) => (name, Some(release)),
        None => (name, None),
    }
}

fn client(release: Option<&str>, architecture: Architecture, cache: &Cache) -> Result<Client> {
    match (release, architecture) {
        (Some(release), _) => Client::for_release(architecture.of_debian(), release, cache),
        (None, Architecture::X86_64) => Ok(Client::of_the_system(cache)),
        (None, other) => Client::for_architecture(other.of_debian(), "", cache),
    }
}

impl fmt::Display for KernelName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Path(path) => path.display().fmt(f),
            Self::Package { called, .. } => called.fmt(f),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::IMAGES;

    #[test]
    fn names_lead_to_packages() {
        let of = |text| match KernelName::parse(text, Architecture::X86_64).unwrap() {
            KernelName::Package {
                package,
                version,
                release,
                ..
            } => (package, release.or(version)),
            other => panic!("{other:?}"),
        };
        assert_eq!(of("debian:stock"), ("linux-image-amd64".into(), None));
        assert_eq!(of("debian:rt"), ("linux-image-rt-amd64".into(), None));
        let newer = Some("bookworm-backports".to_owned());
        assert_eq!(
            of("debian:rt@bookworm-backports"),
            ("linux-image-rt-amd64".into(), newer.clone())
        );
        assert_eq!(
            of("package:linux-image-a@bookworm-backports=6"),
            ("linux-image-a".into(), newer)
        );
        assert_eq!(
            of("package:linux-image-6.1.0-56-cloud-amd64=6.1.192-2"),
            (
                "linux-image-6.1.0-56-cloud-amd64".into(),
                Some("6.1.192-2".into())
            )
        );
    }

    #[test]
    fn what_is_neither_a_file_nor_a_known_name_is_refused_with_what_there_is() {
        for text in [
            "",
            "no-such-file",
            "debian:xenomai",
            "package:",
            "package:--help",
            "package:../a",
            "debian:rt@",
            "debian:rt@-a",
            "package:a@../b",
        ] {
            let error = KernelName::parse(text, Architecture::X86_64)
                .unwrap_err()
                .to_string();
            assert!(
                error.contains(&format!("{text:?} is not a kernel: give")),
                "{error}"
            );
        }
    }

    #[test]
    fn a_file_that_is_no_kernel_or_another_architectures_is_refused_by_what_it_is() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("image");
        let cache = Cache::at(place.path());
        let fetched = |bytes: &[u8], architecture| {
            fs::write(&path, bytes).unwrap();
            let fetched = KernelName::Path(path.clone()).fetch(architecture, &cache);
            fetched.map(drop).map_err(|error| error.to_string())
        };
        for (own, at, magic) in IMAGES {
            let mut image = vec![0; at];
            image.extend_from_slice(magic);
            assert_eq!(fetched(&image, own), Ok(()), "{own}");
            for other in Architecture::ALL.into_iter().filter(|&other| other != own) {
                let said = fetched(&image, other).unwrap_err();
                let expected = format!("is a kernel for {own}, the guest is {other}");
                assert!(said.contains(&expected), "{said}");
            }
        }
        for bytes in [b"".as_slice(), b"# a letter", &[0; 0x203]] {
            let said = fetched(bytes, Architecture::X86_64).unwrap_err();
            assert!(
                said.contains("is not a bzImage, the guest is x86-64"),
                "{said}"
            );
        }
        assert_eq!(fetched(&[0x1f, 0x8b], Architecture::Aarch64), Ok(()));
    }
}
