//! Frequency, idle states, supply, power modes, heat.

use crate::{Check, Confidence, Finding, Group, Inspection, Magnitude, Severity};
use wakepath_machine::{FrequencyPolicy, NO_LATENCY_REQUEST_US, Reading};

pub const CHECKS: &[Check] = &[
    Check {
        id: "F1",
        group: Group::Power,
        title: "frequency governor",
        reads: "/sys/devices/system/cpu/cpufreq/policy*/{related_cpus,scaling_governor}",
        why: "A governor that follows the load starts each cycle of a mostly idle loop at a low \
              clock; the change itself takes time (BeagleBone: 300 µs).",
        now: "echo performance > /sys/devices/system/cpu/cpufreq/policyN/scaling_governor",
        boot: "cpufreq.default_governor=performance",
        weight: Severity::Notable,
        confidence: Confidence::Source,
        judge: governor,
    },
    Check {
        id: "F2",
        group: Group::Power,
        title: "frequency range",
        reads: "/sys/devices/system/cpu/cpufreq/policy*/scaling_{min,max}_freq, \
                energy_performance_preference, boost, no_turbo",
        why: "The work's execution time varies with the clock, in the ratio of the two bounds.",
        now: "write scaling_max_freq's value into scaling_min_freq; \
              energy_performance_preference: performance",
        boot: "",
        weight: Severity::Minor,
        confidence: Confidence::WellKnown,
        judge: range,
    },
    Check {
        id: "F3",
        group: Group::Power,
        title: "idle states",
        reads: "/sys/devices/system/cpu/cpu*/cpuidle/state*/{latency,disable}, \
                power/pm_qos_resume_latency_us",
        why: "A sleeping CPU must wake up first. Published: 40 + 90 µs on a BeagleBone, 170 µs for \
              C6 on Ice Lake.",
        now: "write a bound in µs to /sys/devices/system/cpu/cpuN/power/pm_qos_resume_latency_us, \
              or 1 to the state's `disable`",
        boot: "x86: processor.max_cstate=1 intel_idle.max_cstate=1",
        weight: Severity::Notable,
        confidence: Confidence::Source,
        judge: idle_states,
    },
    Check {
        id: "F4",
        group: Group::Power,
        title: "per-CPU latency bound",
        reads: "/sys/devices/system/cpu/cpuN/power/pm_qos_resume_latency_us",
        why: "Commonly taken the wrong way round: 0 means no bound, n/a means that no latency at \
              all is allowed.",
        now: "echo n/a (no idle state) or a bound in µs > \
              /sys/devices/system/cpu/cpuN/power/pm_qos_resume_latency_us",
        boot: "",
        weight: Severity::Minor,
        confidence: Confidence::Source,
        judge: latency_bound,
    },
    Check {
        id: "F5",
        group: Group::Power,
        title: "who holds /dev/cpu_dma_latency",
        reads: "/dev/cpu_dma_latency, /proc/*/fd",
        why: "A measuring tool that holds it hides the idle latency that the loop will pay once \
              the tool is gone.",
        now: "end its holder before measuring, or let the mission hold it too",
        boot: "",
        weight: Severity::Notable,
        confidence: Confidence::Source,
        judge: request_holder,
    },
    Check {
        id: "F6",
        group: Group::Power,
        title: "Raspberry Pi supply and throttling",
        reads: "/sys/class/hwmon/hwmon*/in0_lcrit_alarm, \
                /sys/devices/platform/soc/soc:firmware/get_throttled",
        why: "Under-voltage caps the clock, mostly when motors start.",
        now: "a stronger supply, a shorter cable",
        boot: "",
        weight: Severity::Notable,
        confidence: Confidence::Source,
        judge: pi_supply,
    },
    Check {
        id: "F7",
        group: Group::Power,
        title: "Jetson power mode",
        reads: "/var/lib/nvpmodel/status, /sys/devices/system/cpu/{present,online}",
        why: "A power mode can take cores away or cap clocks.",
        now: "nvpmodel -m 0, then jetson_clocks",
        boot: "nvpmodel keeps its mode over a reboot",
        weight: Severity::Notable,
        confidence: Confidence::WellKnown,
        judge: jetson_mode,
    },
    Check {
        id: "F8",
        group: Group::Power,
        title: "heat",
        reads: "/sys/class/thermal/cooling_device*/{type,cur_state}",
        why: "Cooling by a lower clock stretches the work for as long as the heat lasts.",
        now: "cool it; less power elsewhere",
        boot: "",
        weight: Severity::Notable,
        confidence: Confidence::WellKnown,
        judge: heat,
    },
];

