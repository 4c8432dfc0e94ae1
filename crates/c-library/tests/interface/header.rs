//! The headers by themselves.

use super::{compiled, said};

#[test]
fn the_headers_are_plain_c99_and_cpp17() {
    for (compiler, standard, header) in [
        ("cc", "-std=c99", "wakepath.h"),
        ("g++", "-std=c++17", "wakepath.h"),
        ("g++", "-std=c++17", "wakepath.hpp"),
        ("g++", "-std=c++20", "wakepath.hpp"),
    ] {
        let output = compiled(compiler, standard, &format!("#include <{header}>\n"));
        assert!(
            output.status.success(),
            "{header} by {compiler} {standard}: {}",
            said(&output)
        );
    }
}
