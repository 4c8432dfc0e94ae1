//! The caches, each once with the CPUs that share it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{Misread, Reading, Root};
use wakepath_timeline::CpuSet;

/// One cache.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Cache {
    /// 1 is nearest to the core.
    pub level: u32,
    /// `Data`, `Instruction` or `Unified`.
    pub kind: String,
    /// In bytes; missing in some device trees.
    pub bytes: Option<u64>,
    /// The CPUs that share it.
    pub cpus: CpuSet,
}

/// Sizes of the data caches, in bytes: of one cache, not their sum over the cores; the largest if
/// cores differ. `None` if the machine does not report it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct CacheSizes {
    /// Level 1, data.
    pub l1d: Option<u64>,
    /// Level 2.
    pub l2: Option<u64>,
    /// Level 3.
    pub l3: Option<u64>,
}

impl CacheSizes {
    pub(super) fn new(caches: &[Cache]) -> Self {
        let largest = |level| {
            let of_level = caches
                .iter()
                .filter(|c| c.level == level && c.kind != "Instruction");
            of_level.filter_map(|cache| cache.bytes).max()
        };
        Self {
            l1d: largest(1),
            l2: largest(2),
            l3: largest(3),
        }
    }
}

/// The caches of these CPUs. Absent if no CPU reports any.
pub(super) fn read(root: &Root, cpus: &[u16]) -> Reading<Vec<Cache>> {
    let mut found: BTreeMap<(u32, String, String), Cache> = BTreeMap::new();
    let folder = |cpu: u16| format!("/sys/devices/system/cpu/cpu{cpu}/cache");
    for &cpu in cpus {
        for index in root.numbered::<u32>(&folder(cpu), "index") {
            let file = |name: &str| format!("{}/index{index}/{name}", folder(cpu));
            let Reading::Known { value: level, .. } = root.number::<u32>(&file("level")) else {
                continue;
            };
            let kind = root
                .text(&file("type"))
                .known()
                .cloned()
                .unwrap_or_default();
            let shared = root.cpus(&file("shared_cpu_list"));
            let cpus = shared
                .known()
                .cloned()
                .unwrap_or_else(|| [cpu].into_iter().collect());
            let key = (level, kind.clone(), cpus.to_string());
            found.entry(key).or_insert_with(|| {
                let bytes = root.parsed(&file("size"), size).known().copied();
                Cache {
                    level,
                    kind,
                    bytes,
                    cpus,
                }
            });
        }
    }
    let path = folder(cpus.first().copied().unwrap_or(0));
    if found.is_empty() {
        Reading::Absent { path }
    } else {
        Reading::found(found.into_values().collect(), path)
    }
}

/// `512K` or `8M`, in bytes.
fn size(text: &str) -> Result<u64, Misread> {
    let wrong = Misread::NotOfForm("a size such as 512K");
    let split = text
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(text.len());
    let (digits, unit) = text.split_at(split);
    let unit: u64 = match unit.trim() {
        "" => 1,
        "K" => 1 << 10,
        "M" => 1 << 20,
        "G" => 1 << 30,
        _ => return Err(wrong),
    };
    let number: Option<u64> = digits.parse().ok();
    number
        .and_then(|number| number.checked_mul(unit))
        .ok_or(wrong)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn cache_sizes_are_read_with_their_unit() {
        assert_eq!(size("512K"), Ok(524_288));
        assert_eq!(size("8M"), Ok(8_388_608));
        assert!(size("K").is_err());
        assert!(size("18446744073709551615G").is_err());
    }

    proptest! {
        #[test]
        fn any_size_text_is_parsed_or_refused(text: String) {
            let _ = size(&text);
        }
    }
}
