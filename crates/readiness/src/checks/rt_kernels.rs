//! How each distribution installs a kernel with PREEMPT_RT. The boards' guide has the same table, held to this one
//! by a test.

use crate::Inspection;

/// A distribution's real-time kernel.
#[derive(Debug)]
pub struct RealTimeKernel {
    /// `ID` or `ID_LIKE` of `/etc/os-release`; empty for what is recognised by its board.
    id: &'static str,
    /// A part of the device tree's model that the board's name has; empty for any machine.
    board: &'static str,
    /// The distribution and the machines, as a person reads them.
    pub distribution: &'static str,
    /// A command, or the setting of a build.
    pub install: &'static str,
}

/// The first that fits is meant: boards come before the distribution that runs on them.
pub const REAL_TIME_KERNELS: &[RealTimeKernel] = &[
    RealTimeKernel {
        id: "ubuntu",
        board: "Raspberry Pi",
        distribution: "Ubuntu on a Raspberry Pi (Ubuntu Pro)",
        install: "sudo pro enable realtime-kernel --variant=raspi (linux-raspi-realtime)",
    },
    RealTimeKernel {
        id: "",
        board: "Raspberry Pi",
        distribution: "Raspberry Pi OS, 64 bits",
        install: "sudo apt install linux-image-rpi-v8-rt",
    },
    RealTimeKernel {
        id: "",
        board: "Jetson",
        distribution: "Jetson Linux",
        install: "sudo apt install nvidia-l4t-rt-kernel, from NVIDIA's rt-kernel repository",
    },
    RealTimeKernel {
        id: "ubuntu",
        board: "",
        distribution: "Ubuntu (Ubuntu Pro)",
        install: "sudo pro enable realtime-kernel (linux-image-realtime)",
    },
    RealTimeKernel {
        id: "debian",
        board: "",
        distribution: "Debian",
        install: "sudo apt install linux-image-rt-amd64 (arm64: linux-image-rt-arm64, armhf: linux-image-rt-armmp)",
    },
    RealTimeKernel {
        id: "fedora",
        board: "",
        distribution: "Fedora",
        install: "not in Fedora's own packages: build the kernel with CONFIG_PREEMPT_RT=y",
    },
    RealTimeKernel {
        id: "rhel",
        board: "",
        distribution: "RHEL, CentOS Stream, Alma, Rocky",
        install: "sudo dnf install kernel-rt, from the repository for real time (rt)",
    },
    RealTimeKernel {
        id: "suse",
        board: "",
        distribution: "SUSE Linux Enterprise (Real Time module), openSUSE Leap 15 and Tumbleweed",
        install: "sudo zypper install kernel-rt",
    },
    RealTimeKernel {
        id: "arch",
        board: "",
        distribution: "Arch",
        install: "sudo pacman -S linux-rt (or linux-rt-lts)",
    },
    RealTimeKernel {
        id: "nixos",
        board: "",
        distribution: "NixOS",
        install: "boot.kernelPackages = pkgs.linuxPackages-rt",
    },
    RealTimeKernel {
        id: "poky",
        board: "",
        distribution: "Yocto",
        install: "PREFERRED_PROVIDER_virtual/kernel = \"linux-yocto-rt\"",
    },
    RealTimeKernel {
        id: "arago",
        board: "",
        distribution: "TI Processor SDK (meta-ti)",
        install: "PREFERRED_PROVIDER_virtual/kernel = \"linux-ti-staging-rt\"",
    },
];

/// The one for this machine; `None` if its distribution is not in the table.
pub(super) fn of_machine(seen: &Inspection) -> Option<&'static RealTimeKernel> {
    let text = |path| seen.root.text(path).known().cloned().unwrap_or_default();
    of_texts(&text("/etc/os-release"), &text("/proc/device-tree/model"))
}

fn of_texts(release: &str, model: &str) -> Option<&'static RealTimeKernel> {
    let fields = ["ID=", "ID_LIKE="];
    let values = fields.iter().flat_map(|name| {
        let lines = release
            .lines()
            .filter_map(move |line| line.strip_prefix(name));
        lines.flat_map(|value| value.trim_matches('"').split_whitespace())
    });
    let ids: Vec<&str> = values.collect();
    // The distribution's own name comes before what it is like: Ubuntu is like Debian.
    let with_id = |id: &str| {
        REAL_TIME_KERNELS.iter().find(|of| {
            let fits_id =
                of.id.is_empty() || of.id == id || (of.id == "suse" && id.starts_with("opensuse"));
            fits_id && (of.board.is_empty() || model.contains(of.board))
        })
    };
    let anywhere = if ids.is_empty() { vec![""] } else { ids };
    anywhere.into_iter().find_map(with_id)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_board_comes_before_its_distribution_and_a_name_before_what_it_is_like() {
        let install = |release: &str, model: &str| of_texts(release, model).map(|of| of.install);
        let pi = "Raspberry Pi 5 Model B Rev 1.0";
        let raspbian = install("ID=debian", pi).unwrap();
        assert!(raspbian.contains("linux-image-rpi-v8-rt"), "{raspbian}");
        let ubuntu = install("ID=ubuntu\nID_LIKE=debian", pi).unwrap();
        assert!(ubuntu.contains("linux-raspi-realtime"), "{ubuntu}");
        let desk = install("NAME=x\nID=ubuntu\nID_LIKE=debian", "").unwrap();
        assert!(desk.contains("linux-image-realtime"), "{desk}");
        let alma = install("ID=\"almalinux\"\nID_LIKE=\"rhel centos fedora\"", "").unwrap();
        assert!(alma.contains("kernel-rt"), "{alma}");
        assert!(install("ID=opensuse-tumbleweed", "").is_some());
        assert_eq!(install("ID=alpine", ""), None);
    }

    #[test]
    fn the_guide_to_boards_has_every_row() {
        let guide = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/guide/boards.md");
        let guide = std::fs::read_to_string(guide).unwrap();
        for of in REAL_TIME_KERNELS {
            let row = format!("| {} | `{}` |", of.distribution, of.install);
            assert!(guide.contains(&row), "docs/guide/boards.md lacks: {row}");
        }
    }
}
