//! The library as C and C++ see it.
//!
//! Header, exported symbols and their versions agree with each other and with the promised ones
//! (`abi.txt`); the headers are C99 and C++17 without a warning; code that the types of C++ should
//! forbid does not compile.

mod abi;
mod header;
mod policies;

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const HERE: &str = env!("CARGO_MANIFEST_DIR");

/// The header of C without comments and lines of the preprocessor.
fn declarations() -> String {
    let header = read("include/wakepath.h");
    let code: String = header
        .split("/*")
        .map(|part| part.split_once("*/").map_or(part, |(_, code)| code))
        .collect();
    let of_the_preprocessor = |line: &&str| line.starts_with('#');
    let lines = code.lines().filter(|line| !of_the_preprocessor(line));
    without_functions(&lines.collect::<Vec<_>>().join("\n"))
}

/// Functions defined in the header are in the program, not in the library.
fn without_functions(code: &str) -> String {
    let mut left = String::new();
    let mut rest = code;
    while let Some((before, after)) = rest.split_once("\n__attribute__((") {
        left += before;
        rest = after.split_once("\n}\n").expect("it has an end").1;
    }
    left + rest
}

fn read(name: &str) -> String {
    let path = Path::new(HERE).join(name);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Cargo puts the library next to the tests.
fn archive() -> PathBuf {
    let test = std::env::current_exe().expect("this program has a path");
    test.with_file_name("libwakepath.a")
}

/// Has a compiler look at a text with every warning an error.
fn compiled(compiler: &str, standard: &str, text: &str) -> Output {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let source = directory.path().join(if standard.contains("++") {
        "text.cpp"
    } else {
        "text.c"
    });
    std::fs::write(&source, text).expect("room for a file");
    Command::new(compiler)
        .args([
            standard,
            "-pedantic",
            "-Wall",
            "-Wextra",
            "-Werror",
            "-fsyntax-only",
            "-I",
        ])
        .arg(Path::new(HERE).join("include"))
        .arg(&source)
        .output()
        .unwrap_or_else(|error| panic!("{compiler}: {error}"))
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}
