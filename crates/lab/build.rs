//! Compiles the emulator's plugin (`plugin/plugin.rs`) once for each version of the plugin
//! interface.
//!
//! The plugin needs neither Rust's nor a C library, so it compiles for every target of wakepath.
//! Without a linker for the target wakepath is built without it, and `lab window` reports that.

use std::path::{Path, PathBuf};
use std::process::Command;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-changed=plugin");
    let of = |name: &str| std::env::var(name).unwrap_or_default();
    let (out, target) = (PathBuf::from(of("OUT_DIR")), of("TARGET"));
    for (name, interface) in [("plugin-1", None), ("plugin-2", Some("since_9"))] {
        let library = out.join(name);
        // Rust's own linker first: it is there wherever rustup is, for every target.
        let linkers = [
            &["linker=rust-lld", "linker-flavor=ld.lld"][..],
            &["link-arg=-nostdlib"],
        ];
        let made = linkers
            .iter()
            .any(|linker| compile(&of("RUSTC"), &target, interface, linker, &library));
        if !made {
            println!("cargo:warning=no linker for the emulator's plugin: `lab window` is left out");
            std::fs::write(&library, []).expect("cargo's own directory can be written to");
        }
    }
}

fn compile(
    rustc: &str,
    target: &str,
    interface: Option<&str>,
    linker: &[&str],
    library: &Path,
) -> bool {
    let mut command = Command::new(rustc);
    command.args(["plugin/plugin.rs", "--edition", "2024"]);
    command.args(["--crate-name", "plugin", "--crate-type", "cdylib"]);
    command.args(["--target", target]).arg("-o").arg(library);
    let options = [
        "opt-level=3",
        "panic=abort",
        "strip=symbols",
        "target-feature=-crt-static",
        "link-self-contained=no",
    ];
    for option in options.iter().chain(linker) {
        command.args(["-C", option]);
    }
    if let Some(interface) = interface {
        command.args(["--cfg", interface]);
    }
    command.status().is_ok_and(|status| status.success())
}
