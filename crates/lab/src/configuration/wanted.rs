//! Kernel options that a guest needs, and the features that need them.
//!
//! Pure.

use super::{Configuration, Setting};
use crate::architecture::Architecture;
use crate::needs;
use std::fmt;
use wakepath_scenario::{LoadKind, Scenario};

/// Requirements on a guest's kernel.
pub(crate) struct Asked<'a> {
    /// Architecture.
    pub architecture: Architecture,
    /// CPUs.
    pub cpus: u16,
    /// The kernel's parameters.
    pub parameters: &'a [String],
    /// The scenario to measure.
    pub scenario: Option<&'a Scenario>,
    /// Whether modules have to be loaded.
    pub modules: bool,
}

/// Consequence of a missing option.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Weight {
    /// No guest can do its task.
    Needed,
    /// The guest runs, and something of it does not work.
    Missed,
}

/// An option that a guest needs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Want {
    /// Without `CONFIG_`.
    option: &'static str,
    /// The version of Linux that made it an option; earlier kernels always have the feature.
    since: (u32, u32),
    weight: Weight,
    /// The feature that needs it, in a few words.
    without: String,
    /// The module that provides it if it isn't built in.
    module: Option<&'static str>,
}

/// Something that a kernel lacks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Lack {
    /// Whether the guest can do without.
    pub weight: Weight,
    option: &'static str,
    without: String,
    /// The module that provides it, if the kernel was built with it as a module.
    pub module: Option<&'static str>,
}

impl fmt::Display for Lack {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CONFIG_{} ({})", self.option, self.without)?;
        match self.module {
            Some(module) => write!(f, ", a module there: `--module {module}` loads it"),
            None => Ok(()),
        }
    }
}

const FROM_THE_FIRST: (u32, u32) = (0, 0);

fn needed(option: &'static str, without: &str) -> Want {
    Want {
        option,
        since: FROM_THE_FIRST,
        weight: Weight::Needed,
        without: without.to_owned(),
        module: None,
    }
}

fn missed(option: &'static str, without: String) -> Want {
    Want {
        weight: Weight::Missed,
        ..needed(option, &without)
    }
}

/// Options that a guest needs. Names and versions are from Linux's Kconfig files.
pub(crate) fn wanted(asked: &Asked<'_>) -> Vec<Want> {
    let mut wants = vec![
        needed("BLK_DEV_INITRD", "the guest starts from an initramfs"),
        needed("BINFMT_ELF", "no program starts"),
        needed("PROC_FS", "nothing is known of the kernel"),
        needed("SYSFS", "nothing is known of the machine"),
        needed("FUTEX", "no thread waits for another"),
    ];
    let heard = "the guest's console is not heard";
    wants.extend(match asked.architecture {
        Architecture::X86_64 => vec![
            needed("64BIT", "wakepath's program is for x86-64"),
            needed("SERIAL_8250_CONSOLE", heard),
        ],
        Architecture::Aarch64 => vec![
            needed("SERIAL_AMBA_PL011_CONSOLE", heard),
            needed("ARM_GIC_V3", "no interrupt arrives"),
        ],
        Architecture::Armv7 => vec![
            needed("SERIAL_AMBA_PL011_CONSOLE", heard),
            needed("ARCH_VIRT", "it does not know the emulated machine"),
        ],
    });
    if asked.cpus > 1 {
        wants.push(needed(
            "SMP",
            "the guest has one CPU, not those of `--cpus`",
        ));
        if asked.architecture == Architecture::X86_64 {
            let turns = "turns of several CPUs can't be bounded";
            wants.push(needed("DEVPORT", turns));
        }
    }
    if asked.modules {
        wants.push(needed("MODULES", "no module can be loaded"));
    }
    if let Some(scenario) = asked.scenario {
        wants.extend(of_a_scenario(scenario));
    }
    wants.extend(
        asked
            .parameters
            .iter()
            .filter_map(|word| of_a_parameter(word)),
    );
    wants
}

