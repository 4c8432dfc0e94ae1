//! What is left of a run that is a part of something larger and was cut short: it is no part, and its samples stay,
//! beside the parts.

use crate::terminal::tell;
use std::path::{Path, PathBuf};
use wakepath_archive::Run;

/// Moves it to the first place that is free, where it is there; `what` is what it was to become. `free` gives the
/// places by their number, from 1.
pub fn set_aside(
    place: &Path,
    what: &str,
    free: impl Fn(u32) -> PathBuf,
) -> Result<(), Box<dyn std::error::Error>> {
    if !place.exists() {
        return Ok(());
    }
    if let Some(by) = Run::writer(place) {
        return Err(format!(
            "{}: this round is still under way ({by} writes it): go on when it has ended",
            place.display()
        )
        .into());
    }
    if let Some(aside) = (1..).map(free).find(|aside| !aside.exists()) {
        std::fs::rename(place, &aside).map_err(|error| format!("{}: {error}", place.display()))?;
        tell!(
            "{what} was cut short; what it measured is in {}",
            aside.display()
        );
    }
    Ok(())
}
