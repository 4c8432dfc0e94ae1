//! Build options of the running kernel, as far as this tool uses them.
//!
//! An option isn't necessarily in effect; other modules read that.

use std::collections::BTreeMap;
use std::io::Read;

use flate2::read::GzDecoder;
use serde::{Deserialize, Serialize};

use crate::{Reading, Root};

/// A kernel configuration is some 300 kB; anything much longer is not one.
const LARGEST_CONFIG: u64 = 8 << 20;

/// The stored options, without `CONFIG_`.
const ASKED: &[&str] = &[
    "CPUSETS",
    "CPUSETS_V1",
    "CPU_ISOLATION",
    "DEBUG_FS",
    "DEBUG_PREEMPT",
    "HIGH_RES_TIMERS",
    "HWLAT_TRACER",
    "HZ",
    "KASAN",
    "LOCKDEP",
    "NO_HZ_FULL",
    "NO_HZ_IDLE",
    "OSNOISE_TRACER",
    "PREEMPT",
    "PREEMPT_BEHAVIOUR",
    "PREEMPT_DYNAMIC",
    "PREEMPT_LAZY",
    "PREEMPT_NONE",
    "PREEMPT_NONE_BEHAVIOUR",
    "PREEMPT_RT",
    "PREEMPT_VOLUNTARY",
    "PREEMPT_VOLUNTARY_BEHAVIOUR",
    "PROVE_LOCKING",
    "PSI",
    "RCU_NOCB_CPU",
    "RT_GROUP_SCHED",
    "SCHED_CLASS_EXT",
    "TIMERLAT_TRACER",
];

/// The options this tool uses, by name without `CONFIG_`. Options that are not set are left out, as
/// in the kernel's own file.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct KernelConfig {
    /// Name to value: `y`, `m`, a number or a text.
    pub options: Reading<BTreeMap<String, String>>,
}

impl KernelConfig {
    /// Looks in `/proc/config.gz`, then for the file of this release in `/boot` and in
    /// `/lib/modules`.
    pub(super) fn read(root: &Root, release: Option<&str>) -> Self {
        let mut options = match root.bytes("/proc/config.gz") {
            Reading::Known { value, path } => match unpack(&value) {
                Ok(text) => Reading::found(parse(&text), path),
                Err(error) => Reading::unreadable(path, "", error.to_string()),
            },
            other => other.without_value(),
        };
        for (before, after) in [("/boot/config-", ""), ("/lib/modules/", "/config")] {
            let Some(release) = release else { break };
            options = options.or_else(|| {
                root.text(&format!("{before}{release}{after}"))
                    .map(|text| parse(&text))
            });
        }
        Self { options }
    }

    /// Whether the option is built in; unknown without a configuration.
    pub fn is_set(&self, option: &str) -> Option<bool> {
        Some(
            self.options
                .known()?
                .get(option)
                .is_some_and(|value| value == "y"),
        )
    }
}

fn unpack(packed: &[u8]) -> std::io::Result<String> {
    let mut text = Vec::new();
    GzDecoder::new(packed)
        .take(LARGEST_CONFIG)
        .read_to_end(&mut text)?;
    Ok(String::from_utf8_lossy(&text).into_owned())
}

fn parse(text: &str) -> BTreeMap<String, String> {
    text.lines()
        .filter_map(|line| line.strip_prefix("CONFIG_")?.split_once('='))
        .filter(|(name, _)| ASKED.contains(name))
        .map(|(name, value)| (name.to_owned(), value.trim().trim_matches('"').to_owned()))
        .collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn options_that_are_not_set_are_left_out() {
        let options = parse("CONFIG_HZ=250\n# CONFIG_PREEMPT_RT is not set\nCONFIG_PREEMPT=y\n");
        assert_eq!(options["HZ"], "250");
        assert_eq!(options.len(), 2);
    }

    proptest! {
        #[test]
        fn any_bytes_are_unpacked_or_refused(bytes: Vec<u8>) {
            let _ = unpack(&bytes);
            let mut with_head = vec![0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3];
            with_head.extend(bytes);
            let _ = unpack(&with_head);
        }
    }
}
