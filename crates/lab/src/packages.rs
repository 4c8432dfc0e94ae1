//! Extracts a kernel or an emulator from Debian packages.
//!
//! Packages are checked against the package list and unpacked into the cache, where checksums cover
//! every file; they are never installed.

use crate::apt::{Client, field, run};
use crate::cache::Cache;
use crate::kernel::{Kernel, release};
use crate::unpacked::vmlinux;
use crate::{LabError, Result};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use wakepath_guest::sha256_hex;
use wakepath_programs::command;

/// Cached name of a package's kernel.
const KERNEL: &str = "vmlinuz";
const DIGEST: &str = "kernel.sha256";
/// Cached name of a kernel unpacked from another.
const UNPACKED: &str = "vmlinux";
/// Debian divides its newer kernels (such as 7.3): the image's own package is empty, and these
/// contain it.
const DIVIDED: Divided = Divided {
    binary: "linux-binary-",
    base: "linux-base-",
    modules: "linux-modules-",
};
/// Cached checksums of an unpacked tree.
const SUMS: &str = "files.sha256";

/// The kernel of `package`, or of the kernel package that it depends on.
pub(crate) fn kernel(
    package: &str,
    version: Option<&str>,
    client: &Client,
    cache: &Cache,
) -> Result<Kernel> {
    let described = client.described(package, version)?;
    let described = match field(&described, "Depends").and_then(image) {
        Some(image) => client.described(&image, None)?,
        None => described,
    };
    let part = |beginning: &str| {
        let name = field(&described, "Depends").and_then(|all| named_so(all, beginning));
        let described = name.map(|name| client.described(&name, None).map(|it| (name, it)));
        described.transpose()
    };
    let (package, base) = match (part(DIVIDED.binary)?, part(DIVIDED.base)?) {
        (Some((name, binary)), Some((called, base))) => (
            Package::read(&binary, &name)?,
            Some(Package::read(&base, &called)?),
        ),
        _ => (Package::read(&described, package)?, None),
    };
    let place = cache.directory(&package.place(), is_sealed, |partial| {
        for one in [Some(&package), base.as_ref()].into_iter().flatten() {
            cache.tell(&format!("package {}", one.full()));
            let file = one.download(client, partial)?;
            unpack(&file, partial, base.is_some(), &one.full())?;
            fs::remove_file(&file).map_err(|e| LabError::io("remove", &file, e))?;
        }
        finish(partial, &package.full())?;
        seal(partial)
    })?;
    let (digest, path) = (place.join(DIGEST), place.join(KERNEL));
    let image = fs::read(&path).map_err(|e| LabError::io("read", &path, e))?;
    Ok(Kernel {
        release: release(&image),
        path,
        started: place.join(KERNEL),
        sha256: fs::read_to_string(&digest).map_err(|e| LabError::io("read", &digest, e))?,
        package: Some(package.full()),
        config: named(&place, "config"),
    })
}

/// A directory with all files of `packages`, the first of which contains `program`.
pub(crate) fn programs(
    packages: &[&str],
    program: &str,
    client: &Client,
    cache: &Cache,
) -> Result<PathBuf> {
    let mut wanted = Vec::new();
    for name in packages {
        wanted.push(Package::read(&client.described(name, None)?, name)?);
    }
    let good = |place: &Path| is_sealed(place) && place.join(program).is_file();
    cache.directory(&wanted[0].place(), good, |partial| {
        for package in &wanted {
            cache.tell(&format!("package {}", package.full()));
            let file = package.download(client, partial)?;
            run(command("dpkg-deb")?.arg("-x").arg(&file).arg(partial))?;
            fs::remove_file(&file).map_err(|e| LabError::io("remove", &file, e))?;
        }
        seal(partial)
    })
}

