//! The shared library's interface for linked programs, compared with `abi.txt`.
//!
//! Symbols with versions and declarations, sizes and offsets of structures, values of constants.

use super::{HERE, archive, compiled, declarations, read, said};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;
use std::process::Command;

/// `name` → its declaration on one line.
fn functions(code: &str) -> BTreeMap<String, String> {
    let statements = code.split(';').map(|statement| {
        let words: Vec<&str> = statement.split_whitespace().collect();
        words.join(" ")
    });
    statements
        .filter_map(|statement| {
            let head = &statement[..statement.find('(')?];
            let name = head.rsplit([' ', '*']).next()?.to_owned();
            // Text before the header's first declaration belongs to C++.
            let declaration = statement.rsplit(['{', '}']).next()?.trim().to_owned();
            name.starts_with("wakepath_").then_some((name, declaration))
        })
        .collect()
}

/// The structures whose members a program sees, with those members.
fn structures(code: &str) -> Vec<(String, Vec<String>)> {
    let bodies = code.split("typedef struct ").skip(1);
    bodies
        .filter_map(|text| {
            let (name, rest) = text.split_once(" {")?;
            let (body, _) = rest.split_once('}')?;
            let member = |line: &str| line.rsplit([' ', '*']).next().map(ToOwned::to_owned);
            let members = body
                .split(';')
                .map(str::trim)
                .filter(|line| !line.is_empty());
            let is_seen = !name.contains(';');
            is_seen.then(|| (name.to_owned(), members.filter_map(member).collect()))
        })
        .collect()
}

/// The version of each symbol in a linker's script.
fn versions(map: &str) -> BTreeMap<String, String> {
    let mut version = String::new();
    let mut found = BTreeMap::new();
    for line in map.lines().map(str::trim) {
        if let Some(name) = line.strip_suffix(" {") {
            version = name.to_owned();
        } else if let Some(symbol) = line
            .strip_suffix(';')
            .filter(|of| of.starts_with("wakepath_"))
        {
            found.insert(symbol.to_owned(), version.clone());
        }
    }
    found
}

/// The C compiler's layout of the structures and constants on this machine.
fn layout(code: &str) -> String {
    let mut program = String::from("#include <stdio.h>\n#include <wakepath.h>\nint main(void) {\n");
    for (name, members) in structures(code) {
        let _ = writeln!(
            program,
            "printf(\"struct {name}: %zu bytes\", sizeof({name}));"
        );
        for member in members {
            let _ = writeln!(
                program,
                "printf(\", {member} %zu at %zu\", sizeof((({name} *)0)->{member}), offsetof({name}, {member}));"
            );
        }
        program += "printf(\"\\n\");\n";
    }
    program += "printf(\"union wakepath_argument: %zu bytes\\n\", sizeof(wakepath_argument));\n";
    program += "printf(\"constant WAKEPATH_ESTIMATED: %llu\\n\", (unsigned long long)WAKEPATH_ESTIMATED);\n";
    program += "printf(\"constant WAKEPATH_NO_FORMAT: %llu\\n\", (unsigned long long)WAKEPATH_NO_FORMAT);\n";
    program +=
        "printf(\"constant WAKEPATH_NO_SECTION: %lu\\n\", (unsigned long)WAKEPATH_NO_SECTION);\n";
    for overrun in ["CATCH_UP", "SKIP", "STOP"] {
        let name = format!("WAKEPATH_OVERRUN_{overrun}");
        let _ = writeln!(
            program,
            "printf(\"constant {name}: %lu\\n\", (unsigned long){name});"
        );
    }
    program += "}\n";
    let directory = tempfile::tempdir().expect("a temporary directory");
    let (source, built) = (
        directory.path().join("layout.c"),
        directory.path().join("layout"),
    );
    std::fs::write(&source, program).expect("room for a file");
    let output = Command::new("cc")
        .args(["-I", &format!("{HERE}/include"), "-o"])
        .args([&built, &source])
        .output()
        .expect("cc runs");
    assert!(output.status.success(), "{}", said(&output));
    let output = Command::new(built).output().expect("it runs");
    String::from_utf8(output.stdout).expect("text")
}

fn promised() -> String {
    let kept = read("abi.txt");
    let lines = kept.lines().filter(|line| !line.starts_with('#'));
    lines.map(|line| format!("{line}\n")).collect()
}

