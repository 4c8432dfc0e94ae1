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
    /// As `uname -m`; empty for any.
    architecture: &'static str,
    /// The distribution and the machines, as a person reads them.
    pub distribution: &'static str,
    /// A command that can be typed, or the setting of a build.
    pub install: &'static str,
    /// What must be there first, or what it installs; may be empty.
    pub note: &'static str,
}

/// The first that fits is meant: boards come before the distribution that runs on them.
pub const REAL_TIME_KERNELS: &[RealTimeKernel] = &[
    RealTimeKernel {
        id: "ubuntu",
        board: "Raspberry Pi",
        architecture: "",
        distribution: "Ubuntu on a Raspberry Pi (Ubuntu Pro)",
        install: "sudo pro enable realtime-kernel --variant=raspi",
        note: "installs linux-raspi-realtime",
    },
    RealTimeKernel {
        id: "",
        board: "Raspberry Pi",
        architecture: "",
        distribution: "Raspberry Pi OS, 64 bits",
        install: "sudo apt install linux-image-rpi-v8-rt",
        note: "",
    },
    RealTimeKernel {
        id: "",
        board: "Jetson",
        architecture: "",
        distribution: "Jetson Linux",
        install: "sudo apt install nvidia-l4t-rt-kernel",
        note: "from NVIDIA's rt-kernel repository",
    },
    RealTimeKernel {
        id: "ubuntu",
        board: "",
        architecture: "",
        distribution: "Ubuntu (Ubuntu Pro)",
        install: "sudo pro enable realtime-kernel",
        note: "installs linux-image-realtime",
    },
    RealTimeKernel {
        id: "debian",
        board: "",
        architecture: "x86_64",
        distribution: "Debian, 64-bit PC",
        install: "sudo apt install linux-image-rt-amd64",
        note: "",
    },
    RealTimeKernel {
        id: "debian",
        board: "",
        architecture: "aarch64",
        distribution: "Debian, arm64",
        install: "sudo apt install linux-image-rt-arm64",
        note: "",
    },
    RealTimeKernel {
        id: "debian",
        board: "",
        architecture: "armv7l",
        distribution: "Debian, armhf",
        install: "sudo apt install linux-image-rt-armmp",
        note: "",
    },
    RealTimeKernel {
        id: "fedora",
        board: "",
        architecture: "",
        distribution: "Fedora",
        install: "build the kernel with CONFIG_PREEMPT_RT=y",
        note: "not in Fedora's own packages",
    },
    RealTimeKernel {
        id: "rhel",
        board: "",
        architecture: "",
        distribution: "RHEL, CentOS Stream, Alma, Rocky",
        install: "sudo dnf install kernel-rt",
        note: "from the repository for real time, rt",
    },
    RealTimeKernel {
        id: "suse",
        board: "",
        architecture: "",
        distribution: "SUSE Linux Enterprise (Real Time module), openSUSE Leap 15 and Tumbleweed",
        install: "sudo zypper install kernel-rt",
        note: "",
    },
    RealTimeKernel {
        id: "arch",
        board: "",
        architecture: "",
        distribution: "Arch",
        install: "sudo pacman -S linux-rt",
        note: "linux-rt-lts is the older one",
    },
    RealTimeKernel {
        id: "nixos",
        board: "",
        architecture: "",
        distribution: "NixOS",
        install: "boot.kernelPackages = pkgs.linuxPackages-rt",
        note: "in configuration.nix",
    },
    RealTimeKernel {
        id: "poky",
        board: "",
        architecture: "",
        distribution: "Yocto",
        install: "PREFERRED_PROVIDER_virtual/kernel = \"linux-yocto-rt\"",
        note: "in local.conf",
    },
    RealTimeKernel {
        id: "arago",
        board: "",
        architecture: "",
        distribution: "TI Processor SDK (meta-ti)",
        install: "PREFERRED_PROVIDER_virtual/kernel = \"linux-ti-staging-rt\"",
        note: "in local.conf",
    },
];

impl RealTimeKernel {
    /// What to do, the command last: nothing after it has to be left out when it is typed.
    pub(super) fn fix(&self) -> String {
        let note = match self.note {
            "" => String::new(),
            note => format!("; {note}"),
        };
        format!(
            "boot a kernel with PREEMPT_RT; {}{note}: {}",
            self.distribution, self.install
        )
    }
}

/// The one for this machine; `None` if its distribution is not in the table.
pub(super) fn of_machine(seen: &Inspection) -> Option<&'static RealTimeKernel> {
    let text = |path| seen.root.text(path).known().cloned().unwrap_or_default();
    let architecture = seen.facts.fixed.kernel.architecture.known();
    of_texts(
        &text("/etc/os-release"),
        &text("/proc/device-tree/model"),
        architecture.map_or("", |text| text.trim()),
    )
}

fn of_texts(release: &str, model: &str, architecture: &str) -> Option<&'static RealTimeKernel> {
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
            // Linux before 6.1 does not say what it runs on: the first row is then as good as any.
            let fits_architecture =
                [of.architecture, architecture].contains(&"") || of.architecture == architecture;
            fits_id && fits_architecture && (of.board.is_empty() || model.contains(of.board))
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
        let install =
            |release: &str, model: &str| of_texts(release, model, "").map(RealTimeKernel::fix);
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
        for (architecture, package) in [
            ("x86_64", "linux-image-rt-amd64"),
            ("aarch64", "linux-image-rt-arm64"),
            ("armv7l", "linux-image-rt-armmp"),
        ] {
            let of = of_texts("ID=debian", "", architecture).unwrap();
            assert_eq!(of.install, format!("sudo apt install {package}"));
        }
        assert!(of_texts("ID=debian", "", "riscv64").is_none());
    }

    #[test]
    fn a_command_to_install_has_nothing_that_a_shell_refuses() {
        let typed = REAL_TIME_KERNELS
            .iter()
            .filter(|of| of.install.starts_with("sudo "));
        let plain = |of: &&RealTimeKernel| of.install.contains(['(', ')', ',', ';', '…']);
        let wrong: Vec<_> = typed.filter(plain).collect();
        assert!(wrong.is_empty(), "{wrong:?}");
    }

    #[test]
    fn the_guide_to_boards_has_every_row() {
        let guide = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/guide/boards.md");
        let guide = std::fs::read_to_string(guide).unwrap();
        for of in REAL_TIME_KERNELS {
            let note = match of.note {
                "" => String::new(),
                note => format!(", {note}"),
            };
            let row = format!("| {} | `{}`{note} |", of.distribution, of.install);
            assert!(guide.contains(&row), "docs/guide/boards.md lacks: {row}");
        }
    }
}
