//! Remains of a run that was a part of something larger and was cut short: it is not a part any
//! more, and its samples stay, next to the parts.

use crate::terminal::tell;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use wakepath_archive::Run;

/// Time for a round to end in order after the command that started it was killed, and a margin.
const ENDING: Duration = Duration::from_secs(10);

/// Moves it, if it exists, to the first free place; `what` is its intended name. `free` gives the
/// places by number, from 1.
pub fn set_aside(
    place: &Path,
    what: &str,
    free: impl Fn(u32) -> PathBuf,
) -> Result<(), Box<dyn std::error::Error>> {
    if !place.exists() {
        return Ok(());
    }
    if let Some(by) = writer_after_a_while(place) {
        return Err(format!(
            "{}: this run is still under way ({by} writes it): resume after it has ended",
            place.display()
        )
        .into());
    }
    if let Some(aside) = (1..).map(free).find(|aside| !aside.exists()) {
        std::fs::rename(place, &aside).map_err(|error| format!("{}: {error}", place.display()))?;
        tell!(
            "{what} was cut short; its measurements are in {}",
            aside.display()
        );
    }
    Ok(())
}

/// Who writes it, after a round had time to end whose command was killed just now.
fn writer_after_a_while(place: &Path) -> Option<String> {
    let writer = Run::writer(place)?;
    tell!("{}: waiting for {writer} to end", place.display());
    let begun = Instant::now();
    loop {
        match Run::writer(place) {
            Some(_) if begun.elapsed() < ENDING => std::thread::sleep(Duration::from_millis(50)),
            writer => return writer,
        }
    }
}
