//! How long USB serial adapters hold back what they received.

use crate::{Check, Confidence, Finding, Group, Inspection, Magnitude, Severity};
use wakepath_machine::Reading;

pub const CHECKS: &[Check] = &[Check {
    id: "U1",
    group: Group::Devices,
    title: "latency timer of USB serial adapters",
    reads: "/sys/bus/usb-serial/devices/*/latency_timer",
    why: "An FTDI adapter holds bytes back until its buffer is full or this many milliseconds have passed, 16 by \
          default. A loop that waits for a servo's answer waits for this timer.",
    now: "echo 1 > /sys/bus/usb-serial/devices/ttyUSBN/latency_timer, or setserial /dev/ttyUSBN low_latency",
    boot: "in /etc/udev/rules.d/99-serial-latency.rules: ACTION==\"add\", SUBSYSTEM==\"usb-serial\", \
           DRIVER==\"ftdi_sio\", ATTR{latency_timer}=\"1\"",
    weight: Severity::Notable,
    confidence: Confidence::WellKnown,
    judge: latency_timer,
}];

fn latency_timer(seen: &Inspection) -> Finding {
    let folder = "/sys/bus/usb-serial/devices";
    let names = seen.root.names(folder);
    let files: Vec<String> = names
        .known()
        .into_iter()
        .flatten()
        .map(|name| format!("{folder}/{name}/latency_timer"))
        .filter(|file| seen.root.exists(file))
        .collect();
    if files.is_empty() {
        return Finding::does_not_apply("no such adapter is plugged in", folder);
    }
    let mut slowest: Option<(u64, String)> = None;
    for file in files {
        let read: Reading<u64> = seen.root.number(&file);
        let Some(&ms) = read.known() else {
            return Finding::unread(&read);
        };
        if slowest.as_ref().is_none_or(|(most, _)| ms > *most) {
            slowest = Some((ms, file));
        }
    }
    let (ms, file) = slowest.unwrap_or_default();
    // 1 ms is the shortest that the adapters take.
    if ms > 1 {
        Finding::bad(format!("{ms} ms"), &file)
            .costing(Magnitude::delay_us(ms.saturating_mul(1_000)))
            .remedied_by(format!("echo 1 > {file}"))
    } else {
        Finding::good("1 ms or less", file)
    }
}