fn of_a_scenario(scenario: &Scenario) -> Vec<Want> {
    let mut wants = vec![
        needed("TMPFS", "the loop's samples have no memory to be shared in"),
        needed(
            "FILE_LOCKING",
            "a recording is not kept from a second writer",
        ),
        missed(
            "HIGH_RES_TIMERS",
            "timers expire at the kernel's ticks: latencies of up to a tick".into(),
        ),
    ];
    let has = |wanted: fn(&LoadKind) -> bool| {
        let mut loads = scenario.phases.iter().flat_map(|phase| &phase.loads);
        loads.any(|load| wanted(&load.kind))
    };
    if has(|_| true) {
        wants.push(Want {
            module: Some("unix"),
            ..needed("UNIX", "loads are not told what to do")
        });
    }
    if has(|load| {
        matches!(
            load,
            LoadKind::Network | LoadKind::Iperf3 { .. } | LoadKind::Wget
        )
    }) {
        wants.push(needed("INET", "loads that use the network"));
    }
    if needs::ethercat(scenario) {
        let without = "simulated EtherCAT devices";
        wants.push(needed("NET_NS", without));
        for (option, module) in [("PACKET", "af_packet"), ("VETH", "veth")] {
            wants.push(Want {
                module: Some(module),
                ..needed(option, without)
            });
        }
    }
    if has(|load| matches!(load, LoadKind::Timers)) {
        wants.push(needed("TIMERFD", "the load of timers"));
    }
    if scenario.trace.is_some() {
        let untold = "kernel events are not recorded: no late cycle is explained";
        wants.push(missed("EVENT_TRACING", untold.into()));
    }
    wants
}

/// A parameter is without effect in a kernel that does not know it.
fn of_a_parameter(word: &str) -> Option<Want> {
    let name = word.split('=').next().unwrap_or(word);
    let (option, since) = match name {
        "preempt" => ("PREEMPT_DYNAMIC", (5, 12)),
        "threadirqs" => ("IRQ_FORCED_THREADING", FROM_THE_FIRST),
        "isolcpus" => ("CPU_ISOLATION", (4, 15)),
        "nohz_full" => ("NO_HZ_FULL", FROM_THE_FIRST),
        "rcu_nocbs" => ("RCU_NOCB_CPU", FROM_THE_FIRST),
        _ => return None,
    };
    Some(Want {
        since,
        ..missed(option, format!("`{word}` has no effect"))
    })
}

