//! Code of late cycles of a laboratory's run, from the windows kept with it.

use wakepath_archive::{Run, command_about};
use wakepath_assess::{WindowsError, stored_windows};
use wakepath_explain::window::Window;
use wakepath_report::windows_code_text;

/// The cycles whose code is wanted.
pub struct WantedCode {
    /// Number of the cycle; the worst of the windows if none.
    pub cycle: Option<u64>,
    /// Segment; any if none.
    pub segment: Option<u32>,
    /// Most of the worst.
    pub worst: usize,
}

/// The code of these cycles, or the command that finds it; none for a run of a real machine.
pub fn text(run: &Run, wanted: &WantedCode) -> Result<Option<String>, WindowsError> {
    if run.manifest.virtual_time.is_none() {
        return Ok(None);
    }
    let all = stored_windows(run)?.windows;
    let is_wanted = |window: &&Window| {
        wanted.cycle.is_none_or(|cycle| cycle == window.cycle)
            && wanted
                .segment
                .is_none_or(|segment| segment == window.segment)
    };
    let mut windows: Vec<&Window> = all.iter().filter(is_wanted).collect();
    windows.sort_by_cached_key(|window| std::cmp::Reverse(window.latency_ns));
    windows.truncate(wanted.worst.max(1));
    if !windows.is_empty() {
        return Ok(Some(windows_code_text(&windows)));
    }
    let cycle = match (wanted.cycle, wanted.segment) {
        (Some(cycle), Some(segment)) => format!("--cycle {segment}:{cycle}"),
        _ => String::new(),
    };
    let run = run.directory().display().to_string();
    let command = command_about("lab window", &run, &cycle);
    Ok(Some(format!("code of these cycles: {command}\n")))
}

/// Whether windows were kept with a run.
pub fn is_kept(run: &Run) -> Result<bool, WindowsError> {
    let is_virtual = run.manifest.virtual_time.is_some();
    Ok(is_virtual && !stored_windows(run)?.windows.is_empty())
}