#[test]
fn nothing_that_programs_rely_on_has_changed() {
    let code = declarations();
    let versions = versions(&read("wakepath.map"));
    let functions = functions(&code);
    let (declared, exported): (Vec<_>, Vec<_>) =
        (functions.keys().collect(), versions.keys().collect());
    assert_eq!(
        declared, exported,
        "wakepath.h declares the left, wakepath.map exports the right"
    );
    let mut is: String = functions
        .iter()
        .map(|(name, declaration)| format!("{}: {declaration}\n", versions[name]))
        .collect();
    is += &layout(&code);
    assert!(is.contains("struct wakepath_cycle: 24 bytes"), "{is}");
    assert_eq!(
        is,
        promised(),
        "\nprograms rely on abi.txt: add new items to it; released ones can't change."
    );
}

#[test]
fn the_shared_library_exports_what_was_promised_by_name_and_version() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let made = Command::new("sh")
        .arg(Path::new(HERE).join("install.sh"))
        .arg("--prefix")
        .arg(directory.path())
        .arg("--archive")
        .arg(archive())
        .output()
        .expect("sh runs");
    assert!(made.status.success(), "{}", said(&made));
    let symbols = |file: &str, how: &[&str]| {
        let listed = Command::new("nm")
            .args(["--defined-only", "--format=posix"])
            .args(how)
            .arg(directory.path().join("lib").join(file))
            .output()
            .expect("nm runs");
        let listed = String::from_utf8(listed.stdout).expect("text");
        let names = listed.lines().filter(|line| line.contains(' '));
        let mut names: Vec<String> = names
            .filter_map(|line| line.split(' ').next().map(ToOwned::to_owned))
            .collect();
        names.sort();
        names
    };
    let versions = versions(&read("wakepath.map"));
    let mut exported: Vec<String> = versions
        .iter()
        .map(|(name, version)| format!("{name}@@{version}"))
        .collect();
    assert!(exported.len() > 8, "{exported:?}");
    exported.sort();
    let mut shared = symbols("libwakepath.so.1", &["--dynamic"]);
    // The versions themselves.
    shared.retain(|name| !name.starts_with("WAKEPATH_"));
    assert_eq!(shared, exported);
    // The static one shows nothing of Rust's that could meet another Rust library in one program.
    let expected: Vec<String> = versions.keys().cloned().collect();
    assert_eq!(symbols("libwakepath.a", &["--extern-only"]), expected);
    let headers = Command::new("readelf")
        .arg("--dynamic")
        .arg(directory.path().join("lib/libwakepath.so.1"))
        .output()
        .expect("readelf runs");
    let headers = String::from_utf8_lossy(&headers.stdout);
    assert!(headers.contains("soname: [libwakepath.so.1]"), "{headers}");
    let pointer = size_of::<usize>();
    let package = directory
        .path()
        .join("lib/cmake/wakepath/wakepathConfigVersion.cmake");
    let package = std::fs::read_to_string(package).expect("it was laid out");
    assert!(
        package.contains(&format!("STREQUAL \"{pointer}\"")),
        "{package}"
    );
    assert!(package.contains(concat!(
        "PACKAGE_VERSION \"",
        env!("CARGO_PKG_VERSION"),
        "\""
    )));
}

#[test]
fn structures_are_the_same_on_every_machine_that_is_released_for() {
    let mut text = String::from("#include <stddef.h>\n#include <wakepath.h>\n");
    for line in promised()
        .lines()
        .filter(|line| line.starts_with("struct "))
    {
        let (name, members) = line["struct ".len()..].split_once(": ").expect("a name");
        for (at, part) in members.split(", ").enumerate() {
            let words: Vec<&str> = part.split(' ').collect();
            let _ = match (at, &words[..]) {
                (0, [bytes, "bytes"]) => {
                    writeln!(
                        text,
                        "_Static_assert(sizeof({name}) == {bytes}, \"{name}\");"
                    )
                }
                (_, [member, bytes, "at", offset]) => writeln!(
                    text,
                    "_Static_assert(sizeof((({name} *)0)->{member}) == {bytes} && \
                     offsetof({name}, {member}) == {offset}, \"{member}\");"
                ),
                other => panic!("{other:?}"),
            };
        }
    }
    assert!(text.contains("_Static_assert"), "{text}");
    let mut compilers = vec!["cc"];
    // Without compilers for Arm, only this machine's is tested.
    let path = std::env::var_os("PATH").unwrap_or_default();
    let there = |name: &&str| std::env::split_paths(&path).any(|at| at.join(name).is_file());
    compilers.extend(
        ["aarch64-linux-gnu-gcc", "arm-linux-gnueabihf-gcc"]
            .iter()
            .filter(|name| there(name)),
    );
    for compiler in compilers {
        let output = compiled(compiler, "-std=c11", &text);
        assert!(output.status.success(), "{compiler}: {}", said(&output));
    }
}
