//! The system's package client (apt).
//!
//! Used with the system's own configuration, or with separate lists for another architecture or
//! release. It uses the system's mirrors, keys and checksums; nothing is installed and root is not
//! needed.

use crate::cache::Cache;
use crate::said::last_line;
use crate::{LabError, Result};
use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::Duration;

/// The keys that Debian's archive is signed with.
const KEYS: &str = "/usr/share/keyrings/debian-archive-keyring.gpg";
/// Mirror for a system whose client has no Debian list.
const MIRROR: &str = "http://deb.debian.org/debian";
/// SIGHUP, SIGINT, SIGTERM: a request to end.
const ASKED_TO_END: [i32; 3] = [1, 2, 15];
/// Lists older than this are updated.
const FRESH: Duration = Duration::from_secs(24 * 60 * 60);

/// A package client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Client {
    options: Vec<String>,
}

impl Client {
    /// The system's own configuration. The index of the package lists is kept in `cache`: a system
    /// without one, such as a container, rebuilds it for every query, which takes longer than the
    /// query.
    pub fn of_the_system(cache: &Cache) -> Self {
        // Works without the cache too.
        let kept = cache.place("apt").map(|place| {
            let file = place.join("pkgcache.bin").display().to_string();
            vec!["-o".to_owned(), format!("Dir::Cache::pkgcache={file}")]
        });
        let options = kept.unwrap_or_default();
        Self { options }
    }

    /// With its own lists in `cache`, for an architecture in Debian's terms. `suffix` is appended
    /// to the name of the host's release, such as `-backports`.
    pub fn for_architecture(architecture: &str, suffix: &str, cache: &Cache) -> Result<Self> {
        let (mirror, release) = mirror();
        Self::with_lists(architecture, &mirror, release + suffix, cache)
    }

    /// The same for a named release, such as `trixie` or `bookworm-backports`.
    pub fn for_release(architecture: &str, release: &str, cache: &Cache) -> Result<Self> {
        Self::with_lists(architecture, &mirror().0, release.to_owned(), cache)
    }

    fn with_lists(
        architecture: &str,
        mirror: &str,
        release: String,
        cache: &Cache,
    ) -> Result<Self> {
        if !Path::new(KEYS).exists() {
            return Err(LabError::MissingProgram {
                program: KEYS.into(),
                package: "debian-archive-keyring",
            });
        }
        let place = cache.place(&format!("apt-{release}-{architecture}"))?;
        for inner in ["lists/partial", "cache/archives/partial"] {
            let inner = place.join(inner);
            fs::create_dir_all(&inner).map_err(|e| LabError::io("make", &inner, e))?;
        }
        let status = place.join("status");
        fs::write(&status, "").map_err(|e| LabError::io("write", &status, e))?;
        let sources = place.join("sources.list");
        let line = format!("deb [signed-by={KEYS}] {mirror} {release} main\n");
        let known = fs::read_to_string(&sources).is_ok_and(|text| text == line);
        fs::write(&sources, line).map_err(|e| LabError::io("write", &sources, e))?;
        let at = |name: &str| place.join(name).display().to_string();
        let options = [
            format!("Dir::Etc::sourcelist={}", at("sources.list")),
            "Dir::Etc::sourceparts=/dev/null".into(),
            "Dir::Etc::preferencesparts=/dev/null".into(),
            format!("Dir::State={}", at("")),
            format!("Dir::State::status={}", at("status")),
            format!("Dir::Cache={}", at("cache")),
            format!("APT::Architecture={architecture}"),
            format!("APT::Architectures::={architecture}"),
            // Prefers a release that is not the newest, such as backports.
            format!("APT::Default-Release={release}"),
            "Acquire::Languages=none".into(),
            "Acquire::IndexTargets::deb::DEP-11::DefaultEnabled=false".into(),
            // The lists belong to this user.
            "APT::Sandbox::User=".into(),
        ];
        let options = options
            .into_iter()
            .flat_map(|option| ["-o".to_owned(), option])
            .collect();
        let client = Self { options };
        // Waits for others that fetch the same lists; the lock ends with this function.
        let lock = place.join("lock");
        let file = fs::File::create(&lock).map_err(|e| LabError::io("make", &lock, e))?;
        file.lock().map_err(|e| LabError::io("lock", &lock, e))?;
        let updated = place.join("updated");
        if !(known && is_fresh(&updated)) {
            cache.tell(&format!("package lists of {release} for {architecture}"));
            let updating = run(client.command("apt-get")?.args(["update", "--quiet"]));
            updating.map_err(|error| without_release(error, mirror, &release))?;
            fs::write(&updated, "").map_err(|e| LabError::io("write", &updated, e))?;
        }
        Ok(client)
    }

