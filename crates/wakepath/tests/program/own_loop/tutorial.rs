//! The tutorial of a C++ loop, typed from its first line to its last, with shorter recordings. Needs g++
//! and pkg-config.

use super::packaged::installed;
use super::*;
use crate::started::{binary, needs_real_time};
use crate::typed::{assert_is_known, blocks, page};
use wakepath_test_program::not_run;

wakepath_test_program::tests![the_tutorial_of_a_cpp_loop_works_as_typed];

const PAGE: &str = "docs/tutorial/cpp-loop.md";

/// Lines that this test does not type, by their beginning: they need a board, or a clone of which the library is installed
/// without them.
const ELSEWHERE: [&str; 4] = [
    "scp ",
    "ssh ",
    "sh crates/c-library/install.sh ",
    "export PKG_CONFIG_PATH=",
];

/// A recording under load would take minutes: its line is only checked.
const LONG: &str = "--duration 1min";

fn the_tutorial_of_a_cpp_loop_works_as_typed() {
    needs_real_time("FIFO on CPU 1");
    for tool in ["g++", "pkg-config"] {
        if Command::new(tool).arg("--version").output().is_err() {
            not_run(format!("no {tool} here"));
        }
    }
    let mut place = Place::new();
    let packages = installed(&place).join("lib/pkgconfig");
    std::fs::create_dir(place.path().join("bin")).unwrap();
    std::os::unix::fs::symlink(binary(), place.path().join("bin/wakepath")).unwrap();
    let text = page(PAGE);
    std::fs::write(place.path().join("arm.cpp"), source(&text)).unwrap();
    let path = std::env::var("PATH").unwrap_or_default();
    let path = format!("{}/bin:{path}", place.path().display());
    let mut typed = Vec::new();
    for line in blocks(&text) {
        let line = line.strip_prefix("sudo ").unwrap_or(&line).to_owned();
        if ELSEWHERE.iter().any(|begin| line.starts_with(begin)) {
            continue;
        }
        assert_is_known(&line);
        if line.contains(LONG) {
            continue;
        }
        let shorter = line.replace("--duration 20s", "--duration 8s");
        let finished = Start::shell_in(place, &shorter)
            .environment("PATH", &path)
            .environment("PKG_CONFIG_PATH", &packages.display().to_string())
            .finish();
        let judges = line.contains(" record ") || line.contains(" compare ");
        let code = finished.code();
        let right = code == Some(0) || (judges && matches!(code, Some(2 | 3)));
        assert!(right, "`{line}` ends with {code:?}: {}", finished.said());
        place = finished.place;
        typed.push(line);
    }
    assert!(typed.len() > 5, "{typed:?}");
    let mended = std::fs::read_to_string(place.path().join("arm.cpp")).unwrap();
    assert!(!mended.contains("fsync") && mended.contains("loop.log"));
}

/// The program that the page shows.
fn source(page: &str) -> &str {
    let (_, behind) = page.split_once("```cpp\n").expect("a program in C++");
    behind.split_once("```").unwrap().0
}
