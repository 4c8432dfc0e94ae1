//! The kernel as it was built, and how it preempts.

use super::rt_kernels;
use crate::{Check, Confidence, Finding, Group, Inspection, Magnitude, Severity};
use wakepath_machine::{DebugFiles, Misread, PreemptionModel, Standing};

pub const CHECKS: &[Check] = &[
    Check {
        id: "K1",
        group: Group::Kernel,
        title: "real-time kernel",
        reads: "/proc/sys/kernel/version, /sys/kernel/realtime, the kernel's configuration",
        why: "Without PREEMPT_RT a woken loop waits while the kernel runs interrupt handlers, SoftIRQs and \
              spinlock sections. Published: about 10 ms became about 50 µs on a \
              Jetson Xavier; under CPU stress an RT kernel kept 34 µs on a Raspberry Pi 5, 82 µs \
              on a Pi 4, 330 µs on a Pi 3.",
        now: "",
        boot: "boot a kernel with PREEMPT_RT (packages by distribution: docs/guide/boards.md)",
        weight: Severity::Notable,
        confidence: Confidence::Source,
        judge: real_time_kernel,
    },
    Check {
        id: "K2",
        group: Group::Kernel,
        title: "preemption model",
        reads: "/sys/kernel/debug/sched/preempt, else the kernel's version and configuration",
        why: "With `none` or `voluntary` a system call of any program runs until it finishes or reaches a \
              preemption point, before the loop gets the CPU.",
        now: "echo full | sudo tee /sys/kernel/debug/sched/preempt",
        boot: "preempt=full",
        weight: Severity::Notable,
        confidence: Confidence::WellKnown,
        judge: preemption_model,
    },
    Check {
        id: "K3",
        group: Group::Kernel,
        title: "high-resolution timers",
        reads: "/proc/timer_list (.hres_active), CONFIG_HZ",
        why: "Without high-resolution timers a sleep ends at the next tick, 1 to 10 ms later.",
        now: "",
        boot: "a kernel with CONFIG_HIGH_RES_TIMERS=y, and no highres=off",
        weight: Severity::Grave,
        confidence: Confidence::WellKnown,
        judge: high_resolution,
    },
    Check {
        id: "K4",
        group: Group::Kernel,
        title: "CPU sets",
        reads: "CONFIG_CPUSETS, CONFIG_CPUSETS_V1",
        why: "Isolating while the machine runs needs cpusets; tools for version 1 fail if only version 2 is built \
              in (Linux 6.12 and later can omit version 1).",
        now: "",
        boot: "a kernel with CONFIG_CPUSETS=y; without CPUSETS_V1 use version 2 of control groups",
        weight: Severity::Minor,
        confidence: Confidence::Source,
        judge: cpusets,
    },
    Check {
        id: "K5",
        group: Group::Kernel,
        title: "nohz_full and rcu_nocbs built in",
        reads: "/proc/cmdline against CONFIG_NO_HZ_FULL, CONFIG_RCU_NOCB_CPU",
        why: "A kernel without the option drops the parameter with only a line in its log. arm64's default \
              configuration omits NO_HZ_FULL.",
        now: "",
        boot: "a kernel with CONFIG_NO_HZ_FULL=y and CONFIG_RCU_NOCB_CPU=y, or drop the parameter",
        weight: Severity::Notable,
        confidence: Confidence::Source,
        judge: built_for_parameters,
    },
    Check {
        id: "K6",
        group: Group::Kernel,
        title: "debugging options",
        reads: "CONFIG_PROVE_LOCKING, CONFIG_LOCKDEP, CONFIG_KASAN, CONFIG_DEBUG_PREEMPT",
        why: "They check each lock or memory access and stretch the longest delays most.",
        now: "",
        boot: "a kernel without them",
        weight: Severity::Notable,
        confidence: Confidence::WellKnown,
        judge: debugging,
    },
    Check {
        id: "K7",
        group: Group::Kernel,
        title: "the kernel's own tracers",
        reads: "CONFIG_OSNOISE_TRACER, CONFIG_TIMERLAT_TRACER, CONFIG_HWLAT_TRACER",
        why: "They let you cross-check a measurement from the kernel's side, and distinguish firmware stalls from \
              the kernel's.",
        now: "",
        boot: "a kernel with CONFIG_OSNOISE_TRACER, CONFIG_TIMERLAT_TRACER, CONFIG_HWLAT_TRACER",
        weight: Severity::Minor,
        confidence: Confidence::WellKnown,
        judge: tracers,
    },
];

