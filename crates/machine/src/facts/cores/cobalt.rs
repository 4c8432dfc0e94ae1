//! Cobalt, the core of Xenomai 3, by its files.
//!
//! Its ABI revision and whether it runs are in none of them, so they are read from the running core
//! by a request that it refuses.

use super::gravity::{COBALT_CLOCK, TimerGravity};
use crate::{Misread, Reading, Root};
use serde::{Deserialize, Serialize};
use wakepath_rt::CobaltError;
use wakepath_timeline::Policy;

const VERSION: &str = "/proc/xenomai/version";
const STATUS: &str = "/proc/self/status";
const GROUP: &str = "/sys/module/xenomai/parameters/allowed_group";
const RUNNING: &str = "running";
const CAP_SYS_NICE: u64 = 1 << 23;

/// Cobalt.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct CobaltCore {
    /// Its version, `3.2.7`.
    pub version: Reading<String>,
    /// Revision of its interface.
    pub revision: Reading<u32>,
    /// `running` or `stopped`.
    pub state: Reading<String>,
    /// Time by which its timers expire early for programs, ns.
    pub gravity_ns: Reading<i64>,
    /// Whether this user can enter it: with CAP_SYS_NICE, or in its group.
    pub access: Reading<bool>,
    /// Reason why a loop can't run there, from the loop's library; `None` if it can, or was not
    /// asked.
    pub refused: Option<String>,
}

impl CobaltCore {
    pub(super) fn read(root: &Root) -> Option<Self> {
        root.exists(VERSION).then(|| {
            let (revision, state, refused) = if root.is_host() {
                asked()
            } else {
                (Reading::NotRead, Reading::NotRead, None)
            };
            // To read the clock of a core that has no timers is a fault in the kernel (3.2: print_core_clock_status
            // follows a pointer that is not there).
            let gravity_ns = if root.is_host() && state.known().is_none_or(|of| of != RUNNING) {
                Reading::Skipped {
                    path: COBALT_CLOCK.to_owned(),
                    why: "the core is not running".to_owned(),
                }
            } else {
                root.parsed(COBALT_CLOCK, |text| {
                    TimerGravity::of_cobalt(text).map(|of| of.program_ns)
                })
            };
            Self {
                version: root.text(VERSION),
                revision,
                state,
                gravity_ns,
                access: access(root),
                refused,
            }
        })
    }

    /// Why a loop can't have this policy here, in one line.
    pub(super) fn refusal(core: Option<&Self>, policy: Policy) -> Option<String> {
        let Some(core) = core else {
            return Some(format!(
                "{policy}: this kernel has no Cobalt core (no {VERSION}); boot one that was built with \
                 CONFIG_XENOMAI, or measure {}",
                policy.in_linux()
            ));
        };
        if let Some(why) = &core.refused {
            return Some(format!("{policy}: {why}"));
        }
        match core.access.known() {
            Some(false) => Some(format!("{policy}: {}", CobaltError::NotAllowed)),
            _ => None,
        }
    }

    /// Its name and version, its gravity, whether this user can enter.
    pub(super) fn line(&self) -> String {
        let known = |what: &str, of: Option<String>| of.map(|of| format!(", {what}{of}"));
        format!(
            "Xenomai Cobalt {}{}{}; timer gravity {} ns; {}",
            self.version,
            known("ABI revision ", self.revision.known().map(u32::to_string)).unwrap_or_default(),
            known("", self.state.known().cloned()).unwrap_or_default(),
            self.gravity_ns,
            match &self.access {
                Reading::Known { value: true, .. } => "usable by this user".to_owned(),
                Reading::Known { value: false, .. } =>
                    "not usable by this user (no CAP_SYS_NICE)".to_owned(),
                other => format!("access {other}"),
            }
        )
    }
}

/// Revision and state by the core's own answer, and why no loop can run there.
fn asked() -> (Reading<u32>, Reading<String>, Option<String>) {
    let state = |word: &str| Reading::found(word.to_owned(), VERSION);
    match wakepath_rt::ask_cobalt() {
        Ok(answer) => {
            let unknown =
                (!answer.is_known).then_some(CobaltError::UnknownRevision(answer.revision));
            (
                Reading::found(answer.revision, VERSION),
                state(RUNNING),
                unknown.map(|why| why.to_string()),
            )
        }
        Err(stopped @ CobaltError::Stopped) => {
            let why = Some(stopped.to_string());
            (Reading::NotRead, state("stopped"), why)
        }
        Err(other) => {
            let why = other.to_string();
            let unread = Reading::unreadable(VERSION, "", &why);
            (unread, Reading::NotRead, Some(why))
        }
    }
}

fn access(root: &Root) -> Reading<bool> {
    let group = root.number::<i64>(GROUP).known().copied();
    root.parsed(STATUS, |text| may_enter(text, group))
}

/// Whether a process with this status has CAP_SYS_NICE in effect or belongs to the core's group
/// (`bind_personality` in kernel/cobalt/posix/process.c); −1 means no group.
fn may_enter(status: &str, group: Option<i64>) -> Result<bool, Misread> {
    let field = |name: &str| {
        let mut lines = status.lines();
        lines.find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))
    };
    let mask = field("CapEff").and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    let mask = mask.ok_or(Misread::NotOfForm("a hexadecimal `CapEff:`"))?;
    let own = |name| field(name).unwrap_or_default().split_whitespace();
    let groups = own("Gid").chain(own("Groups"));
    let is_in_it = group.is_some_and(|group| {
        let mut groups = groups.filter_map(|own| own.parse().ok());
        group >= 0 && groups.any(|own: i64| own == group)
    });
    Ok(mask & CAP_SYS_NICE != 0 || is_in_it)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_capability_or_the_group_opens_the_core() {
        let status = |mask| format!("Gid:\t7 7 7 7\nGroups:\t20 21 \nCapEff:\t{mask}\n");
        let root = status("000001ffffffffff");
        let other = status("0000000000000000");
        assert_eq!(may_enter(&root, None).ok(), Some(true));
        assert_eq!(may_enter(&other, None).ok(), Some(false));
        assert_eq!(may_enter(&other, Some(-1)).ok(), Some(false));
        for (group, may) in [(7, true), (21, true), (2, false)] {
            assert_eq!(may_enter(&other, Some(group)).ok(), Some(may), "{group}");
        }
        assert!(may_enter("Gid:\t0\n", None).is_err());
    }
}
