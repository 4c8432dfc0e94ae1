//! Signs of a virtual machine or a container.
//!
//! Without a sign the answer is "no sign", not "bare metal": a hypervisor can hide.

use serde::{Deserialize, Serialize};

use super::Processors;
use crate::{Reading, Root};

/// The signs of virtualisation.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Virtualisation {
    /// The CPU's own flag (x86).
    pub cpu_flag: Reading<bool>,
    /// A paravirtual hypervisor's name for itself.
    pub hypervisor: Reading<String>,
    /// A hypervisor in the device tree (Arm).
    pub device_tree: Reading<String>,
    /// DMI's maker and product, some of which are virtual.
    pub product: Reading<String>,
    /// A clock source only a virtual machine has, among those available.
    pub guest_clock: Reading<Option<String>>,
    /// The container manager's mark, if this is a container.
    pub container: Option<String>,
}

/// The conclusion, with the file it follows from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum VirtualisedBy {
    /// A hypervisor, by name if it has one.
    Hypervisor {
        /// `KVM`, `Xen`, …; `None` if it only shows that it is there.
        name: Option<String>,
        /// The file with the sign.
        path: String,
    },
    /// Nothing shows one.
    NoSign,
}

impl Virtualisation {
    pub(super) fn read(root: &Root, cpus: &Processors) -> Self {
        let vendor = root.text("/sys/class/dmi/id/sys_vendor");
        let product = root.text("/sys/class/dmi/id/product_name");
        let marks = [
            "/.dockerenv",
            "/run/.containerenv",
            "/run/systemd/container",
        ];
        Self {
            cpu_flag: cpus
                .models
                .clone()
                .map(|kinds| kinds.iter().any(|kind| kind.hypervisor)),
            hypervisor: root.text("/sys/hypervisor/type"),
            device_tree: root.text("/proc/device-tree/hypervisor/compatible"),
            product: match (vendor.known(), product) {
                (Some(vendor), product) => product.map(|name| format!("{vendor} {name}")),
                (None, product) => product,
            },
            guest_clock: root
                .text("/sys/devices/system/clocksource/clocksource0/available_clocksource")
                .map(|text| guest_clock(&text)),
            container: marks
                .into_iter()
                .find(|mark| root.exists(mark))
                .map(str::to_owned),
        }
    }

    /// Conclusion from all signs.
    pub fn conclusion(&self) -> VirtualisedBy {
        let by = |name: Option<String>, path: &str| VirtualisedBy::Hypervisor {
            name,
            path: path.to_owned(),
        };
        if let Some(name) = self.hypervisor.known() {
            return by(Some(name.clone()), self.hypervisor.path());
        }
        if let Some(name) = self.device_tree.known() {
            return by(Some(name.clone()), self.device_tree.path());
        }
        if let Some(name) = self.product.known().and_then(|text| virtual_product(text)) {
            return by(Some(name.to_owned()), self.product.path());
        }
        if let Some(Some(clock)) = self.guest_clock.known() {
            let name = if clock == "kvm-clock" { "KVM" } else { clock };
            return by(Some(name.to_owned()), self.guest_clock.path());
        }
        if self.cpu_flag.known() == Some(&true) {
            return by(None, self.cpu_flag.path());
        }
        VirtualisedBy::NoSign
    }
}

fn guest_clock(available: &str) -> Option<String> {
    let guests = [
        "kvm-clock",
        "xen",
        "hyperv_clocksource_tsc_page",
        "hyperv_clocksource_msr",
    ];
    available
        .split_whitespace()
        .find(|name| guests.contains(name))
        .map(str::to_owned)
}

/// Product names that hypervisors give their machines.
fn virtual_product(product: &str) -> Option<&'static str> {
    let names = [
        ("QEMU", "QEMU"),
        ("KVM", "KVM"),
        ("VMware", "VMware"),
        ("VirtualBox", "VirtualBox"),
        ("Microsoft Corporation Virtual Machine", "Hyper-V"),
        ("Xen", "Xen"),
        ("Google Compute Engine", "Google Compute Engine"),
        ("Parallels", "Parallels"),
        ("BHYVE", "bhyve"),
    ];
    names
        .into_iter()
        .find(|(part, _)| product.contains(part))
        .map(|(_, name)| name)
}