/// Options that a kernel of this configuration lacks. A module counts only if it is `loaded`.
pub(crate) fn lacking(
    wants: &[Want],
    configuration: &Configuration,
    loaded: impl Fn(&str) -> bool,
) -> Vec<Lack> {
    let is_older = |since| configuration.version.is_some_and(|version| version < since);
    // For an option that was added later, an unknown version leaves it open.
    let is_untold = |since| since > FROM_THE_FIRST && configuration.version.is_none();
    let lacks = wants.iter().filter_map(|want| {
        let module = match configuration.setting(want.option) {
            Setting::Yes => return None,
            _ if is_older(want.since) || is_untold(want.since) => return None,
            Setting::Module => match want.module {
                Some(module) if loaded(module) => return None,
                module => module,
            },
            Setting::No => None,
        };
        Some(Lack {
            weight: want.weight,
            option: want.option,
            without: want.without.clone(),
            module,
        })
    });
    lacks.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use wakepath_scenario::KnownCpus;

    const WHOLE: &str = "# Linux/x86 6.1.190 Kernel Configuration\n\
        CONFIG_64BIT=y\nCONFIG_BLK_DEV_INITRD=y\nCONFIG_BINFMT_ELF=y\nCONFIG_PROC_FS=y\n\
        CONFIG_SYSFS=y\nCONFIG_FUTEX=y\nCONFIG_SERIAL_8250_CONSOLE=y\nCONFIG_TMPFS=y\nCONFIG_FILE_LOCKING=y\n\
        CONFIG_HIGH_RES_TIMERS=y\nCONFIG_UNIX=y\nCONFIG_INET=y\nCONFIG_TIMERFD=y\n\
        CONFIG_EVENT_TRACING=y\nCONFIG_PREEMPT_DYNAMIC=y\n";
    const SCENARIO: &str = "name = \"a\"\nrate = \"1 kHz\"\ncycles = 10\npolicies = [\"FIFO 80\"]\n\n\
        [[phases]]\nname = \"stress\"\nloads = [\"network\"]\n\n\
        [criterion]\nlatency = \"1 ms\"\nmiss-fraction = \"50 %\"\n";

    fn lacks(text: &str, parameters: &[&str], scenario: bool, loaded: &[&str]) -> Vec<String> {
        let scenario =
            scenario.then(|| Scenario::parse(SCENARIO, "a test", &KnownCpus::first(1)).unwrap());
        let parameters: Vec<String> = parameters.iter().map(|word| (*word).into()).collect();
        let asked = Asked {
            architecture: Architecture::X86_64,
            cpus: 1,
            parameters: &parameters,
            scenario: scenario.as_ref(),
            modules: !loaded.is_empty(),
        };
        let configuration = Configuration::parse(text, "a".into());
        let found = lacking(&wanted(&asked), &configuration, |name| {
            loaded.contains(&name)
        });
        found.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_whole_kernel_lacks_nothing_and_a_missing_option_is_named_with_what_it_was_for() {
        assert_eq!(lacks(WHOLE, &["preempt=full"], true, &[]), [""; 0]);
        let without = WHOLE.replace("CONFIG_BLK_DEV_INITRD=y\n", "");
        assert_eq!(
            lacks(&without, &["isolcpus=1"], false, &[]),
            [
                "CONFIG_BLK_DEV_INITRD (the guest starts from an initramfs)",
                "CONFIG_CPU_ISOLATION (`isolcpus=1` has no effect)"
            ]
        );
    }

    #[test]
    fn what_came_as_an_option_later_is_not_missed_in_an_older_kernel() {
        let old = WHOLE
            .replace("CONFIG_PREEMPT_DYNAMIC=y\n", "")
            .replace("6.1.190", "4.9.337");
        assert_eq!(
            lacks(&old, &["isolcpus=1", "preempt=full"], true, &[]),
            [""; 0]
        );
        let newer = old.replace("4.9.337", "5.10.1");
        assert_eq!(
            lacks(&newer, &["isolcpus=1", "preempt=full"], true, &[]),
            ["CONFIG_CPU_ISOLATION (`isolcpus=1` has no effect)"]
        );
        let unknown = old.replace("4.9.337", "of mine");
        assert_eq!(lacks(&unknown, &["isolcpus=1"], true, &[]), [""; 0]);
    }

    #[test]
    fn what_a_module_brings_is_lacking_until_it_is_loaded() {
        let modular = WHOLE.replace("CONFIG_UNIX=y", "CONFIG_UNIX=m") + "CONFIG_MODULES=y\n";
        assert_eq!(
            lacks(&modular, &[], true, &[]),
            [
                "CONFIG_UNIX (loads are not told what to do), a module there: `--module unix` loads it"
            ]
        );
        assert_eq!(lacks(&modular, &[], true, &["unix"]), [""; 0]);
        let fixed = WHOLE.replace("CONFIG_UNIX=y", "CONFIG_UNIX=m");
        assert_eq!(
            lacks(&fixed, &[], true, &["unix"]),
            ["CONFIG_MODULES (no module can be loaded)"]
        );
    }

    /// The kernels that the laboratory fetches must lack nothing.
    #[test]
    fn kernels_of_this_host_lack_nothing() {
        let boot = std::fs::read_dir("/boot").into_iter().flatten().flatten();
        for entry in boot {
            let name = entry.file_name().to_string_lossy().into_owned();
            if name.starts_with("config-") && cfg!(target_arch = "x86_64") {
                let text = std::fs::read_to_string(entry.path()).unwrap();
                assert_eq!(lacks(&text, &[], true, &[]), [""; 0], "{name}");
            }
        }
    }
}
