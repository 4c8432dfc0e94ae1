//! A process with all that it started, found through /proc. Those whose own parent has ended are
//! not among them.

use std::fs;

/// The process and its descendants, parents first.
pub fn with_descendants(process: u32) -> Vec<u32> {
    let mut found = vec![process];
    let Ok(threads) = fs::read_dir(format!("/proc/{process}/task")) else {
        return found;
    };
    for thread in threads.flatten() {
        let children = fs::read_to_string(thread.path().join("children")).unwrap_or_default();
        for child in children
            .split_whitespace()
            .filter_map(|child| child.parse().ok())
        {
            found.extend(with_descendants(child));
        }
    }
    found
}
