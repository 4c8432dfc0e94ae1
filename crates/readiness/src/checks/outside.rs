//! What lies beneath the kernel, and what the loop writes to.

use crate::{Check, Confidence, Finding, Group, Inspection, Severity};
use wakepath_machine::{Misread, Reading, TICK_NS, VirtualisedBy};

pub const CHECKS: &[Check] = &[
    Check {
        id: super::STOLEN_TIME,
        group: Group::Firmware,
        title: "hypervisor",
        reads: "/proc/cpuinfo, /sys/hypervisor, /proc/stat (steal)",
        why: "A hypervisor can pause a vCPU for an unbounded time, invisibly to Linux.",
        now: "measure on the machine itself",
        boot: "",
        weight: Severity::Grave,
        confidence: Confidence::WellKnown,
        judge: hypervisor,
    },
    Check {
        id: "X2",
        group: Group::Firmware,
        title: "stalls by the firmware",
        reads: "not measured: the hwlat tracer occupies the CPU while it runs",
        why: "System management interrupts stop every CPU, and no kernel event shows them.",
        now: "echo hwlat > /sys/kernel/tracing/current_tracer for some minutes, then read trace",
        boot: "firmware settings",
        weight: Severity::Notable,
        confidence: Confidence::WellKnown,
        judge: firmware_stalls,
    },
    Check {
        id: "D1",
        group: Group::Output,
        title: "serial console",
        reads: "/proc/consoles, else /proc/cmdline (console=); /proc/sys/kernel/printk",
        why: "Each message is written byte by byte with interrupts off on kernels without \
              PREEMPT_RT: at 115200 baud a line of 80 characters takes 7 ms.",
        now: "sysctl kernel.printk='1 4 1 7'",
        boot: "quiet loglevel=1",
        weight: Severity::Notable,
        confidence: Confidence::WellKnown,
        judge: console,
    },
    Check {
        id: "D2",
        group: Group::Output,
        title: "log files of the loop",
        reads: "/proc/PID/fd and fdinfo of the program: regular files that it has written to",
        why: "A write to an SD card or eMMC can block for hundreds of ms (200 to 700 ms measured).",
        now: "put log records into a queue in memory and let another thread write them (a pipe blocks the loop when it is full)",
        boot: "",
        weight: Severity::Grave,
        confidence: Confidence::Source,
        judge: logging,
    },
];

fn hypervisor(seen: &Inspection) -> Finding {
    let VirtualisedBy::Hypervisor { name, path } = seen.facts.fixed.virtualisation.conclusion()
    else {
        return match seen.facts.fixed.cpus.models.known() {
            Some(_) => Finding::good("none detected", "/proc/cpuinfo"),
            None => Finding::unread(&seen.facts.fixed.cpus.models),
        };
    };
    let name = name.unwrap_or_else(|| "a hypervisor".to_owned());
    let stolen = seen.facts.varying.cpu_time.stolen();
    let stolen = stolen.map_or(String::new(), |ticks| {
        format!(
            "; {} of CPU time taken since boot",
            wakepath_timeline::duration::length(ticks.saturating_mul(TICK_NS))
        )
    });
    Finding::bad(format!("{name}{stolen}"), path)
}

fn firmware_stalls(seen: &Inspection) -> Finding {
    match seen.is_x86() {
        Some(false) => Finding::does_not_apply("no system management mode", "/proc/cpuinfo"),
        _ => {
            let path = "/sys/kernel/tracing/tracing_max_latency";
            let tracer = seen.root.text("/sys/kernel/tracing/current_tracer");
            let most: Reading<u64> = seen.root.number(path);
            match (tracer.known().map(String::as_str), most.known()) {
                // The file holds the largest gap that hwlat saw, µs.
                (Some("hwlat"), Some(&us)) => Finding::judged(
                    us * 1_000 < seen.subject.noticeable_ns(),
                    format!("hwlat saw at most {us} µs"),
                    path,
                )
                .costing(crate::Magnitude::delay_us(us)),
                _ => Finding::unknown("the hwlat tracer is not running", path),
            }
        }
    }
}

fn console(seen: &Inspection) -> Finding {
    let consoles = seen.root.text("/proc/consoles").or_else(|| {
        let line = &seen.facts.fixed.command_line;
        line.text.clone().map(|_| {
            line.parameters()
                .filter(|(name, _)| *name == "console")
                .filter_map(|(_, value)| value)
                .collect::<Vec<_>>()
                .join("\n")
        })
    });
    let Some(text) = consoles.known() else {
        return Finding::unread(&consoles);
    };
    let serial = text.lines().find(|line| {
        let name = line.trim();
        // tty0, tty1 are screens; ttyS0, ttyAMA0, ttyTCU0, hvc0 are lines.
        name.strip_prefix("tty")
            .is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_uppercase()))
    });
    let Some(serial) = serial.and_then(|line| line.split([' ', ',']).next()) else {
        return Finding::good("no serial console", consoles.path());
    };
    let level = seen.root.parsed("/proc/sys/kernel/printk", |text| {
        let first = text.split_whitespace().next().unwrap_or_default();
        first
            .parse::<u32>()
            .map_err(|_| Misread::NotOfForm("four numbers"))
    });
    match (level.known(), seen.is_real_time()) {
        (None, _) => Finding::unread(&level),
        (_, Some(true)) => Finding::good(
            format!("{serial}; on PREEMPT_RT a thread writes to it"),
            consoles.path(),
        ),
        (Some(level), _) => Finding::judged(
            *level <= 1,
            format!("{serial}, messages below level {level} are written"),
            level_path(),
        ),
    }
}

fn level_path() -> &'static str {
    "/proc/sys/kernel/printk"
}

fn logging(seen: &Inspection) -> Finding {
    let Some(program) = &seen.subject.program else {
        return Finding::does_not_apply("no program given (--program)", "/proc/PID/fd");
    };
    let Some(pid) = program.pid else {
        return Finding::unknown(format!("{} does not run", program.name), "/proc/PID/fd");
    };
    let folder = format!("/proc/{pid}/fd");
    let names = seen.root.names(&folder);
    let Some(descriptors) = names.known() else {
        return Finding::unread(&names);
    };
    let mut files = Vec::new();
    for name in descriptors {
        let Some(target) = seen.root.link_text(&format!("{folder}/{name}")) else {
            continue;
        };
        let outside = ["/dev/", "/proc/", "/sys/", "/run/", "/memfd:"];
        if !target.starts_with('/') || outside.iter().any(|prefix| target.starts_with(prefix)) {
            continue;
        }
        // fdinfo's flags are octal; the lowest two bits are the access mode, 0 for reading alone. At place 0 nothing was
        // written yet, as of standard output that a shell has redirected.
        let opened = seen
            .root
            .parsed(&format!("/proc/{pid}/fdinfo/{name}"), |text| {
                let value = |key: &str| text.lines().find_map(|line| line.strip_prefix(key));
                let flags = value("flags:").and_then(|of| u64::from_str_radix(of.trim(), 8).ok());
                let flags = flags.ok_or_else(|| Misread::lacks("`flags:` in it"))?;
                Ok((flags, value("pos:").is_some_and(|of| of.trim() == "0")))
            });
        match opened.known() {
            None => return Finding::unread(&opened),
            Some((flags, false)) if flags & 3 != 0 => files.push(target),
            Some(_) => {}
        }
    }
    if files.is_empty() {
        Finding::good("no file is being written", folder)
    } else {
        Finding::bad(format!("writes {}", files.join(", ")), folder)
    }
}
