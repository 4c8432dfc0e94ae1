//! Hands a report to the browser of the desktop, if there is one.

use super::Failure;
use std::path::Path;
use std::process::{Command, Stdio};

/// Where a desktop says that it is there, and what a user may name instead.
const SIGNS: [&str; 3] = ["DISPLAY", "WAYLAND_DISPLAY", "BROWSER"];

/// Hands it over and waits for no answer but that it was taken.
pub(super) fn open(report: &Path) -> Result<(), Failure> {
    let report = std::path::absolute(report)?;
    let by_hand = |why: &dyn std::fmt::Display| {
        format!(
            "--open: {why}; open {} in a browser yourself",
            report.display()
        )
    };
    let is_set = |name: &&str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    if !SIGNS.iter().any(is_set) {
        return Err(by_hand(&"there is no display here").into());
    }
    let program = wakepath_programs::find("xdg-open").map_err(|why| by_hand(&why))?;
    let status = Command::new(program)
        .arg(&report)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .map_err(|why| by_hand(&why))?;
    if status.success() {
        Ok(())
    } else {
        Err(by_hand(&format!("xdg-open found no browser ({status})")).into())
    }
}