/// A directory with all files of `package` and of its dependencies.
pub(crate) fn with_dependencies(package: &str, client: &Client, cache: &Cache) -> Result<PathBuf> {
    let described = Package::read(&client.described(package, None)?, package)?;
    let wanted = client.with_dependencies(package)?;
    // Dependencies can change while the package doesn't.
    let digest = sha256_hex(wanted.join(" ").as_bytes());
    let name = format!("{}-with-{}", described.place(), &digest[..16]);
    cache.directory(&name, is_sealed, |partial| {
        let number = wanted.len();
        cache.tell(&format!(
            "package {} and what it needs: {number} packages",
            described.full()
        ));
        let packages = partial.join("packages");
        fs::create_dir(&packages).map_err(|e| LabError::io("make", &packages, e))?;
        // The client checks each against its list.
        for file in client.download_all(&wanted, &packages)? {
            run(command("dpkg-deb")?.arg("-x").arg(&file).arg(partial))?;
        }
        // Documentation and translations are most of the files, and no program's libraries.
        for useless in [&packages, &partial.join("usr/share")] {
            fs::remove_dir_all(useless).map_err(|e| LabError::io("remove", useless, e))?;
        }
        seal(partial)
    })
}

/// A directory with the modules of the kernel's package. They are a hundred times the kernel's
/// size, so they are unpacked only if some are requested.
pub(crate) fn modules(full_name: &str, client: &Client, cache: &Cache) -> Result<PathBuf> {
    let (name, version) = full_name.split_once(' ').unwrap_or((full_name, ""));
    let name = &of_its_modules(name);
    let described = client.described(name, Some(version).filter(|version| !version.is_empty()))?;
    let package = Package::read(&described, name)?;
    let place = format!("modules-{}", package.place());
    cache.directory(&place, is_sealed, |partial| {
        cache.tell(&format!("modules of the package {}", package.full()));
        let file = package.download(client, partial)?;
        run(command("dpkg-deb")?.arg("-x").arg(&file).arg(partial))?;
        fs::remove_file(&file).map_err(|e| LabError::io("remove", &file, e))?;
        for other in ["boot", "usr/share"] {
            let other = partial.join(other);
            match fs::remove_dir_all(&other) {
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                    return Err(LabError::io("remove", &other, error));
                }
                _ => {}
            }
        }
        seal(partial)
    })
}

/// The kernel, replaced by an unpacked copy in the cache if the emulator can start that.
pub(crate) fn unpacked(kernel: Kernel, cache: &Cache) -> Result<Kernel> {
    let name = format!("unpacked-{}", &kernel.sha256[..16.min(kernel.sha256.len())]);
    let place = cache.directory(&name, is_sealed, |partial| {
        cache.tell("unpacking the kernel");
        let bytes = fs::read(&kernel.path).map_err(|e| LabError::io("read", &kernel.path, e))?;
        if let Some(unpacked) = vmlinux(&bytes) {
            let file = partial.join(UNPACKED);
            fs::write(&file, unpacked).map_err(|e| LabError::io("write", &file, e))?;
        }
        seal(partial)
    })?;
    let unpacked = place.join(UNPACKED);
    let started = if unpacked.is_file() {
        unpacked
    } else {
        kernel.path.clone()
    };
    Ok(Kernel { started, ..kernel })
}

/// Writes a tree's checksums into the tree.
fn seal(place: &Path) -> Result<()> {
    let (sums, file) = (sums_of(place)?, place.join(SUMS));
    fs::write(&file, sums).map_err(|e| LabError::io("write", &file, e))
}

/// Whether all files of an unpacked tree still match its checksums.
fn is_sealed(place: &Path) -> bool {
    let sums = fs::read_to_string(place.join(SUMS));
    matches!((sums, sums_of(place)), (Ok(was), Ok(is)) if was == is)
}