    fn command(&self, program: &str) -> Result<Command> {
        let mut command = wakepath_programs::command(program)?;
        command.args(&self.options).env("LC_ALL", "C");
        command.stdin(Stdio::null());
        Ok(command)
    }

    /// The package's description, of the newest version if `version` is none.
    pub fn described(&self, package: &str, version: Option<&str>) -> Result<String> {
        let wanted = match version {
            Some(version) => format!("{package}={version}"),
            None => package.to_owned(),
        };
        let mut command = self
            .command("apt-cache")
            .map_err(|error| LabError::NoPackage {
                package: wanted.clone(),
                why: error.to_string(),
            })?;
        command
            .args(["show", "--no-all-versions", "--"])
            .arg(&wanted);
        let output = ended(&mut command)?;
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        if !output.status.success() || field(&text, "Package").is_none() {
            return Err(LabError::NoPackage {
                package: wanted,
                // apt prints nothing about a version.
                why: match (version, output.stderr.is_empty()) {
                    (Some(_), true) => format!("`apt-cache madison {package}` lists its versions"),
                    _ => last_line(&output.stderr),
                },
            });
        }
        Ok(text)
    }

    /// Downloads a package into an empty directory.
    pub fn download(&self, name: &str, version: &str, directory: &Path) -> Result<PathBuf> {
        let wanted = format!("{name}={version}");
        run(self
            .command("apt-get")?
            .args(["download", "--quiet", "--"])
            .arg(&wanted)
            .current_dir(directory))?;
        let found = packages_in(directory)?.pop();
        found.ok_or_else(|| LabError::Command {
            command: format!("apt-get download {wanted}"),
            said: "it left no package".into(),
        })
    }

    /// A package and all its dependencies, each as `NAME=VERSION`. Needs a client with its own
    /// lists: with the system's, installed packages would be missing.
    pub fn with_dependencies(&self, package: &str) -> Result<Vec<String>> {
        let mut command = self.command("apt-get")?;
        command
            .args(["install", "--simulate", "--no-install-recommends", "--"])
            .arg(package);
        let output = ended(&mut command)?;
        let wanted = installed(&String::from_utf8_lossy(&output.stdout));
        if output.status.success() && !wanted.is_empty() {
            Ok(wanted)
        } else {
            Err(LabError::NoPackage {
                package: package.to_owned(),
                why: last_line(&output.stderr),
            })
        }
    }

    /// Downloads packages, each `NAME=VERSION`, into an empty directory; the client checks each
    /// against its list.
    pub fn download_all(&self, wanted: &[String], directory: &Path) -> Result<Vec<PathBuf>> {
        run(self
            .command("apt-get")?
            .args(["download", "--quiet", "--"])
            .args(wanted)
            .current_dir(directory))?;
        let found = packages_in(directory)?;
        if found.len() == wanted.len() {
            Ok(found)
        } else {
            Err(LabError::Command {
                command: format!("apt-get download of {} packages", wanted.len()),
                said: format!("it left {}", found.len()),
            })
        }
    }
}

