//! The Python wheels (PEP 427), so that `pip install` brings program and module.
//!
//! One wheel suits every Python and every C library: it has the static program among the scripts,
//! and the module without its compiled half. Another, for Pythons with glibc, has that half too;
//! installers choose it if it fits.

use super::archive::row;
use super::host;
use super::template::{description, of_workspace};
use super::tree::{Compression, Parts};
use super::version::Version;
use crate::{place, python};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sha2::{Digest, Sha256};
use std::fs::{self, File};
use std::io::Write;
use std::path::Path;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, DateTime, ZipWriter};

/// A wheel under way: its files, and the lines of its `RECORD`.
struct Wheel {
    zip: ZipWriter<File>,
    record: String,
    path: String,
    level: i64,
}

impl Wheel {
    fn new(path: &Path, compression: Compression) -> Result<Self, String> {
        let said = |error| format!("{}: {error}", path.display());
        Ok(Self {
            zip: ZipWriter::new(File::create(path).map_err(said)?),
            record: String::new(),
            path: path.display().to_string(),
            level: match compression {
                Compression::Best => 9,
                Compression::Quick => 1,
            },
        })
    }

    fn add(&mut self, name: &str, bytes: &[u8], mode: u32) -> Result<(), String> {
        let digest = URL_SAFE_NO_PAD.encode(Sha256::digest(bytes));
        self.record += &format!("{name},sha256={digest},{}\n", bytes.len());
        self.write(name, bytes, mode)
    }

    fn write(&mut self, name: &str, bytes: &[u8], mode: u32) -> Result<(), String> {
        // Zip's first day: the same program gives the same bytes.
        let options = SimpleFileOptions::default()
            .compression_method(CompressionMethod::Deflated)
            .compression_level(Some(self.level))
            .last_modified_time(DateTime::default())
            .unix_permissions(mode);
        let begun = self.zip.start_file(name, options);
        begun.map_err(|error| format!("{}: {error}", self.path))?;
        let written = self.zip.write_all(bytes);
        written.map_err(|error| format!("{}: {error}", self.path))
    }

    /// Ends with `RECORD`, which can't hold its own digest.
    fn end(mut self, information: &str) -> Result<(), String> {
        let name = format!("{information}/RECORD");
        self.record += &format!("{name},,\n");
        let record = self.record.clone();
        self.write(&name, record.as_bytes(), 0o644)?;
        let ended = self.zip.finish();
        ended.map_err(|error| format!("{}: {error}", self.path))?;
        Ok(())
    }
}

/// For which Pythons and machines a wheel is.
struct Tags {
    python: &'static str,
    interface: &'static str,
    platforms: Vec<String>,
    requires: &'static str,
}

/// Makes the wheel for every Python; returns its row.
pub(super) fn make(
    parts: &Parts,
    version: &Version,
    directory: &Path,
    _: &Path,
) -> Result<Vec<String>, String> {
    let tags = Tags {
        python: "py3",
        interface: "none",
        platforms: platforms(parts.build.python).into(),
        requires: ">=3.7",
    };
    write(parts, version, directory, &tags, None)
}

/// Makes the wheel with the compiled half; returns its row.
pub(super) fn make_compiled(
    parts: &Parts,
    version: &Version,
    directory: &Path,
    _: &Path,
) -> Result<Vec<String>, String> {
    let Some(module) = &parts.module else {
        let why = "NO wheel with loops for Python: its compiled half was not built";
        return Ok(vec![parts.build.triple.into(), why.into()]);
    };
    // The version of glibc that the module needs.
    let glibc = host::glibc(module)?.replace('.', "_");
    let tags = Tags {
        python: "cp39",
        interface: "abi3",
        platforms: vec![format!("manylinux_{glibc}_{}", parts.build.python)],
        requires: ">=3.9",
    };
    write(parts, version, directory, &tags, Some(module))
}