fn real_time_kernel(seen: &Inspection) -> Finding {
    let preemption = &seen.facts.varying.preemption;
    match seen.is_real_time() {
        None => Finding::unknown("the kernel's version can't be read", &preemption.evidence),
        Some(true) => Finding::good("PREEMPT_RT", &preemption.evidence),
        Some(false) => {
            let found = format!(
                "not PREEMPT_RT (preemption model: {})",
                preemption.model.word()
            );
            let mut finding = Finding::bad(found, &preemption.evidence);
            finding.at_boot = rt_kernels::of_machine(seen).map(|of| of.fix().into());
            finding
        }
    }
}

fn preemption_model(seen: &Inspection) -> Finding {
    let preemption = &seen.facts.varying.preemption;
    let standing = match preemption.standing {
        Standing::InEffect => "in effect",
        Standing::AsRequested => "as requested, not confirmed",
        Standing::AsConfigured => "as configured, not confirmed",
        Standing::Unknown => "not known",
    };
    let found = format!("{} ({standing})", preemption.model.word());
    match (preemption.model, preemption.standing) {
        (PreemptionModel::Unknown, _) => Finding::unknown(found, &preemption.evidence),
        (PreemptionModel::RealTime, _)
        | (PreemptionModel::Full | PreemptionModel::Lazy, Standing::InEffect) => {
            Finding::good(found, &preemption.evidence)
        }
        // A requested or configured model might not be in effect, so it is never good. It is bad,
        // because finding out is the first half of the fix.
        (PreemptionModel::Full | PreemptionModel::Lazy, _) => {
            let remedy = preemption.remedy.clone().unwrap_or_default();
            Finding::unknown(format!("{found}; {remedy}"), &preemption.evidence)
        }
        (PreemptionModel::None | PreemptionModel::Voluntary, _) => {
            let mut finding = Finding::bad(found, &preemption.evidence);
            let mounted = seen.facts.varying.debug_files == DebugFiles::Readable;
            // A kernel that can't change its model while it runs has no such file, and one that is locked down refuses
            // to open it.
            let is_dynamic = seen.facts.fixed.config.is_set("PREEMPT_DYNAMIC");
            let file = seen.root.text("/sys/kernel/debug/sched/preempt");
            if is_dynamic == Some(false) || mounted && file.known().is_none() {
                finding.now = Some(String::new());
            }
            finding
        }
    }
}

fn high_resolution(seen: &Inspection) -> Finding {
    let path = "/proc/timer_list";
    let flags = seen.root.parsed(path, |text| {
        let values: Vec<&str> = text
            .lines()
            .filter_map(|line| line.trim().strip_prefix(".hres_active"))
            .map(|value| value.trim_start_matches([' ', ':', '\t']).trim())
            .collect();
        if values.is_empty() {
            Err(Misread::lacks("`.hres_active` in it"))
        } else {
            Ok(values.iter().all(|value| *value == "1"))
        }
    });
    match flags.known() {
        Some(true) => return Finding::good("active on every CPU", path),
        Some(false) => {
            let tick_us = tick_us(seen);
            return Finding::bad("not active on some CPU", path)
                .costing(tick_us.map_or(Magnitude::NotKnown, Magnitude::delay_us));
        }
        None => {}
    }
    // Only root can read the list; a kernel built without them is bad for every user.
    match seen.facts.fixed.config.is_set("HIGH_RES_TIMERS") {
        Some(false) => Finding::bad(
            "the kernel is built without them",
            seen.facts.fixed.config.options.path(),
        )
        .costing(tick_us(seen).map_or(Magnitude::NotKnown, Magnitude::delay_us)),
        _ => Finding::unread(&flags),
    }
}