/// Recognises a release that the mirror doesn't have: archived, or misspelt.
fn without_release(error: LabError, mirror: &str, release: &str) -> LabError {
    match error {
        LabError::Command { said, .. } if said.contains("does not have a Release file") => {
            LabError::NoRelease {
                release: release.to_owned(),
                mirror: mirror.to_owned(),
            }
        }
        other => other,
    }
}

/// The packages in a directory.
fn packages_in(directory: &Path) -> Result<Vec<PathBuf>> {
    let entries = fs::read_dir(directory).map_err(|e| LabError::io("list", directory, e))?;
    let paths = entries.filter_map(|entry| Some(entry.ok()?.path()));
    Ok(paths
        .filter(|path| path.extension().is_some_and(|kind| kind == "deb"))
        .collect())
}

/// Packages that `apt-get install --simulate` would install: lines `Inst NAME (VERSION ORIGIN
/// [ARCHITECTURE])`.
fn installed(said: &str) -> Vec<String> {
    let lines = said.lines().filter_map(|line| {
        let mut words = line.strip_prefix("Inst ")?.split_whitespace();
        let (name, version) = (words.next()?, words.next()?.strip_prefix('(')?);
        Some(format!("{name}={version}"))
    });
    lines.collect()
}

/// The system's mirror of Debian and its release; Debian's own and its stable release if the system
/// isn't Debian.
fn mirror() -> (String, String) {
    let listed = wakepath_programs::command("apt-get").map(|mut command| {
        command
            .args(["indextargets", "--format"])
            .arg("$(ORIGIN) $(REPO_URI) $(CODENAME)")
            .arg("Created-By: Packages")
            .stdin(Stdio::null())
            .output()
    });
    let listed = listed.ok().and_then(|ended| ended.ok());
    let listed = listed.map(|output| String::from_utf8_lossy(&output.stdout).into_owned());
    let found = listed.and_then(|listed| first_of_debian(&listed));
    found.unwrap_or_else(|| (MIRROR.into(), "stable".into()))
}

/// The first release of Debian's that is neither for updates nor for security: those hold no whole
/// archive.
fn first_of_debian(listed: &str) -> Option<(String, String)> {
    listed.lines().find_map(|line| {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words[..] {
            ["Debian", mirror, release] if !release.contains('-') => {
                Some((mirror.trim_end_matches('/').into(), release.into()))
            }
            _ => None,
        }
    })
}

fn is_fresh(file: &Path) -> bool {
    let modified = fs::metadata(file).and_then(|found| found.modified());
    modified.is_ok_and(|at| at.elapsed().is_ok_and(|age| age < FRESH))
}

/// A field of a description.
pub(crate) fn field<'a>(described: &'a str, name: &str) -> Option<&'a str> {
    let first = described.split("\n\n").next()?;
    first.lines().find_map(|line| {
        let value = line.strip_prefix(name)?.strip_prefix(':')?;
        Some(value.trim())
    })
}

/// Runs a command to its end. An end by Ctrl-C is not an error of the packages.
fn ended(command: &mut Command) -> Result<Output> {
    let program = command.get_program().to_owned();
    let output = command.output();
    let output = output.map_err(|e| LabError::io("start", Path::new(&program), e))?;
    match output.status.signal() {
        None => Ok(output),
        Some(number) if ASKED_TO_END.contains(&number) => Err(LabError::Interrupted),
        Some(number) => Err(LabError::Command {
            command: program.to_string_lossy().into_owned(),
            said: format!("ended by signal {number}"),
        }),
    }
}

