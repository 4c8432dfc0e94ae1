use super::*;

#[test]
fn the_board_comes_before_its_distribution_and_a_name_before_what_it_is_like() {
    let pi = "Raspberry Pi 5 Model B Rev 1.0";
    let raspberry_pi_os = format!("ID={RASPBERRY_PI_OS}\nID=debian");
    let ubuntu = |release| format!("ID=ubuntu\nID_LIKE=debian\nVERSION_ID=\"{release}\"");
    let jetson = "NVIDIA Jetson AGX Orin Developer Kit";
    for (release, model, architecture, install) in [
        (
            raspberry_pi_os.as_str(),
            pi,
            "aarch64",
            "linux-image-rpi-v8-rt",
        ),
        (&raspberry_pi_os, pi, "armv7l", "CONFIG_PREEMPT_RT=y"),
        ("ID=debian", pi, "aarch64", "linux-image-rt-arm64"),
        (
            &ubuntu("24.04"),
            pi,
            "aarch64",
            "pro enable realtime-kernel --variant=raspi",
        ),
        (&ubuntu("26.04"), pi, "aarch64", "linux-raspi-realtime"),
        (&ubuntu("24.04"), "", "x86_64", "pro enable realtime-kernel"),
        (
            &ubuntu("26.04"),
            "",
            "x86_64",
            "apt install ubuntu-realtime",
        ),
        (
            &ubuntu("20.04"),
            jetson,
            "aarch64",
            "nvidia-l4t-rt-kernel-headers",
        ),
        (
            &ubuntu("24.04"),
            jetson,
            "aarch64",
            "nvidia-l4t-rt-kernel-nvgpu",
        ),
        (
            &ubuntu("22.04"),
            jetson,
            "aarch64",
            "nvidia-l4t-display-rt-kernel",
        ),
        (
            "ID=\"almalinux\"\nID_LIKE=\"rhel centos fedora\"",
            "",
            "",
            "--enablerepo=rt",
        ),
        (
            "ID=opensuse-tumbleweed\nVERSION_ID=\"20260901\"",
            "",
            "",
            "zypper",
        ),
        (
            "ID=opensuse-leap\nVERSION_ID=\"16.0\"",
            "",
            "",
            "CONFIG_PREEMPT_RT=y",
        ),
        ("ID=nixos\nVERSION_ID=\"25.11\"", "", "", "linuxPackages-rt"),
        (
            "ID=nixos\nVERSION_ID=\"26.05\"",
            "",
            "",
            "CONFIG_PREEMPT_RT=y",
        ),
        (
            "ID=fedora\nVERSION_ID=43",
            pi,
            "aarch64",
            "CONFIG_PREEMPT_RT=y",
        ),
        ("ID=debian", "", "x86_64", "linux-image-rt-amd64"),
        ("ID=debian", "", "armv7l", "linux-image-rt-armmp"),
    ] {
        let of = of_texts(release, model, architecture).unwrap();
        assert!(
            of.install.ends_with(install) || of.install.contains(&format!("{install} ")),
            "{release}: {of:?}"
        );
    }
    for (release, architecture) in [
        ("ID=alpine", ""),
        ("ID=debian", "riscv64"),
        ("ID=archarm\nID_LIKE=arch", "aarch64"),
        ("", ""),
    ] {
        assert!(of_texts(release, "", architecture).is_none(), "{release}");
    }
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