/// The tick's length by CONFIG_HZ.
fn tick_us(seen: &Inspection) -> Option<u64> {
    let options = seen.facts.fixed.config.options.known()?;
    let rate: u64 = options.get("HZ")?.parse().ok()?;
    1_000_000_u64.checked_div(rate)
}

fn cpusets(seen: &Inspection) -> Finding {
    let config = &seen.facts.fixed.config;
    let path = config.options.path();
    match (config.is_set("CPUSETS"), config.is_set("CPUSETS_V1")) {
        (None, _) => Finding::unread(&config.options),
        (Some(false), _) => Finding::bad("CONFIG_CPUSETS is not set: only affinity remains", path),
        (Some(true), Some(false)) if seen.kernel_at_least(6, 12) == Some(true) => {
            match seen.facts.varying.cgroup.layout {
                wakepath_machine::CgroupLayout::V1 => Finding::bad(
                    "CPUSETS_V1 is not set and this machine mounts version 1",
                    path,
                ),
                _ => Finding::good("version 2 (CPUSETS_V1 is not set)", path),
            }
        }
        (Some(true), _) => Finding::good("CONFIG_CPUSETS=y", path),
    }
}

fn built_for_parameters(seen: &Inspection) -> Finding {
    let line = &seen.facts.fixed.command_line;
    if line.text.known().is_none() {
        return Finding::unread(&line.text);
    }
    let config = &seen.facts.fixed.config;
    let wanted = [("nohz_full", "NO_HZ_FULL"), ("rcu_nocbs", "RCU_NOCB_CPU")];
    let given: Vec<_> = wanted
        .into_iter()
        .filter(|(parameter, _)| line.parameters().any(|(name, _)| name == *parameter))
        .collect();
    if given.is_empty() {
        return Finding::does_not_apply("neither is requested", line.text.path());
    }
    let mut finding = Finding::good("each requested option is built in", config.options.path());
    for (parameter, option) in given {
        match config.is_set(option) {
            Some(true) => {}
            Some(false) => {
                return Finding::bad(
                    format!("{parameter}= is given, but CONFIG_{option} is not set: dropped"),
                    config.options.path(),
                );
            }
            None => finding = Finding::unread(&config.options),
        }
    }
    finding
}

fn debugging(seen: &Inspection) -> Finding {
    let config = &seen.facts.fixed.config;
    let names = ["PROVE_LOCKING", "LOCKDEP", "KASAN", "DEBUG_PREEMPT"];
    let Some(options) = config.options.known() else {
        return Finding::unread(&config.options);
    };
    let set: Vec<&str> = names
        .into_iter()
        .filter(|name| options.contains_key(*name))
        .collect();
    if set.is_empty() {
        Finding::good("none", config.options.path())
    } else {
        Finding::bad(format!("set: {}", set.join(", ")), config.options.path())
    }
}

fn tracers(seen: &Inspection) -> Finding {
    let config = &seen.facts.fixed.config;
    let names = ["OSNOISE_TRACER", "TIMERLAT_TRACER", "HWLAT_TRACER"];
    let Some(options) = config.options.known() else {
        return Finding::unread(&config.options);
    };
    let missing: Vec<&str> = names
        .into_iter()
        .filter(|name| !options.contains_key(*name))
        .collect();
    if missing.is_empty() {
        Finding::good("all three", config.options.path())
    } else {
        Finding::bad(
            format!("missing: {}", missing.join(", ")),
            config.options.path(),
        )
    }
}
