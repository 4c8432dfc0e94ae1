//! Removing instances whose process has died. They would continue to fill their buffers until the next boot.

use std::fs;
use std::path::Path;

use crate::borrowed;
use crate::error::{ProbeError, Result};
use crate::owner::Owner;
use crate::tracefs::Tracefs;
use crate::usdt;

/// Removes our instances whose process is dead; returns their names. Runs in its own thread, since it might
/// have to mount tracefs.
///
/// # Errors
/// As [`Tracefs::find_or_mount`], and if no thread can be started. An instance that can't be removed (someone
/// has a file in it open) is left to the next time.
pub fn remove_orphans() -> Result<Vec<String>> {
    let remove = || Ok(remove_in(&Tracefs::find_or_mount()?));
    let thread = std::thread::Builder::new().spawn(remove);
    thread
        .map_err(ProbeError::io("start a thread for", Path::new("tracefs")))?
        .join()
        .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

pub(crate) fn remove_in(tracefs: &Tracefs) -> Vec<String> {
    let instances = tracefs.instances();
    let Ok(entries) = fs::read_dir(&instances) else {
        return Vec::new();
    };
    let removed = entries
        .flatten()
        .filter_map(|entry| entry.file_name().into_string().ok())
        .filter(|name| Owner::new(name).is_some_and(|owner| owner.is_dead()))
        .filter(|name| {
            let removed = remove(&instances.join(name));
            // A tracer that still runs refuses some of its settings.
            borrowed::put_back_of(tracefs.root(), name);
            removed
        })
        .collect();
    // The kernel removes none that an instance records.
    usdt::remove_of(tracefs.root());
    removed
}

/// Stops an instance and removes it.
pub(crate) fn remove(instance: &Path) -> bool {
    // Stopping first: a removal that fails leaves at least nothing that costs time.
    let _ = fs::write(instance.join("tracing_on"), "0");
    let _ = fs::write(instance.join("events/enable"), "0");
    let _ = fs::write(instance.join("current_tracer"), "nop");
    fs::remove_dir(instance).is_ok()
}