/// The frequency policies of the loop's CPUs, or why there are none.
fn policies(seen: &Inspection) -> Result<Vec<&FrequencyPolicy>, Finding> {
    let all = &seen.facts.varying.frequency.policies;
    let path = "/sys/devices/system/cpu/cpufreq";
    if all.is_empty() {
        return Err(match seen.root.exists("/sys/devices/system/cpu") {
            true => Finding::does_not_apply("the kernel does not change the frequency here", path),
            false => Finding::unknown("nothing under /sys/devices/system/cpu", path),
        });
    }
    let mut own = Vec::new();
    for policy in all {
        match policy.cpus.known() {
            None => return Err(Finding::unread(&policy.cpus)),
            Some(cpus) if seen.on_loop(cpus).is_empty() => {}
            Some(_) => own.push(policy),
        }
    }
    match own.is_empty() {
        true => Err(Finding::unknown("no policy covers the loop's CPU", path)),
        false => Ok(own),
    }
}

fn governor(seen: &Inspection) -> Finding {
    let policies = match policies(seen) {
        Ok(policies) => policies,
        Err(finding) => return finding,
    };
    let mut steady = Finding::good("performance", policies[0].governor.path());
    for policy in policies {
        let fixed = matches!(
            (policy.minimum_khz.known(), policy.maximum_khz.known()),
            (Some(low), Some(high)) if low == high
        );
        match policy.governor.known() {
            None => return Finding::unread(&policy.governor),
            Some(name) if name == "performance" || fixed => {
                steady.found = match fixed {
                    true => format!("{name}, range of one frequency"),
                    false => name.clone(),
                };
            }
            Some(name) => {
                let magnitude = match policy.transition_latency_ns.known() {
                    // The kernel writes UINT_MAX for "unknown" (include/linux/cpufreq.h).
                    Some(&ns) if ns > 0 && ns < u64::from(u32::MAX) => Magnitude::Delay { ns },
                    _ => Magnitude::NotKnown,
                };
                return Finding::bad(
                    format!("{name} on CPU {}", policy.cpus),
                    policy.governor.path(),
                )
                .costing(magnitude)
                .remedied_by(format!("echo performance > {}", policy.governor.path()));
            }
        }
    }
    steady
}

fn range(seen: &Inspection) -> Finding {
    let policies = match policies(seen) {
        Ok(policies) => policies,
        Err(finding) => return finding,
    };
    let mut wide = Vec::new();
    for policy in &policies {
        match (policy.minimum_khz.known(), policy.maximum_khz.known()) {
            (Some(low), Some(high)) if low < high => {
                wide.push(format!(
                    "CPU {}: {} to {} MHz",
                    policy.cpus,
                    low / 1000,
                    high / 1000
                ));
            }
            (Some(_), Some(_)) => {}
            (None, _) => return Finding::unread(&policy.minimum_khz),
            (_, None) => return Finding::unread(&policy.maximum_khz),
        }
        if let Some(preference) = policy.energy_preference.known()
            && preference != "performance"
        {
            wide.push(format!("energy preference {preference}"));
        }
    }
    let path = policies[0].minimum_khz.path();
    match wide.is_empty() {
        true => Finding::good("one frequency", path),
        false => Finding::bad(wide.join("; "), path),
    }
}

/// The per-CPU bound in µs: none for no bound. `n/a` is a bound of 0.
fn bound_us(seen: &Inspection, cpu: u32) -> Reading<Option<u64>> {
    let path = format!("/sys/devices/system/cpu/cpu{cpu}/power/pm_qos_resume_latency_us");
    seen.root.parsed(&path, |text| match text.trim() {
        "0" => Ok(None),
        "n/a" => Ok(Some(0)),
        number => number
            .parse()
            .map(Some)
            .map_err(|_| "a number of µs or n/a was expected".to_owned()),
    })
}

