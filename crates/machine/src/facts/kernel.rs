//! Which kernel runs: its release, its version text and the identity of this boot. The host's
//! name is not read: it is nobody's business.

use serde::{Deserialize, Serialize};

use crate::{Misread, Reading, Root};

/// The running kernel.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Kernel {
    /// As `uname -r`.
    pub release: Reading<String>,
    /// As `uname -v`: build number, preemption flags, date.
    pub version: Reading<String>,
    /// As `uname -m`; the file exists since Linux 6.1.
    pub architecture: Reading<String>,
    /// A random identity, new at every boot.
    pub boot_id: Reading<String>,
}

/// The first two numbers of a release, for properties that depend on the kernel's version.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Release {
    /// 6 of 6.12.
    pub major: u32,
    /// 12 of 6.12.
    pub minor: u32,
}

impl Release {
    /// The numbers at the start of a release text.
    pub fn parse(text: &str) -> Option<Self> {
        let mut numbers = text.trim().split(|c: char| !c.is_ascii_digit());
        let major = numbers.next()?.parse().ok()?;
        let minor = numbers.next()?.parse().ok()?;
        Some(Self { major, minor })
    }
}

impl Kernel {
    pub(super) fn read(root: &Root) -> Self {
        Self {
            release: root.text("/proc/sys/kernel/osrelease"),
            version: root
                .text("/proc/sys/kernel/version")
                .or_else(|| root.parsed("/proc/version", version_part)),
            architecture: root.text("/proc/sys/kernel/arch"),
            boot_id: root.text("/proc/sys/kernel/random/boot_id"),
        }
    }

    /// Major and minor release, if the release text has them.
    pub fn release_numbers(&self) -> Option<Release> {
        Release::parse(self.release.known()?)
    }
}

/// The part of `/proc/version` that `uname -v` prints: from the last ` #` on.
fn version_part(text: &str) -> Result<String, Misread> {
    let start = text
        .rfind(" #")
        .ok_or_else(|| Misread::lacks("` #` before the version"))?;
    Ok(text[start + 1..].to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_release_is_compared_by_its_numbers() {
        let at = |text| Release::parse(text).unwrap();
        assert!(at("6.12.25+rpt-rpi-2712") >= at("6.12"));
        assert!(at("5.15.148-tegra") < at("6.6.1"));
        assert!(at("4.9.30") < at("4.19.0"));
        assert_eq!(Release::parse("next"), None);
    }

    #[test]
    fn the_version_is_cut_out_of_proc_version() {
        let line = "Linux version 6.1.0 (u@h) (gcc #3, ld) #1 SMP PREEMPT_RT Mon Jan 1";
        assert_eq!(version_part(line).unwrap(), "#1 SMP PREEMPT_RT Mon Jan 1");
    }
}
