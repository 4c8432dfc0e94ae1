//! A board's influence on its clocks: supply, power mode, heat.

use crate::{Finding, Inspection};
use wakepath_machine::Reading;

pub(super) fn pi_supply(seen: &Inspection) -> Finding {
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

pub(super) fn jetson_mode(seen: &Inspection) -> Finding {
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
    if off.is_empty() {
        Finding::good(format!("{name}; every CPU is online"), mode.path())
    } else {
        Finding::bad(format!("{name}; CPU {off} offline"), mode.path())
    }
}

pub(super) fn heat(seen: &Inspection) -> Finding {
    let path = "/sys/class/thermal";
    let devices = &seen.facts.varying.cooling.devices;
    if devices.is_empty() {
        return if seen.root.exists(path) {
            Finding::does_not_apply("no cooling device is shown", path)
        } else {
            Finding::unknown("no thermal information", path)
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
    if slowed.is_empty() {
        Finding::good("no throttling", path)
    } else {
        Finding::bad(slowed.join(", "), path)
    }
}