fn idle_states(seen: &Inspection) -> Finding {
    let idle = &seen.facts.varying.idle;
    let path = "/sys/devices/system/cpu/cpu*/cpuidle";
    match &idle.groups {
        Reading::Known { .. } => {}
        Reading::Absent { .. }
            if seen.subject.cpus.numbers().iter().any(|cpu| {
                let first = format!("/sys/devices/system/cpu/cpu{cpu}/cpuidle/state0");
                seen.root.exists(&first)
            }) =>
        {
            return Finding::unknown("there are idle states, and they can't be understood", path);
        }
        Reading::Absent { .. } if seen.root.exists("/sys/devices/system/cpu") => {
            let driver = idle.driver.known().map_or("none", String::as_str);
            return Finding::does_not_apply(
                format!("the kernel has no idle states here (driver: {driver})"),
                path,
            );
        }
        other => return Finding::unread(other),
    }
    let mut worst: Option<(u64, String, u32)> = None;
    for &cpu in seen.subject.cpus.numbers() {
        let Some(states) = idle.states_of(cpu) else {
            return Finding::unknown(format!("CPU {cpu} shows no idle states"), path);
        };
        let bound = bound_us(seen, cpu).known().copied().flatten();
        for state in states {
            let entered = !state.disabled && bound.is_none_or(|bound| state.latency_us <= bound);
            if entered
                && worst
                    .as_ref()
                    .is_none_or(|(most, ..)| state.latency_us > *most)
            {
                worst = Some((state.latency_us, state.name.clone(), cpu));
            }
        }
    }
    let Some((latency_us, name, cpu)) = worst else {
        return Finding::good("every state is disabled or out of bounds", path);
    };
    let found = format!("deepest that CPU {cpu} may enter: {name}, {latency_us} µs");
    let magnitude = Magnitude::delay_us(latency_us);
    match latency_us.saturating_mul(1_000) > seen.subject.noticeable_ns() {
        false => Finding::good(found, path).costing(magnitude),
        true => Finding::bad(found, path)
            .costing(magnitude)
            .remedied_by(format!(
                "echo {} > /sys/devices/system/cpu/cpu{cpu}/power/pm_qos_resume_latency_us",
                (seen.subject.noticeable_ns() / 1_000).max(1)
            )),
    }
}

fn latency_bound(seen: &Inspection) -> Finding {
    let has_states = seen.facts.varying.idle.groups.known().is_some();
    let mut bounds = Vec::new();
    for &cpu in seen.subject.cpus.numbers() {
        let bound = bound_us(seen, cpu);
        match bound.known() {
            None => return Finding::unread(&bound),
            // No bound, where there is something to bound.
            Some(None) if has_states => {
                return Finding::bad(format!("0 on CPU {cpu}: no bound"), bound.path());
            }
            Some(None) => bounds.push("0: no bound, and no idle state to bound".to_owned()),
            Some(Some(0)) => bounds.push("n/a: no latency allowed".to_owned()),
            Some(Some(us)) if us * 1_000 > seen.subject.noticeable_ns() => {
                return Finding::bad(format!("{us} µs on CPU {cpu}"), bound.path())
                    .costing(Magnitude::delay_us(*us));
            }
            Some(Some(us)) => bounds.push(format!("{us} µs")),
        }
    }
    Finding::good(
        bounds.join(", "),
        "/sys/devices/system/cpu/cpu*/power/pm_qos_resume_latency_us",
    )
}

