//! Kernels out of packages, by the system's own package client (apt): its sources, its keys, its
//! mirrors. Nothing is installed.

use crate::cache::{Cache, sha256_hex};
use crate::kernel::Kernel;
use crate::programs::last_line;
use crate::{LabError, Result};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// What the cache keeps of a package's kernel.
const KERNEL: &str = "vmlinuz";
const DIGEST: &str = "vmlinuz.sha256";

/// The kernel of `package`, or of the kernel package that it depends on.
pub(crate) fn kernel(package: &str, version: Option<&str>, cache: &Cache) -> Result<Kernel> {
    let described = described(package, version)?;
    let described = match field(&described, "Depends").and_then(image) {
        Some(image) => self::described(&image, None)?,
        None => described,
    };
    let needed = |name: &'static str| {
        field(&described, name).ok_or_else(|| LabError::NoPackage {
            package: package.to_owned(),
            why: format!("its description has no {name}"),
        })
    };
    let (name, version) = (needed("Package")?, needed("Version")?);
    let (expected, architecture) = (needed("SHA256")?, needed("Architecture")?);
    let full = format!("{name} {version}");
    // The digest belongs to the name: a package of the same version from elsewhere is another.
    let place = format!(
        "{name}_{}_{architecture}_{}",
        version.replace(':', "%3a"),
        &expected[..16.min(expected.len())]
    );
    let place = cache.directory(&place, is_whole, |partial| {
        let file = download(name, version, partial)?;
        let bytes = fs::read(&file).map_err(|e| LabError::io("read", &file, e))?;
        let found = sha256_hex(&bytes);
        if found != expected {
            return Err(LabError::Download {
                package: full.clone(),
                expected: expected.to_owned(),
                found,
            });
        }
        unpack(&file, partial, &full)?;
        fs::remove_file(&file).map_err(|e| LabError::io("remove", &file, e))
    })?;
    let digest = place.join(DIGEST);
    Ok(Kernel {
        path: place.join(KERNEL),
        sha256: fs::read_to_string(&digest).map_err(|e| LabError::io("read", &digest, e))?,
        package: Some(full),
    })
}

fn is_whole(place: &Path) -> bool {
    let kernel = fs::read(place.join(KERNEL));
    let digest = fs::read_to_string(place.join(DIGEST));
    matches!((kernel, digest), (Ok(kernel), Ok(digest)) if sha256_hex(&kernel) == digest)
}

/// The package's description, as the client has it in its lists.
fn described(package: &str, version: Option<&str>) -> Result<String> {
    let wanted = match version {
        Some(version) => format!("{package}={version}"),
        None => package.to_owned(),
    };
    let mut command = Command::new("apt-cache");
    command
        .args(["show", "--no-all-versions", "--"])
        .arg(&wanted);
    let output = command.env("LC_ALL", "C").stdin(Stdio::null()).output();
    let output = output.map_err(|e| match e.kind() {
        std::io::ErrorKind::NotFound => LabError::NoPackage {
            package: wanted.clone(),
            why: "apt-cache is not installed".into(),
        },
        _ => LabError::io("start", Path::new("apt-cache"), e),
    })?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    if !output.status.success() || field(&text, "Package").is_none() {
        return Err(LabError::NoPackage {
            package: wanted,
            why: last_line(&output.stderr),
        });
    }
    Ok(text)
}

/// A field of a description.
fn field<'a>(described: &'a str, name: &str) -> Option<&'a str> {
    let first = described.split("\n\n").next()?;
    first.lines().find_map(|line| {
        let value = line.strip_prefix(name)?.strip_prefix(':')?;
        Some(value.trim())
    })
}

/// The kernel image that a package without one of its own depends on.
fn image(depends: &str) -> Option<String> {
    depends
        .split(',')
        .map(|one| one.split_whitespace().next().unwrap_or(""))
        .find(|name| name.starts_with("linux-image-"))
        .map(str::to_owned)
}

fn download(name: &str, version: &str, directory: &Path) -> Result<PathBuf> {
    let wanted = format!("{name}={version}");
    run(Command::new("apt-get")
        .args(["download", "--quiet", "--"])
        .arg(&wanted)
        .current_dir(directory))?;
    let mut entries = fs::read_dir(directory).map_err(|e| LabError::io("list", directory, e))?;
    let found = entries.find_map(|entry| {
        let path = entry.ok()?.path();
        (path.extension()? == "deb").then_some(path)
    });
    found.ok_or_else(|| LabError::Command {
        command: format!("apt-get download {wanted}"),
        said: "it left no package".into(),
    })
}

/// Takes `/boot/vmlinuz…` out of the package, and nothing else.
fn unpack(package: &Path, directory: &Path, full: &str) -> Result<()> {
    let mut unpacker = Command::new("dpkg-deb");
    unpacker.arg("--fsys-tarfile").arg(package);
    let mut unpacker = unpacker
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .map_err(|e| LabError::io("start", Path::new("dpkg-deb"), e))?;
    let output = unpacker.stdout.take().expect("it was asked for");
    let taken = run(Command::new("tar")
        .args(["--extract", "--wildcards", "--strip-components=2"])
        .arg("--directory")
        .arg(directory)
        .arg("./boot/vmlinuz*")
        .stdin(Stdio::from(output)));
    let ended = unpacker.wait();
    taken?;
    if !ended.is_ok_and(|status| status.success()) {
        return Err(LabError::NoKernelInPackage {
            package: full.to_owned(),
        });
    }
    let mut entries = fs::read_dir(directory).map_err(|e| LabError::io("list", directory, e))?;
    let kernel = entries.find_map(|entry| {
        let entry = entry.ok()?;
        let name = entry.file_name();
        name.to_str()?.starts_with("vmlinuz").then(|| entry.path())
    });
    let kernel = kernel.ok_or_else(|| LabError::NoKernelInPackage {
        package: full.to_owned(),
    })?;
    let place = directory.join(KERNEL);
    fs::rename(&kernel, &place).map_err(|e| LabError::io("rename", &kernel, e))?;
    let bytes = fs::read(&place).map_err(|e| LabError::io("read", &place, e))?;
    let digest = directory.join(DIGEST);
    fs::write(&digest, sha256_hex(&bytes)).map_err(|e| LabError::io("write", &digest, e))
}

fn run(command: &mut Command) -> Result<()> {
    let program = command.get_program().to_string_lossy().into_owned();
    let output = command.env("LC_ALL", "C").stdout(Stdio::null()).output();
    let output = output.map_err(|e| LabError::io("start", Path::new(&program), e))?;
    match output.status.success() {
        true => Ok(()),
        false => {
            let arguments: Vec<_> = command.get_args().map(|a| a.to_string_lossy()).collect();
            Err(LabError::Command {
                command: format!("{program} {}", arguments.join(" ")),
                said: last_line(&output.stderr),
            })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
    }

    #[test]
    fn a_package_that_is_not_there_is_named() {
        let name = "linux-image-of-nobody";
        let error = described(name, None).unwrap_err().to_string();
        assert!(
            error.contains("no package linux-image-of-nobody is known here"),
            "{error}"
        );
    }
}
