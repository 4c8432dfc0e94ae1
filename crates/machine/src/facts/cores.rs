//! Real-time cores running alongside Linux's own scheduler: EVL, Xenomai Cobalt, LITMUS^RT.
//!
//! They are recognised by their files only, because a policy's number has another meaning on
//! another kernel. Nothing is opened or called that would enter a core.

mod cobalt;
mod gravity;

pub use cobalt::CobaltCore;
pub use gravity::TimerGravity;

use crate::{Misread, Reading, Root};
use rustix::fs::{Access, access};
use serde::{Deserialize, Serialize};
use wakepath_timeline::{CpuSet, LitmusPlugin, Policy};

/// EVL's control device, by which a process enters it.
const EVL_CONTROL: &str = "/dev/evl/control";
/// The levels of its interface that the loop's library knows (rt/src/evl/abi.rs): the first has run, the other
/// is by the documents.
const EVL_ABIS: [u32; 2] = [32, 43];
const EVL_SETTINGS: &str = "/sys/devices/virtual/evl/control";
const EVL_GRAVITY: &str = "/sys/devices/virtual/clock/monotonic/gravity";
const LITMUS_PLUGIN: &str = "/proc/litmus/active_plugin";
const LITMUS_CONTROL: &str = "/dev/litmus/ctrl";
const LITMUS_CLUSTER: &str = "/proc/litmus/plugins/C-EDF/cluster";

/// The cores of a kernel; as a rule none.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct RealTimeCores {
    /// EVL, the core of Xenomai 4.
    pub evl: Option<EvlCore>,
    /// Cobalt, the core of Xenomai 3.
    pub cobalt: Option<CobaltCore>,
    /// LITMUS^RT.
    pub litmus: Option<LitmusCore>,
}

/// EVL.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct EvlCore {
    /// The level of its interface.
    pub abi: Reading<u32>,
    /// `running`, `stopped`, …
    pub state: Reading<String>,
    /// CPUs that it schedules.
    pub cpus: Reading<CpuSet>,
    /// Time by which its timers expire early for programs, ns.
    pub gravity_ns: Reading<i64>,
    /// Whether this user can open its control device.
    pub access: Reading<bool>,
}

/// LITMUS^RT.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct LitmusCore {
    /// The active plugin; `Linux` means none.
    pub plugin: Reading<String>,
    /// The available plugins, in one line.
    pub plugins: Reading<String>,
    /// The CPU that releases jobs and runs none, or `NO_CPU`.
    pub release_master: Reading<String>,
    /// The resource that the CPUs of a cluster of C-EDF share: `L2`, `ALL`.
    pub cluster: Reading<String>,
    /// Whether this user can switch the plugin.
    pub switchable: Reading<bool>,
    /// Whether this user can open its control device, which releases before 2016.1 don't have.
    pub access: Reading<bool>,
}

impl RealTimeCores {
    pub(super) fn read(root: &Root) -> Self {
        Self {
            evl: root.exists(EVL_CONTROL).then(|| EvlCore {
                abi: root.number(&format!("{EVL_SETTINGS}/abi")),
                state: root.text(&format!("{EVL_SETTINGS}/state")),
                cpus: root.cpus(&format!("{EVL_SETTINGS}/cpus")),
                gravity_ns: root.parsed(EVL_GRAVITY, |text| {
                    TimerGravity::of_evl(text).map(|of| of.program_ns)
                }),
                access: accessible(root, EVL_CONTROL),
            }),
            cobalt: CobaltCore::read(root),
            litmus: root.exists(LITMUS_PLUGIN).then(|| LitmusCore {
                plugin: root.text(LITMUS_PLUGIN),
                plugins: root.parsed("/proc/litmus/plugins/loaded", |text| {
                    Ok(text.split_whitespace().collect::<Vec<_>>().join(", "))
                }),
                release_master: root.text("/proc/litmus/release_master"),
                cluster: root.text(LITMUS_CLUSTER),
                switchable: accessible(root, LITMUS_PLUGIN),
                access: accessible(root, LITMUS_CONTROL),
            }),
        }
    }

    /// Reason why a loop can't have this policy here, in one line: its core is missing, stopped or
    /// closed to this user. `None` if it can, and for Linux's own policies.
    pub fn refusal(&self, policy: Policy) -> Option<String> {
        match policy {
            Policy::EvlFifo { .. } => self.refusal_of_evl(policy),
            Policy::CobaltFifo { .. } => CobaltCore::refusal(self.cobalt.as_ref(), policy),
            _ if policy.of_litmus().is_some() => self.litmus_refusal(policy, &[], false),
            _ => None,
        }
    }

