//! Power saving of PCI Express links.

use crate::{Finding, Inspection};

const POLICY: &str = "/sys/module/pcie_aspm/parameters/policy";
const DEVICES: &str = "/sys/bus/pci/devices";
/// States of a link that a device's `link` directory shows, with 1 for enabled.
const STATES: [&str; 4] = ["l0s_aspm", "l1_aspm", "l1_1_aspm", "l1_2_aspm"];

/// The policy decides, and where the firmware does, the devices' links show what it chose.
pub fn aspm(seen: &Inspection) -> Finding {
    let policy = seen.root.text(POLICY);
    if policy.is_absent() {
        return Finding::does_not_apply("a kernel or machine without it", POLICY);
    }
    let Some(text) = policy.known() else {
        return Finding::unread(&policy);
    };
    let chosen = text
        .split_once('[')
        .and_then(|(_, rest)| rest.split_once(']'));
    match chosen.map(|(chosen, _)| chosen) {
        Some("performance") => Finding::good("performance", POLICY),
        Some(saving @ ("powersave" | "powersupersave")) => Finding::bad(saving, POLICY),
        Some("default") => as_the_firmware_chose(seen),
        _ => Finding::unknown("no policy is selected", POLICY),
    }
}

fn as_the_firmware_chose(seen: &Inspection) -> Finding {
    let names = seen.root.names(DEVICES);
    let devices = names.known().map(Vec::as_slice).unwrap_or_default();
    if devices.is_empty() {
        return Finding::does_not_apply("no PCI device", DEVICES);
    }
    let mut saving = Vec::new();
    let mut has_states = false;
    for device in devices {
        let states = STATES.iter().filter_map(|state| {
            let read = seen
                .root
                .number::<u32>(&format!("{DEVICES}/{device}/link/{state}"));
            read.known().copied()
        });
        let states: Vec<u32> = states.collect();
        has_states |= !states.is_empty();
        if states.contains(&1) {
            saving.push(device.as_str());
        }
    }
    let path = format!("{DEVICES}/*/link");
    match (saving.is_empty(), has_states) {
        (false, _) => Finding::bad(
            format!("the firmware's choice; on for {}", saving.join(", ")),
            path,
        ),
        (true, true) => Finding::good("the firmware's choice; on for no link", path),
        (true, false) => Finding::unknown("the firmware's choice, and no link shows it", POLICY),
    }
}
