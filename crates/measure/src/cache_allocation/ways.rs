//! The parts of a last-level cache that can be allocated: its ways as the kernel lists them. It changes
//! nothing.

use super::error::{CacheError, Result};
use super::{Places, read};
use std::fs;
use std::path::Path;

/// The machine's caches.
pub(super) struct Known {
    /// All ways.
    pub(super) mask: u64,
    least_ways: u32,
    /// The default group's line, `L3:0=fffff;1=fffff` and a line feed.
    pub(super) schemata: String,
    domains: Vec<(String, u64)>,
}

impl Known {
    pub(super) fn read(places: &Places) -> Result<Self> {
        let info = places.resctrl.join("info/L3");
        if !info.is_dir() {
            let systems = fs::read_to_string(&places.file_systems).unwrap_or_default();
            let has = systems.split_whitespace().any(|word| word == "resctrl");
            let mounted = places.resctrl.join("info").is_dir();
            return Err(match (has, mounted) {
                (false, _) => CacheError::NoResctrl,
                (true, false) => CacheError::NotMounted,
                (true, true) => CacheError::NoL3,
            });
        }
        let (mask, least) = (info.join("cbm_mask"), info.join("min_cbm_bits"));
        let number = |path: &Path, radix| -> Result<u64> {
            let text = read(path)?;
            u64::from_str_radix(text.trim(), radix).map_err(|_| CacheError::NoNumber {
                path: path.into(),
                text: text.trim().into(),
            })
        };
        let schemata = places.schemata();
        let line = l3_line(&read(&schemata)?, &schemata)?;
        Ok(Self {
            mask: number(&mask, 16)?,
            least_ways: u32::try_from(number(&least, 10)?)
                .unwrap_or(u32::MAX)
                .max(1),
            domains: domains(&line, &schemata)?,
            schemata: format!("{line}\n"),
        })
    }

    /// The loop's ways, the highest, and the others'. A group's ways must lie side by side.
    pub(super) fn split(&self, share: f64) -> Result<(u64, u64)> {
        let ways = self.mask.count_ones();
        let own = ((f64::from(ways) * share).round() as u32).max(self.least_ways);
        let rest = ways.saturating_sub(own);
        if rest < self.least_ways {
            return Err(CacheError::TooFewWays {
                ways,
                own,
                rest,
                least: self.least_ways,
            });
        }
        // Ways lie side by side from the lowest on.
        let lowest = self.mask.trailing_zeros();
        let rest = ((1_u64 << rest) - 1) << lowest;
        let own = self.mask & !rest;
        for (domain, mask) in &self.domains {
            let left = mask & rest;
            if left.count_ones() < self.least_ways {
                return Err(CacheError::TakenAlready {
                    mask: *mask,
                    domain: domain.clone(),
                    all: self.mask,
                });
            }
        }
        Ok((own, rest))
    }

    pub(super) fn line(&self, of: impl Fn(u64) -> u64) -> String {
        let parts: Vec<String> = self
            .domains
            .iter()
            .map(|(domain, mask)| format!("{domain}={:x}", of(*mask)))
            .collect();
        format!("L3:{}\n", parts.join(";"))
    }
}

/// The line of the last-level cache, without what stands around it.
pub(super) fn l3_line(schemata: &str, path: &Path) -> Result<String> {
    let line = schemata
        .lines()
        .map(str::trim)
        .find(|line| line.starts_with("L3:"));
    line.map(str::to_owned)
        .ok_or_else(|| CacheError::NoL3Line { path: path.into() })
}

/// Caches and their masks from `L3:0=fffff;1=fffff`.
pub(super) fn domains(line: &str, path: &Path) -> Result<Vec<(String, u64)>> {
    let unread = || CacheError::Unreadable {
        path: path.into(),
        line: line.into(),
    };
    let parts = line
        .trim()
        .strip_prefix("L3:")
        .ok_or_else(unread)?
        .split(';');
    parts
        .map(|part| {
            let (domain, mask) = part.split_once('=')?;
            Some((
                domain.trim().to_owned(),
                u64::from_str_radix(mask.trim(), 16).ok()?,
            ))
        })
        .collect::<Option<Vec<_>>>()
        .ok_or_else(unread)
}