    fn refusal_of_evl(&self, policy: Policy) -> Option<String> {
        let Some(evl) = &self.evl else {
            return Some(format!(
                "{policy}: this kernel has no EVL core (no {EVL_CONTROL}); boot one that was built with \
                 CONFIG_EVL, or measure {}",
                policy.in_linux()
            ));
        };
        if let Some(&abi) = evl.abi.known()
            && !EVL_ABIS.contains(&abi)
        {
            return Some(format!(
                "{policy}: this kernel's EVL core has ABI {abi}, which this wakepath doesn't support; it supports {}",
                EVL_ABIS.map(|abi| abi.to_string()).join(" and ")
            ));
        }
        match (evl.state.known(), evl.access.known()) {
            (Some(state), _) if state != "running" => Some(format!(
                "{policy}: the EVL core is {state}; start it: echo start > {EVL_SETTINGS}/state"
            )),
            (_, Some(false)) => Some(format!(
                "{policy}: this user can't open {EVL_CONTROL}; run as root, or give your user access to it"
            )),
            _ => None,
        }
    }

    /// Reason why a loop on these CPUs can't have this policy of LITMUS^RT here, in one line;
    /// `may_switch` if the run has permission to make another plugin active. `None` if it can, and
    /// for other policies.
    pub fn litmus_refusal(&self, policy: Policy, cpus: &[u16], may_switch: bool) -> Option<String> {
        let (plugin, _) = policy.of_litmus()?;
        let Some(litmus) = &self.litmus else {
            return Some(format!(
                "{policy}: this kernel has no LITMUS^RT (no {LITMUS_PLUGIN}); boot one that was built from its \
                 sources, or measure {}",
                policy.nearest_in_linux()
            ));
        };
        if litmus.access.known() == Some(&false) {
            return Some(format!(
                "{policy}: this user can't open {LITMUS_CONTROL}; run as root, or give your user access to it"
            ));
        }
        let loaded = litmus.plugins.known();
        if loaded.is_some_and(|all| !all.split(", ").any(|name| name == plugin.name())) {
            return Some(format!(
                "{policy}: this LITMUS^RT was built without {plugin}; it has {}",
                litmus.plugins
            ));
        }
        let active = litmus.plugin.known()?;
        if active != plugin.name() {
            if !may_switch {
                return Some(format!(
                    "{policy}: LITMUS^RT's active plugin is {active}; switch it during the run with --switch-plugin \
                     (or litmus-plugin = \"switch\" in the scenario), or echo {plugin} > {LITMUS_PLUGIN}"
                ));
            }
            if litmus.switchable.known() == Some(&false) {
                return Some(format!(
                    "{policy}: LITMUS^RT's active plugin is {active}, and this user can't switch it; run as root"
                ));
            }
        }
        let own = policy.litmus_partition().or(match cpus {
            [cpu] => Some(*cpu),
            _ => None,
        });
        let master: Option<u16> = litmus
            .release_master
            .known()
            .and_then(|text| text.parse().ok());
        match (own, master) {
            (Some(own), Some(master)) if own == master && plugin != LitmusPlugin::GsnEdf => {
                Some(format!(
                    "{policy}: CPU {own} is LITMUS^RT's release master and runs no tasks; give another CPU, or echo NO_CPU > \
                 {}",
                    litmus.release_master.path()
                ))
            }
            _ => None,
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.evl.is_none() && self.cobalt.is_none() && self.litmus.is_none()
    }

    /// One line for each: its name and version, its gravity or plugin, whether this user can enter.
    pub fn lines(&self) -> Vec<String> {
        let evl = self.evl.as_ref().map(|core| {
            format!(
                "EVL, ABI {}, {}, on CPU {}; timer gravity {} ns; {}",
                core.abi,
                core.state,
                core.cpus,
                core.gravity_ns,
                entry(&core.access)
            )
        });
        let cobalt = self.cobalt.as_ref().map(CobaltCore::line);
        let litmus = self.litmus.as_ref().map(|core| {
            format!(
                "LITMUS^RT, plugin {} (loaded: {}){}, release master {}; {}",
                core.plugin,
                core.plugins,
                if core
                    .plugin
                    .known()
                    .is_some_and(|name| name == LitmusPlugin::CEdf.name())
                {
                    format!(", clusters by {}", core.cluster)
                } else {
                    String::new()
                },
                core.release_master,
                entry(&core.access)
            )
        });
        [evl, cobalt, litmus].into_iter().flatten().collect()
    }
}

fn entry(access: &Reading<bool>) -> String {
    let path = access.path();
    match access {
        Reading::Known { value: true, .. } => "usable by this user".to_owned(),
        Reading::Known { value: false, .. } => format!("this user can't open {path}"),
        other => format!("access {other}"),
    }
}

/// Whether a device can be opened to read and write, by its rights: opening it would have effects.
fn accessible(root: &Root, path: &str) -> Reading<bool> {
    match root.place_of(path) {
        Some(place) if root.exists(path) => {
            let may = access(place, Access::READ_OK | Access::WRITE_OK).is_ok();
            Reading::found(may, path)
        }
        _ => Reading::Absent {
            path: path.to_owned(),
        },
    }
}

fn number(word: Option<&str>) -> Result<i64, Misread> {
    word.and_then(|word| word.parse().ok())
        .ok_or(Misread::NotANumber)
}
