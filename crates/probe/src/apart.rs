//! CPUs that a control group keeps for itself: threads outside it can't run there. The probe enters the group
//! for its trials on such a CPU beforehand, then leaves it: while cycles are measured it is outside.

use crate::error::{ProbeError, Result};
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// The CPUs and their group.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Apart {
    /// CPUs that only those in the group may run on.
    pub cpus: Vec<u16>,
    /// The group's directory.
    pub group: PathBuf,
    /// That of the group which the probe is in otherwise.
    pub home: PathBuf,
}

/// Does something that runs on a CPU: inside the group if that keeps the CPU.
pub(crate) fn on<T>(
    apart: Option<&Apart>,
    cpu: u16,
    work: impl FnOnce() -> Result<T>,
) -> Result<T> {
    match apart.filter(|apart| apart.cpus.contains(&cpu)) {
        None => work(),
        Some(apart) => apart
            .inside(work)
            .map_err(ProbeError::io("enter and leave", &apart.group))?,
    }
}

impl Apart {
    /// Does something inside the group.
    fn inside<T>(&self, work: impl FnOnce() -> T) -> io::Result<T> {
        go(&self.group)?;
        let done = work();
        // A probe that stayed would disturb the loop.
        go(&self.home)?;
        Ok(done)
    }
}

/// Moves this process, all its threads; 0 means the writer (cgroups(7)).
fn go(group: &Path) -> io::Result<()> {
    let file = group.join("cgroup.procs");
    let written = File::options()
        .write(true)
        .open(&file)
        .and_then(|mut file| file.write_all(b"0"));
    written.map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", file.display())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_goes_in_and_comes_back_and_a_closed_group_is_an_error() {
        let place = tempfile::tempdir().unwrap();
        let [group, home] = ["group", "home"].map(|name| place.path().join(name));
        for directory in [&group, &home] {
            std::fs::create_dir(directory).unwrap();
            std::fs::write(directory.join("cgroup.procs"), "").unwrap();
        }
        let cpus = vec![1];
        let apart = Apart { cpus, group, home };
        let read = |directory: &Path| std::fs::read_to_string(directory.join("cgroup.procs"));
        let seen = apart.inside(|| (read(&apart.group).unwrap(), read(&apart.home).unwrap()));
        assert_eq!(seen.unwrap(), ("0".to_owned(), String::new()));
        assert_eq!(read(&apart.home).unwrap(), "0");
        std::fs::remove_file(apart.group.join("cgroup.procs")).unwrap();
        let error = apart.inside(|| ()).unwrap_err().to_string();
        assert!(error.contains("group/cgroup.procs"), "{error}");
    }
}
