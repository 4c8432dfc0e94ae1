//! Memory, swap, and settings that can move pages of a running loop.

use serde::{Deserialize, Serialize};

use crate::{Misread, Reading, Root};

/// Memory and its management.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Memory {
    /// All memory, KiB.
    pub total_kib: Reading<u64>,
    /// Memory available to a new program without swapping, KiB.
    pub available_kib: Reading<u64>,
    /// Swap space, KiB.
    pub swap_total_kib: Reading<u64>,
    /// Swap space in use, KiB.
    pub swap_used_kib: Reading<u64>,
    /// Counters since boot.
    pub activity: Reading<MemoryActivity>,
    /// Time in which every runnable task waited for memory, µs since boot (`full` in
    /// `/proc/pressure/memory`).
    pub stalled_us: Reading<u64>,
    /// Transparent huge pages: `always`, `madvise` or `never`.
    pub huge_pages: Reading<String>,
    /// Merging of equal pages: 1 while it runs.
    pub merging: Reading<u32>,
    /// Moving pages between NUMA nodes: not 0 while it runs.
    pub numa_balancing: Reading<u32>,
    /// Whether the kernel can move locked pages to make space: 1 if so.
    pub compacts_locked: Reading<u32>,
    /// Seconds between the updates of memory statistics on every CPU.
    pub statistics_interval_s: Reading<u64>,
}

/// Activity of the memory manager since boot.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct MemoryActivity {
    /// Pages read back from swap.
    pub swapped_in: u64,
    /// Pages written to swap.
    pub swapped_out: u64,
    /// Page faults that required a read from a disk.
    pub major_faults: u64,
    /// Times a task waited for memory to be freed or compacted.
    pub direct_stalls: u64,
    /// Processes killed for want of memory.
    pub killed: u64,
}

impl Memory {
    pub(super) fn read(root: &Root) -> Self {
        let info = root.text("/proc/meminfo");
        let kib = |name: &str| info.clone().parse(|text| meminfo(text, name));
        Self {
            total_kib: kib("MemTotal"),
            available_kib: kib("MemAvailable"),
            swap_total_kib: kib("SwapTotal"),
            swap_used_kib: info.clone().parse(|text| {
                Ok(meminfo(text, "SwapTotal")?.saturating_sub(meminfo(text, "SwapFree")?))
            }),
            activity: root.parsed("/proc/vmstat", activity),
            stalled_us: root.parsed("/proc/pressure/memory", stalled),
            huge_pages: root.parsed("/sys/kernel/mm/transparent_hugepage/enabled", bracketed),
            merging: root.number("/sys/kernel/mm/ksm/run"),
            numa_balancing: root.number("/proc/sys/kernel/numa_balancing"),
            compacts_locked: root.number("/proc/sys/vm/compact_unevictable_allowed"),
            statistics_interval_s: root.number("/proc/sys/vm/stat_interval"),
        }
    }
}

fn meminfo(text: &str, name: &str) -> Result<u64, Misread> {
    text.lines()
        .find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))
        .and_then(|rest| rest.split_whitespace().next()?.parse().ok())
        .ok_or_else(|| Misread::lacks(format!("`{name}: … kB` line")))
}

fn activity(text: &str) -> Result<MemoryActivity, Misread> {
    let mut found = MemoryActivity::default();
    let mut any = false;
    for line in text.lines() {
        let Some((name, count)) = line.split_once(' ') else {
            continue;
        };
        let Ok(count) = count.trim().parse::<u64>() else {
            continue;
        };
        any = true;
        match name {
            "pswpin" => found.swapped_in = count,
            "pswpout" => found.swapped_out = count,
            "pgmajfault" => found.major_faults = count,
            "oom_kill" => found.killed = count,
            // One `allocstall` per memory zone.
            "compact_stall" => found.direct_stalls = found.direct_stalls.saturating_add(count),
            _ if name.starts_with("allocstall") => {
                found.direct_stalls = found.direct_stalls.saturating_add(count);
            }
            _ => {}
        }
    }
    if any {
        Ok(found)
    } else {
        Err(Misread::lacks("counters"))
    }
}

/// The `total=` of the `full` line, µs.
fn stalled(text: &str) -> Result<u64, Misread> {
    text.lines()
        .find(|line| line.starts_with("full"))
        .and_then(|line| line.split_once("total="))
        .and_then(|(_, total)| total.trim().parse().ok())
        .ok_or_else(|| Misread::lacks("`full … total=` line"))
}

/// The word in square brackets: `always [madvise] never`.
fn bracketed(text: &str) -> Result<String, Misread> {
    let chosen = text
        .split('[')
        .nth(1)
        .and_then(|rest| rest.split(']').next());
    chosen
        .map(str::to_owned)
        .ok_or_else(|| Misread::lacks("word in brackets"))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn values_are_found_by_their_whole_name() {
        let text = "MemTotal:  100 kB\nSwapCached: 3 kB\nSwapTotal: 50 kB\nSwapFree: 20 kB\n";
        assert_eq!(meminfo(text, "MemTotal"), Ok(100));
        assert!(meminfo(text, "Swap").is_err());
        assert_eq!(bracketed("always [madvise] never").unwrap(), "madvise");
        assert_eq!(stalled("some avg10=0 total=9\nfull avg10=0 total=7"), Ok(7));
    }

    proptest! {
        #[test]
        fn any_text_is_parsed_or_refused(text in "(pswpin|allocstall|full|total=|\\[|[0-9 \n]|\\PC)*") {
            let _ = (meminfo(&text, "MemTotal"), activity(&text), stalled(&text), bracketed(&text));
        }
    }
}