/// The SHA-256 and path of each file below a directory; for a link, of its target's name.
fn sums_of(place: &Path) -> Result<String> {
    let mut lines = Vec::new();
    let mut left = vec![place.to_owned()];
    while let Some(directory) = left.pop() {
        let entries = fs::read_dir(&directory).map_err(|e| LabError::io("list", &directory, e))?;
        for entry in entries.flatten() {
            let path = entry.path();
            let kind = entry.file_type();
            let kind = kind.map_err(|e| LabError::io("read", &path, e))?;
            let digest = match (kind.is_dir(), kind.is_symlink()) {
                (true, _) => {
                    left.push(path);
                    continue;
                }
                (false, true) => {
                    let target = fs::read_link(&path);
                    let target = target.map_err(|e| LabError::io("read", &path, e))?;
                    sha256_hex(target.as_os_str().as_encoded_bytes())
                }
                (false, false) if path == place.join(SUMS) => continue,
                (false, false) => {
                    sha256_hex(&fs::read(&path).map_err(|e| LabError::io("read", &path, e))?)
                }
            };
            let name = path.strip_prefix(place).unwrap_or(&path);
            lines.push(format!("{digest}  {}\n", name.display()));
        }
    }
    lines.sort();
    Ok(lines.concat())
}

/// A package's entry in the list, before the download.
struct Package {
    name: String,
    version: String,
    architecture: String,
    sha256: String,
}

impl Package {
    fn read(described: &str, called: &str) -> Result<Self> {
        let needed = |name: &'static str| match field(described, name) {
            Some(value) => Ok(value.to_owned()),
            None => Err(LabError::NoPackage {
                package: called.to_owned(),
                why: format!("its description has no {name}"),
            }),
        };
        Ok(Self {
            name: needed("Package")?,
            version: needed("Version")?,
            architecture: needed("Architecture")?,
            sha256: needed("SHA256")?,
        })
    }

    fn full(&self) -> String {
        format!("{} {}", self.name, self.version)
    }

    /// The digest belongs to the name: a package of the same version from elsewhere is another.
    fn place(&self) -> String {
        format!(
            "{}_{}_{}_{}",
            self.name,
            self.version.replace(':', "%3a"),
            self.architecture,
            &self.sha256[..16.min(self.sha256.len())]
        )
    }

    fn download(&self, client: &Client, directory: &Path) -> Result<PathBuf> {
        let file = client.download(&self.name, &self.version, directory)?;
        let bytes = fs::read(&file).map_err(|e| LabError::io("read", &file, e))?;
        match sha256_hex(&bytes) {
            found if found == self.sha256 => Ok(file),
            found => Err(LabError::Download {
                package: self.full(),
                expected: self.sha256.clone(),
                found,
            }),
        }
    }
}

/// The file of a directory whose name begins so.
fn named(directory: &Path, beginning: &str) -> Option<PathBuf> {
    let mut entries = fs::read_dir(directory).ok()?;
    entries.find_map(|entry| {
        let entry = entry.ok()?;
        let name = entry.file_name();
        name.to_str()?.starts_with(beginning).then(|| entry.path())
    })
}

/// Prefixes of the packages of a divided kernel.
struct Divided {
    binary: &'static str,
    base: &'static str,
    modules: &'static str,
}

/// The package with the modules of the kernel in package `name`.
fn of_its_modules(name: &str) -> String {
    match name.strip_prefix(DIVIDED.binary) {
        Some(release) => format!("{}{release}", DIVIDED.modules),
        None => name.to_owned(),
    }
}

/// The kernel image that a package without its own depends on.
fn image(depends: &str) -> Option<String> {
    named_so(depends, "linux-image-")
}

/// The first package that is depended on whose name begins so.
fn named_so(depends: &str, beginning: &str) -> Option<String> {
    depends
        .split(',')
        .map(|one| one.split_whitespace().next().unwrap_or(""))
        .find(|name| name.starts_with(beginning))
        .map(str::to_owned)
}

