//! Reports of runs in the archive.
//!
//! A run's files are restored, and `wakepath report` writes the page. A report stored with the run
//! comes from a stranger, and is never shown.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use wakepath_fleet_archive::{Catalogue, RunRecord, Store, restore};
use wakepath_timeline::shortened;

/// The program that writes reports.
pub struct Reporter(PathBuf);

impl Reporter {
    /// The given program, else the one on the PATH; none if there is none.
    pub fn found(named: Option<&Path>) -> Option<Self> {
        if let Some(named) = named {
            return Some(Self(named.to_owned()));
        }
        let path = std::env::var_os("PATH")?;
        let mut places = std::env::split_paths(&path).map(|place| place.join("wakepath"));
        places.find(|program| program.is_file()).map(Self)
    }

    /// A run's page.
    ///
    /// # Errors
    /// The reason why there is none, in one line.
    pub fn page(
        &self,
        store: &dyn Store,
        all: &Catalogue,
        record: &RunRecord,
    ) -> Result<Vec<u8>, String> {
        let scratch = tempfile::tempdir().map_err(|error| format!("no room: {error}"))?;
        let run = scratch.path().join("run");
        let made = std::fs::create_dir(&run).map_err(|error| format!("no room: {error}"));
        made?;
        restore(store, all, record, &run).map_err(|error| error.to_string())?;
        let page = scratch.path().join("page.html");
        let program = self.0.display();
        let output = Command::new(&self.0)
            .arg("report")
            .arg(&run)
            .arg("--output")
            .arg(&page)
            .stdin(Stdio::null())
            .output()
            .map_err(|error| format!("{program}: {error}"))?;
        if !output.status.success() {
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            let last = said.lines().last().unwrap_or("it says nothing");
            return Err(format!("{program} report: {}", shortened(last, 300)));
        }
        std::fs::read(&page).map_err(|error| format!("{program} report: {error}"))
    }
}