fn request_holder(seen: &Inspection) -> Finding {
    let request = &seen.facts.varying.latency_request;
    let Some(&bound) = request.bound_us.known() else {
        return Finding::unread(&request.bound_us);
    };
    let path = request.bound_us.path();
    if bound >= NO_LATENCY_REQUEST_US {
        return Finding::good("nobody asks for a bound", path);
    }
    let holders = request.holders.known();
    let who: Vec<String> = holders
        .into_iter()
        .flat_map(|holders| &holders.processes)
        .map(|(pid, name)| format!("{name} ({pid})"))
        .collect();
    let who = match who.is_empty() {
        true => "a process that this user can't see".to_owned(),
        false => who.join(", "),
    };
    // Held by the program itself it is the mission's own, and hides nothing.
    let own = seen.subject.program.as_ref().and_then(|own| own.pid);
    let of_mission = holders.is_some_and(|holders| {
        own.is_some_and(|own| holders.processes.iter().any(|(pid, _)| *pid == own))
    });
    Finding::judged(of_mission, format!("{bound} µs, held by {who}"), path)
}

fn pi_supply(seen: &Inspection) -> Finding {
    let cooling = &seen.facts.varying.cooling;
    let board = seen.board();
    if board
        .as_ref()
        .is_some_and(|name| !name.contains("Raspberry Pi"))
        || (board.is_none() && seen.is_x86() == Some(true))
    {
        return Finding::does_not_apply("not a Raspberry Pi", "/proc/device-tree/model");
    }
    let flags = cooling.pi_throttled.known().and_then(|text| {
        let digits = text.trim().trim_start_matches("0x");
        u32::from_str_radix(digits, 16).ok()
    });
    let alarm = cooling.under_voltage.iter().find(|monitor| {
        monitor
            .monitor
            .known()
            .is_some_and(|name| name == "rpi_volt")
    });
    // Bits 0-2: under-voltage, capped, throttled now; 16-18: since boot. 3 and 19 are the soft
    // temperature limit (Raspberry Pi documentation, `vcgencmd get_throttled`).
    if let Some(flags) = flags
        && flags & 0x7_0007 != 0
    {
        return Finding::bad(
            format!("get_throttled {flags:#x}"),
            cooling.pi_throttled.path(),
        );
    }
    match (alarm.map(|monitor| &monitor.alarm), flags) {
        (Some(Reading::Known { value: 0, path }), _) => Finding::good("no alarm", path),
        (Some(Reading::Known { path, .. }), _) => Finding::bad("under-voltage alarm", path),
        (_, Some(_)) => Finding::good("get_throttled 0x0", cooling.pi_throttled.path()),
        (Some(other), None) => Finding::unread(other),
        (None, None) => Finding::unread(&cooling.pi_throttled),
    }
}

fn jetson_mode(seen: &Inspection) -> Finding {
    let board = seen.board();
    let jetson = |name: &String| name.contains("Jetson") || name.contains("NVIDIA");
    if board.as_ref().is_some_and(|name| !jetson(name))
        || (board.is_none() && seen.is_x86() == Some(true))
    {
        return Finding::does_not_apply("not a Jetson", "/proc/device-tree/model");
    }
    let mode = &seen.facts.varying.cooling.jetson_power_mode;
    let Some(name) = mode.known() else {
        return Finding::unread(mode);
    };
    let present = &seen.facts.fixed.cpus.present;
    let Some(present) = present.known() else {
        return Finding::unread(present);
    };
    let off = present.without(&seen.online());
    match off.is_empty() {
        true => Finding::good(format!("{name}; every CPU is on-line"), mode.path()),
        false => Finding::bad(format!("{name}; CPU {off} off-line"), mode.path()),
    }
}

fn heat(seen: &Inspection) -> Finding {
    let path = "/sys/class/thermal";
    let devices = &seen.facts.varying.cooling.devices;
    if devices.is_empty() {
        return match seen.root.exists(path) {
            true => Finding::does_not_apply("no cooling device is shown", path),
            false => Finding::unknown("no thermal information", path),
        };
    }
    let mut slowed = Vec::new();
    for device in devices.iter().filter(|device| !device.is_fan()) {
        match device.state.known() {
            None => return Finding::unread(&device.state),
            // A driver that is not at work shows −1.
            Some(..=0) => {}
            Some(state) => slowed.push(format!("{} at {state}", device.kind)),
        }
    }
    match slowed.is_empty() {
        true => Finding::good("nothing is slowed down", path),
        false => Finding::bad(slowed.join(", "), path),
    }
}