/// Runs a command whose only interest is whether it succeeds.
pub(crate) fn run(command: &mut Command) -> Result<()> {
    let program = command.get_program().to_string_lossy().into_owned();
    let output = ended(command.env("LC_ALL", "C").stdout(Stdio::null()))?;
    if output.status.success() {
        Ok(())
    } else {
        // Options are an implementation detail of this module.
        let words = command.get_args().map(|a| a.to_string_lossy());
        let arguments: Vec<_> = words.filter(|w| w != "-o" && !w.contains("::")).collect();
        Err(LabError::Command {
            command: format!("{program} {}", arguments.join(" ")),
            said: last_line(&output.stderr),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mirror_is_the_systems_own_and_never_that_of_security_updates() {
        let listed = "Google http://packages.cloud.google.com/apt cloud-sdk\n\
                      Debian http://mirror.example/debian-security/ bookworm-security\n\
                      Debian http://mirror.example/debian/ bookworm-updates\n\
                      Debian http://mirror.example/debian/ bookworm\n";
        let found = first_of_debian(listed);
        let expected = ("http://mirror.example/debian".into(), "bookworm".into());
        assert_eq!(found, Some(expected));
        assert_eq!(first_of_debian("Ubuntu http://a/ubuntu noble\n"), None);
    }

    #[test]
    fn what_would_be_installed_is_read_from_the_clients_words() {
        let said = "Reading package lists...\n\
                    Inst libgcc-s1 (12.2.0-14+deb12u1 Debian:12.15/oldstable [arm64]) []\n\
                    Inst zlib1g (1:1.2.13.dfsg-1 Debian:12.15/oldstable [arm64])\n\
                    Conf zlib1g (1:1.2.13.dfsg-1 Debian:12.15/oldstable [arm64])\n";
        let expected = ["libgcc-s1=12.2.0-14+deb12u1", "zlib1g=1:1.2.13.dfsg-1"];
        assert_eq!(installed(said), expected);
    }

    #[test]
    fn ctrl_c_while_a_client_runs_is_no_missing_package() {
        let ended_by = |signal: &str| {
            let kill = format!("kill -{signal} $$");
            run(Command::new("/bin/sh").args(["-c", &kill])).unwrap_err()
        };
        // A shell starts background processes with Ctrl-C ignored, and children inherit that.
        let status = std::fs::read_to_string("/proc/self/status").unwrap();
        let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
        let ignored = u64::from_str_radix(ignored.unwrap().trim(), 16).unwrap();
        let signals = ["TERM", "INT"].into_iter();
        for signal in signals.take(if ignored & 2 == 0 { 2 } else { 1 }) {
            assert!(
                matches!(ended_by(signal), LabError::Interrupted),
                "{signal}"
            );
        }
        let killed = ended_by("KILL").to_string();
        assert_eq!(killed, "/bin/sh failed: ended by signal 9");
    }

    #[test]
    fn a_release_that_the_mirror_lacks_says_where_archived_ones_are() {
        let said = |said: &str| LabError::Command {
            command: "apt-get update".into(),
            said: said.into(),
        };
        let mirror = "http://mirror.example/debian";
        let lacking = "E: The repository 'http://mirror.example/debian buster Release' does not have a Release file.";
        let found = without_release(said(lacking), mirror, "buster").to_string();
        for part in [
            "buster",
            mirror,
            "archive.debian.org",
            "dpkg-deb -x",
            "--kernel",
        ] {
            assert!(found.contains(part), "{found}");
        }
        assert_eq!(found.lines().count(), 1);
        let other = without_release(said("E: no space left"), mirror, "buster").to_string();
        assert!(other.contains("no space left"), "{other}");
    }

    #[test]
    fn a_package_that_is_not_there_is_named() {
        let name = "linux-image-of-nobody";
        let place = tempfile::tempdir().unwrap();
        let client = Client::of_the_system(&Cache::at(place.path()));
        let error = client.described(name, None);
        let error = error.unwrap_err().to_string();
        assert!(
            error.contains("no package linux-image-of-nobody is known here"),
            "{error}"
        );
        let error = client.described("dpkg", Some("0.0.nobody"));
        let error = error.unwrap_err().to_string();
        assert!(error.contains("apt-cache madison dpkg"), "{error}");
    }
}
