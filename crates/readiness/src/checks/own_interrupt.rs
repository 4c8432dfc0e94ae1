//! The interrupt that the loop itself waits for, as far as names tell.

use super::interrupts::{listed, short};
use crate::{Finding, Inspection};

/// /proc does not show which device the loop's program waits for; it shows interrupts named like a
/// device that the program holds open.
pub(super) fn judge(seen: &Inspection) -> Finding {
    let path = "/proc/interrupts";
    let Some(program) = &seen.subject.program else {
        return Finding::does_not_apply("no program given (--program)", path);
    };
    let Some(pid) = program.pid else {
        return Finding::unknown("the program does not run", path);
    };
    let names = seen.root.names(&format!("/proc/{pid}/fd"));
    if names.known().is_none() {
        return Finding::unread(&names);
    }
    let own = own_interrupts(seen);
    let mut apart = Vec::new();
    let mut together = Vec::new();
    for line in &seen.interrupts.lines {
        if let (true, Some(cpus)) = (own.contains(&line.number), line.effective.known()) {
            let text = format!("{} {} on CPU {cpus}", line.number, short(&line.action));
            if seen.on_loop(cpus).is_empty() {
                apart.push(text)
            } else {
                together.push(text)
            }
        }
    }
    match (apart.is_empty(), together.is_empty()) {
        (true, true) => Finding::unknown(
            "no interrupt has the name of a device that it holds open",
            path,
        ),
        (true, false) => Finding::good(listed(&together), path),
        (false, _) => Finding::bad(listed(&apart), path),
    }
}

/// The numbers of the interrupts that are named like a device which the loop's program holds open.
pub fn own_interrupts(seen: &Inspection) -> Vec<u32> {
    let program = seen.subject.program.as_ref();
    let Some(pid) = program.and_then(|program| program.pid) else {
        return Vec::new();
    };
    let folder = format!("/proc/{pid}/fd");
    let names = seen.root.names(&folder);
    // /dev/spidev0.0, /dev/i2c-1, /dev/ttyAMA0: their drivers name the interrupt after the device.
    let devices: Vec<String> = names
        .known()
        .into_iter()
        .flatten()
        .filter_map(|name| seen.root.link_text(&format!("{folder}/{name}")))
        .filter_map(|target| Some(target.strip_prefix("/dev/")?.to_owned()))
        // `/dev/null` and the like raise none; a name of one letter would fit any device.
        .filter(|device| device.len() > 2)
        .collect();
    seen.interrupts
        .lines
        .iter()
        .filter(|line| {
            let action = short(&line.action);
            devices
                .iter()
                .any(|device| action.contains(device.as_str()))
        })
        .map(|line| line.number)
        .collect()
}
