//! How each distribution installs a kernel with PREEMPT_RT. The boards' guide has the same table, held to this one
//! by a test.

use crate::Inspection;

/// A distribution's real-time kernel.
#[derive(Debug)]
pub struct RealTimeKernel {
    /// One of them is `ID` or in `ID_LIKE` of `/etc/os-release`.
    ids: &'static [&'static str],
    /// A part of the device tree's model that the board's name has; empty for any machine.
    board: &'static str,
    /// As `uname -m`; empty for any.
    architecture: &'static str,
    /// The first release, as `VERSION_ID` of `/etc/os-release`; `None` for any.
    since: Option<Release>,
    /// The distribution and the machines, as a person reads them.
    pub distribution: &'static str,
    /// A command that can be typed, or the setting of a build.
    pub install: &'static str,
    /// What must be there first, or what it installs; may be empty.
    pub note: &'static str,
}

/// Year and month, or major and minor.
type Release = (u32, u32);

/// Raspberry Pi OS calls itself Debian, so it gets a name here.
const RASPBERRY_PI_OS: &str = "raspberry-pi-os";

/// The first that fits is meant: boards come before the distribution that runs on them, and newer releases before older
/// ones.
pub const REAL_TIME_KERNELS: &[RealTimeKernel] = &[
    RealTimeKernel {
        ids: &["ubuntu"],
        board: "Raspberry Pi",
        architecture: "",
        since: Some((26, 4)),
        distribution: "Ubuntu 26.04 and later on a Raspberry Pi",
        install: "sudo apt install linux-raspi-realtime",
        note: "",
    },
    RealTimeKernel {
        ids: &["ubuntu"],
        board: "Raspberry Pi",
        architecture: "",
        since: None,
        distribution: "Ubuntu 24.04 on a Raspberry Pi (Ubuntu Pro)",
        install: "sudo pro enable realtime-kernel --variant=raspi",
        note: "",
    },
    RealTimeKernel {
        ids: &[RASPBERRY_PI_OS],
        board: "",
        architecture: "aarch64",
        since: None,
        distribution: "Raspberry Pi OS, 64 bits",
        install: "sudo apt install linux-image-rpi-v8-rt",
        note: "then kernel=kernel8_rt.img in /boot/firmware/config.txt",
    },
    RealTimeKernel {
        ids: &[RASPBERRY_PI_OS],
        board: "",
        architecture: "",
        since: None,
        distribution: "Raspberry Pi OS, 32 bits",
        install: "build the kernel with CONFIG_PREEMPT_RT=y",
        note: "the 64-bit system has a package",
    },
    RealTimeKernel {
        ids: &["ubuntu"],
        board: "Thor",
        architecture: "",
        since: None,
        distribution: "Jetson Thor",
        install: "sudo apt install nvidia-l4t-rt-kernel nvidia-l4t-rt-kernel-headers nvidia-l4t-rt-kernel-oot-modules nvidia-l4t-display-rt-kernel nvidia-l4t-rt-kernel-openrm",
        note: "from NVIDIA's rt-kernel repository",
    },
    RealTimeKernel {
        ids: &["ubuntu"],
        board: "Jetson",
        architecture: "",
        since: Some((24, 4)),
        distribution: "Jetson Orin (JetPack 7)",
        install: "sudo apt install nvidia-l4t-rt-kernel nvidia-l4t-rt-kernel-headers nvidia-l4t-rt-kernel-oot-modules nvidia-l4t-display-rt-kernel nvidia-l4t-rt-kernel-nvgpu",
        note: "from NVIDIA's rt-kernel repository",
    },
    RealTimeKernel {
        ids: &["ubuntu"],
        board: "Jetson",
        architecture: "",
        since: Some((22, 4)),
        distribution: "Jetson Orin (JetPack 6)",
        install: "sudo apt install nvidia-l4t-rt-kernel nvidia-l4t-rt-kernel-headers nvidia-l4t-rt-kernel-oot-modules nvidia-l4t-display-rt-kernel",
        note: "from NVIDIA's rt-kernel repository",
    },
    RealTimeKernel {
        ids: &["ubuntu"],
        board: "Jetson",
        architecture: "",
        since: None,
        distribution: "Jetson (JetPack 4, 5)",
        install: "sudo apt install nvidia-l4t-rt-kernel nvidia-l4t-rt-kernel-headers",
        note: "from NVIDIA's rt-kernel repository",
    },
    RealTimeKernel {
        ids: &["ubuntu"],
        board: "",
        architecture: "",
        since: Some((25, 10)),
        distribution: "Ubuntu 25.10 and later",
        install: "sudo apt install ubuntu-realtime",
        note: "",
    },
    RealTimeKernel {
        ids: &["ubuntu"],
        board: "",
        architecture: "",
        since: None,
        distribution: "Ubuntu 22.04, 24.04 (Ubuntu Pro)",
        install: "sudo pro enable realtime-kernel",
        note: "",
    },
    RealTimeKernel {
        ids: &["debian"],
        board: "",
        architecture: "x86_64",
        since: None,
        distribution: "Debian, 64-bit PC",
        install: "sudo apt install linux-image-rt-amd64",
        note: "",
    },
    RealTimeKernel {
        ids: &["debian"],
        board: "",
        architecture: "aarch64",
        since: None,
        distribution: "Debian, arm64",
        install: "sudo apt install linux-image-rt-arm64",
        note: "",
    },
    RealTimeKernel {
        ids: &["debian"],
        board: "",
        architecture: "armv7l",
        since: None,
        distribution: "Debian, armhf",
        install: "sudo apt install linux-image-rt-armmp",
        note: "",
    },
    RealTimeKernel {
        ids: &["fedora"],
        board: "",
        architecture: "",
        since: None,
        distribution: "Fedora",
        install: "build the kernel with CONFIG_PREEMPT_RT=y",
        note: "for example Fedora's source package with rpmbuild --with realtime",
    },
    RealTimeKernel {
        ids: &["centos", "almalinux", "rocky"],
        board: "",
        architecture: "",
        since: None,
        distribution: "CentOS Stream, AlmaLinux, Rocky Linux, 64-bit PC",
        install: "sudo dnf --enablerepo=rt install kernel-rt",
        note: "",
    },
    RealTimeKernel {
        ids: &["rhel"],
        board: "",
        architecture: "",
        since: None,
        distribution: "RHEL for Real Time",
        install: "sudo dnf install kernel-rt",
        note: "from the subscription's repository for real time",
    },
    RealTimeKernel {
        ids: &["opensuse-leap"],
        board: "",
        architecture: "",
        since: Some((16, 0)),
        distribution: "openSUSE Leap 16",
        install: "build the kernel with CONFIG_PREEMPT_RT=y",
        note: "none is packaged",
    },
    RealTimeKernel {
        ids: &["suse", "opensuse", "opensuse-tumbleweed"],
        board: "",
        architecture: "x86_64",
        since: None,
        distribution: "SUSE Real Time, openSUSE Leap 15, Tumbleweed",
        install: "sudo zypper install kernel-rt",
        note: "",
    },
    RealTimeKernel {
        ids: &["arch"],
        board: "",
        architecture: "x86_64",
        since: None,
        distribution: "Arch",
        install: "sudo pacman -S linux-rt",
        note: "",
    },
    RealTimeKernel {
        ids: &["nixos"],
        board: "",
        architecture: "",
        since: Some((26, 5)),
        distribution: "NixOS 26.05 and later",
        install: "build the kernel with CONFIG_PREEMPT_RT=y",
        note: "with boot.kernelPatches",
    },
    RealTimeKernel {
        ids: &["nixos"],
        board: "",
        architecture: "",
        since: None,
        distribution: "NixOS up to 25.11",
        install: "boot.kernelPackages = pkgs.linuxPackages-rt",
        note: "in configuration.nix",
    },
    RealTimeKernel {
        ids: &["poky"],
        board: "",
        architecture: "",
        since: None,
        distribution: "Yocto",
        install: "PREFERRED_PROVIDER_virtual/kernel = \"linux-yocto-rt\"",
        note: "in local.conf",
    },
    RealTimeKernel {
        ids: &["arago"],
        board: "",
        architecture: "",
        since: None,
        distribution: "TI Processor SDK",
        install: "ARAGO_RT_ENABLE = \"1\"",
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
    let is_raspberry_pi_os = seen.root.exists("/etc/rpi-issue");
    let own = if is_raspberry_pi_os {
        format!("ID={RASPBERRY_PI_OS}\n")
    } else {
        String::new()
    };
    of_texts(
        &(own + &text("/etc/os-release")),
        &text("/proc/device-tree/model"),
        architecture.map_or("", |text| text.trim()),
    )
}

fn of_texts(release: &str, model: &str, architecture: &str) -> Option<&'static RealTimeKernel> {
    let fields = ["ID=", "ID_LIKE="];
    let values = fields
        .iter()
        .flat_map(|name| values_of(release, name).flat_map(str::split_whitespace));
    let ids: Vec<&str> = values.collect();
    let version = values_of(release, "VERSION_ID=").find_map(release_of);
    // The distribution's own name comes before what it is like: Ubuntu is like Debian.
    let with_id = |id: &str| {
        REAL_TIME_KERNELS.iter().find(|of| {
            let fits_id = of.ids.contains(&id);
            // Linux before 6.1 does not say what it runs on: the first row is then as good as any.
            let fits_architecture =
                [of.architecture, architecture].contains(&"") || of.architecture == architecture;
            // A release of unknown number is taken for an older one, whose way is known for longer.
            let is_new_enough = of.since.is_none() || version >= of.since;
            let fits_board = of.board.is_empty() || model.contains(of.board);
            fits_id && fits_architecture && fits_board && is_new_enough
        })
    };
    ids.into_iter().find_map(with_id)
}

/// Values of a field of `/etc/os-release`, without quotes.
fn values_of<'a>(release: &'a str, name: &str) -> impl Iterator<Item = &'a str> {
    let lines = release
        .lines()
        .filter_map(move |line| line.strip_prefix(name));
    lines.map(|value| value.trim_matches('"'))
}

/// Of `26.04`; a number alone is that release's first.
fn release_of(version: &str) -> Option<Release> {
    let (major, minor) = version.split_once('.').unwrap_or((version, "0"));
    Some((major.parse().ok()?, minor.parse().ok()?))
}

#[cfg(test)]
mod tests;