/// Extracts only the kernel from a package: its modules take a hundred times the space. The kernel
/// is in `/boot`, and for a divided kernel next to its modules.
fn unpack(package: &Path, directory: &Path, divided: bool, full: &str) -> Result<()> {
    let wanted: &[&str] = if divided {
        &["--strip-components=5", "./usr/lib/modules/*/*"]
    } else {
        &["--strip-components=2", "./boot/*"]
    };
    let mut unpacker = command("dpkg-deb")?;
    unpacker.arg("--fsys-tarfile").arg(package);
    let mut unpacker = unpacker
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .map_err(|e| LabError::io("start", Path::new("dpkg-deb"), e))?;
    let output = unpacker.stdout.take().expect("it was asked for");
    let before = fs::read_dir(directory).map(Iterator::count).unwrap_or(0);
    let taken = run(command("tar")?
        .args(["--extract", "--wildcards", "--no-wildcards-match-slash"])
        .arg("--directory")
        .arg(directory)
        .args(wanted)
        .stdin(Stdio::from(output)));
    let ended = unpacker.wait();
    let none = || LabError::NoKernelInPackage {
        package: full.to_owned(),
    };
    if !ended.is_ok_and(|status| status.success()) {
        return Err(none());
    }
    // tar fails if the package has no such files.
    let entries = fs::read_dir(directory).map_err(|e| LabError::io("list", directory, e))?;
    if entries.count() <= before {
        return Err(none());
    }
    taken
}

/// Gives the unpacked kernel the name that it is kept under, and its digest.
fn finish(directory: &Path, full: &str) -> Result<()> {
    let kernel = named(directory, "vmlinuz").ok_or_else(|| LabError::NoKernelInPackage {
        package: full.to_owned(),
    })?;
    let place = directory.join(KERNEL);
    fs::rename(&kernel, &place).map_err(|e| LabError::io("rename", &kernel, e))?;
    let bytes = fs::read(&place).map_err(|e| LabError::io("read", &place, e))?;
    let digest = directory.join(DIGEST);
    fs::write(&digest, sha256_hex(&bytes)).map_err(|e| LabError::io("write", &digest, e))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_of_a_tree_that_was_altered_removed_or_added_breaks_its_seal() {
        let place = tempfile::tempdir().unwrap();
        let place = place.path();
        assert!(!is_sealed(place), "nobody sealed it");
        fs::create_dir(place.join("lib")).unwrap();
        fs::write(place.join("lib/a"), "a").unwrap();
        std::os::unix::fs::symlink("a", place.join("lib/link")).unwrap();
        seal(place).unwrap();
        assert!(is_sealed(place));
        fs::write(place.join("lib/a"), "b").unwrap();
        assert!(!is_sealed(place));
        fs::write(place.join("lib/a"), "a").unwrap();
        fs::write(place.join("b"), "").unwrap();
        assert!(!is_sealed(place));
        fs::remove_file(place.join("b")).unwrap();
        assert!(is_sealed(place));
        fs::remove_file(place.join("lib/link")).unwrap();
        assert!(!is_sealed(place));
    }

    #[test]
    fn a_package_without_a_kernel_leads_to_the_one_with() {
        let described = "Package: linux-image-rt-amd64\nVersion: 6.1.192-2\n\
                         Depends: linux-image-6.1.0-56-rt-amd64 (= 6.1.192-2), other\n\n\
                         Package: another\n";
        assert_eq!(field(described, "Version"), Some("6.1.192-2"));
        let depends = field(described, "Depends").unwrap();
        assert_eq!(
            image(depends).as_deref(),
            Some("linux-image-6.1.0-56-rt-amd64")
        );
        let own = "kmod, linux-base (>= 4.3~), initramfs-tools | linux-initramfs-tool";
        assert_eq!(image(own), None);
        assert_eq!(named_so(own, DIVIDED.base), None);
        assert_eq!(of_its_modules("linux-image-6.1"), "linux-image-6.1");
    }

    #[test]
    fn a_divided_kernel_is_found_in_its_packages() {
        let depends = "dracut | linux-initramfs-tool, linux-base-7.3.4-amd64 (= 7.3.4-1), \
                       linux-binary-7.3.4-amd64 (= 7.3.4-1), linux-modules-7.3.4-amd64 (= 7.3.4-1)";
        let of = |beginning| named_so(depends, beginning);
        assert_eq!(of(DIVIDED.base).as_deref(), Some("linux-base-7.3.4-amd64"));
        let binary = of(DIVIDED.binary).unwrap();
        assert_eq!(of(DIVIDED.modules), Some(of_its_modules(&binary)));
    }
}