fn write(
    parts: &Parts,
    version: &Version,
    directory: &Path,
    tags: &Tags,
    module: Option<&Path>,
) -> Result<Vec<String>, String> {
    let version = version.python();
    let of_pythons = format!("{}-{}", tags.python, tags.interface);
    let path = directory.join(format!(
        "wakepath-{version}-{of_pythons}-{}.whl",
        tags.platforms.join(".")
    ));
    let read = |path: &Path| fs::read(path).map_err(|error| format!("{}: {error}", path.display()));
    let information = format!("wakepath-{version}.dist-info");
    let mut wheel = Wheel::new(&path, parts.compression)?;
    for (name, from) in python::files()? {
        wheel.add(&name, &read(&from)?, 0o644)?;
    }
    if let Some(module) = module {
        let name = format!("wakepath/{}", python::COMPILED);
        wheel.add(&name, &read(module)?, 0o755)?;
    }
    let scripts = format!("wakepath-{version}.data/scripts");
    wheel.add(
        &format!("{scripts}/wakepath"),
        &read(&parts.program)?,
        0o755,
    )?;
    for name in ["LICENSE-MIT", "LICENSE-APACHE"] {
        let text = read(&place::root().join(name))?;
        wheel.add(&format!("{information}/licenses/{name}"), &text, 0o644)?;
    }
    let name = format!("{information}/licenses/LICENCES-OF-OTHERS");
    wheel.add(&name, &read(&parts.licences)?, 0o644)?;
    let metadata = metadata(&version, tags.requires)?;
    wheel.add(
        &format!("{information}/METADATA"),
        metadata.as_bytes(),
        0o644,
    )?;
    let lines = tags.platforms.iter();
    let lines: String = lines
        .map(|platform| format!("Tag: {of_pythons}-{platform}\n"))
        .collect();
    let about =
        format!("Wheel-Version: 1.0\nGenerator: wakepath-xtask\nRoot-Is-Purelib: false\n{lines}");
    wheel.add(&format!("{information}/WHEEL"), about.as_bytes(), 0o644)?;
    wheel.end(&information)?;
    row(parts.build.triple, &path)
}

/// Platforms of a static program. manylinux2014 appears twice, because older installers only know
/// that name, which pip accepts from 19.3 on.
fn platforms(machine: &str) -> [String; 3] {
    [
        format!("manylinux_2_17_{machine}"),
        format!("manylinux2014_{machine}"),
        format!("musllinux_1_1_{machine}"),
    ]
}

/// The package's optional dependencies, from its project file.
fn extras() -> Result<String, String> {
    let path = place::root().join("python/pyproject.toml");
    let text = fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    let mut section = text.split("[project.optional-dependencies]\n").skip(1);
    let lines = section.next().unwrap_or("").lines();
    let mut said = String::new();
    for line in lines.take_while(|line| !line.is_empty()) {
        let (name, needed) = line
            .split_once(" = [")
            .ok_or_else(|| path.display().to_string())?;
        said += &format!("Provides-Extra: {name}\n");
        for one in needed.trim_end_matches(']').split(", ") {
            let one = one.trim_matches('"');
            said += &format!("Requires-Dist: {one}; extra == \"{name}\"\n");
        }
    }
    Ok(said)
}

fn metadata(version: &str, requires: &str) -> Result<String, String> {
    let repository = of_workspace("repository")?;
    let summary = description()?;
    let extras = extras()?;
    Ok(format!(
        "Metadata-Version: 2.4
Name: wakepath
Version: {version}
Summary: {summary}
License-Expression: MIT OR Apache-2.0
License-File: LICENSE-MIT
License-File: LICENSE-APACHE
License-File: LICENCES-OF-OTHERS
Project-URL: Repository, {repository}
Project-URL: Changelog, {repository}/blob/main/CHANGELOG.md
Keywords: real-time,latency,scheduling,PREEMPT_RT,cyclictest
Classifier: Environment :: Console
Classifier: Operating System :: POSIX :: Linux
Classifier: Topic :: System :: Benchmark
Classifier: Typing :: Typed
Requires-Python: {requires}
{extras}Description-Content-Type: text/markdown

# wakepath

{summary}: it runs a periodic loop at your rate under each scheduling policy, idle and under load, accounts
for every due time, and says passed, failed, undecided or invalid, with the evidence.

```sh
pip install wakepath
wakepath check --quick
```

The wheel carries the program and the module `wakepath`: loops of your own in Python, which `wakepath record`
records and judges, and runs read as Arrow, polars, pandas or numpy
([guide]({repository}/blob/main/docs/guide/own-loop-python.md)). Loops need glibc and Python 3.9; elsewhere the
wheel brings the program and what reads runs. Controllers from shared libraries need `wakepath-controller-host`
next to it, which the archives and packages of the [releases]({repository}/releases) bring; so do man pages and
completions. All about it: [{repository}]({repository}).
"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_metadata_names_what_the_wheel_carries() {
        let text = metadata("0.1.0", ">=3.9").expect("the workspace says what is needed");
        let (head, body) = text.split_once("\n\n").expect("a blank line ends the head");
        assert!(head.lines().all(|line| line.contains(": ")));
        assert!(
            head.contains("\nRequires-Dist: pyarrow>=12; extra == \"arrow\"\n"),
            "{head}"
        );
        assert_eq!(head.matches("Provides-Extra: ").count(), 4);
        assert!(body.starts_with("# wakepath"));
    }

    #[test]
    fn a_32_bit_arm_has_pythons_name() {
        assert_eq!(platforms("armv7l")[1], "manylinux2014_armv7l");
    }
}
