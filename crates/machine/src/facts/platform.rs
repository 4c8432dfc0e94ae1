//! The board or computer the CPUs sit on, as its firmware names it. Serial numbers are not read.

use serde::{Deserialize, Serialize};

use crate::{Reading, Root};

/// The firmware's description of the machine.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Platform {
    /// The device tree's `model`: boards.
    pub device_tree_model: Reading<String>,
    /// DMI's maker: computers with a BIOS or UEFI.
    pub vendor: Reading<String>,
    /// DMI's product name.
    pub product: Reading<String>,
    /// DMI's firmware version.
    pub firmware: Reading<String>,
}

impl Platform {
    pub(super) fn read(root: &Root) -> Self {
        Self {
            device_tree_model: root
                .text("/proc/device-tree/model")
                .or_else(|| root.text("/sys/firmware/devicetree/base/model")),
            vendor: root.text("/sys/class/dmi/id/sys_vendor"),
            product: root.text("/sys/class/dmi/id/product_name"),
            firmware: root.text("/sys/class/dmi/id/bios_version"),
        }
    }

    /// The machine's name, from whichever firmware gave one.
    pub fn name(&self) -> Option<String> {
        if let Some(model) = self.device_tree_model.known() {
            return Some(model.clone());
        }
        let product = self.product.known()?;
        Some(match self.vendor.known() {
            Some(vendor) => format!("{vendor} {product}"),
            None => product.clone(),
        })
    }
}
