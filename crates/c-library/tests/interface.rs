//! The header against the library: both declare and export the same functions, and the header is C99 and
//! C++17 without a warning.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::process::Command;

const INCLUDE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/include");

/// Cargo puts the libraries beside the tests.
fn library() -> PathBuf {
    let test = std::env::current_exe().unwrap();
    test.parent().unwrap().join("libwakepath.so")
}

#[test]
fn the_header_declares_what_the_library_exports() {
    let header = std::fs::read_to_string(format!("{INCLUDE}/wakepath.h")).unwrap();
    // Without comments and the lines of the preprocessor a name before a bracket is a declaration.
    let code: String = header
        .split("/*")
        .map(|part| part.split_once("*/").map_or(part, |(_, code)| code))
        .collect();
    let declared: BTreeSet<&str> = code
        .split('(')
        .filter_map(|before| before.rsplit([' ', '*', '\n']).next())
        .filter(|name| name.starts_with("wakepath_"))
        .collect();
    let listed = Command::new("nm")
        .args(["--dynamic", "--defined-only", "--format=just-symbols"])
        .arg(library())
        .output()
        .expect("nm runs");
    let listed = String::from_utf8(listed.stdout).unwrap();
    let exported: BTreeSet<&str> = listed
        .lines()
        .filter(|name| name.starts_with("wakepath_"))
        .collect();
    assert!(exported.len() > 8, "{exported:?}");
    assert_eq!(declared, exported);
}

#[test]
fn the_headers_are_plain_c99_and_cpp17() {
    for (compiler, standard, header) in [
        ("cc", "-std=c99", "wakepath.h"),
        ("g++", "-std=c++17", "wakepath.h"),
        ("g++", "-std=c++17", "wakepath.hpp"),
    ] {
        let language = if compiler == "cc" { "c" } else { "c++" };
        let output = Command::new(compiler)
            .args([
                standard,
                "-pedantic",
                "-Wall",
                "-Wextra",
                "-Werror",
                "-fsyntax-only",
            ])
            .args([
                "-I",
                INCLUDE,
                "-include",
                header,
                "-x",
                language,
                "/dev/null",
            ])
            .output()
            .expect("the compiler runs");
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{header} by {compiler}: {said}");
    }
}
