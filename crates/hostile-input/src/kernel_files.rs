//! Any text as a file of /proc or /sys, because processes and drivers choose names freely.
//!
//! Nothing panics or takes memory beyond the text's own length.

use wakepath_readiness::{InterruptLines, Process};
use wakepath_timeline::CpuSet;
use wakepath_tuning::Compare;

/// Reads `text` as each of the kernel files with names.
///
/// # Panics
/// If a reader violates its properties.
pub fn kernel_files(text: &str) {
    if let Some(process) = Process::parse(1, text) {
        assert!(text.contains(&process.name));
    }
    for line in InterruptLines::parse(text) {
        assert!(line.action.len() <= text.len());
    }
    if let Ok(cpus) = CpuSet::of_mask(text) {
        assert!(cpus.len() <= text.len() * 4);
        assert_eq!(CpuSet::of_mask(&cpus.mask()).as_ref(), Ok(&cpus));
    }
    if let Ok(cpus) = text.parse::<CpuSet>() {
        // As written again it means the same.
        assert_eq!(cpus.to_string().parse::<CpuSet>().as_ref(), Ok(&cpus));
    }
    for compare in [
        Compare::Text,
        Compare::Cpus,
        Compare::Mask,
        Compare::Chosen,
        Compare::Word,
        Compare::Words,
    ] {
        assert!(
            compare == Compare::Word || compare.same(text, text),
            "{compare:?}"
        );
    }
}
