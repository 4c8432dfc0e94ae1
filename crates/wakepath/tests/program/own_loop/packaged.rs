//! The library as it is installed, found by pkg-config and by CMake: the examples built with it, recorded and
//! judged. Needs pkg-config and cmake.

use super::*;
use wakepath_test_program::not_run;

wakepath_test_program::tests![
    programs_are_built_with_pkg_config_and_recorded,
    programs_are_built_with_cmake_and_recorded,
];

/// Lays the library out below the place, as a package does.
pub fn installed(place: &Place) -> PathBuf {
    let prefix = place.path().join("installed");
    let output = Command::new("sh")
        .arg(format!("{ROOT}/crates/c-library/install.sh"))
        .arg("--prefix")
        .arg(&prefix)
        .arg("--archive")
        .arg(libraries().join("libwakepath.a"))
        .output()
        .expect("sh runs");
    assert!(output.status.success(), "{output:?}");
    prefix
}

/// Runs a tool, which is not to say a word of complaint.
pub fn tool(name: &str, arguments: &[&str], variables: &[(&str, &Path)]) -> String {
    let mut command = Command::new(name);
    command.args(arguments).envs(variables.iter().copied());
    let output = match command.output() {
        Ok(output) => output,
        Err(_) => not_run(format!("no {name} here")),
    };
    let complaints = String::from_utf8_lossy(&output.stderr);
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{name}: {complaints}{said}");
    assert!(!complaints.contains("arning"), "{name}: {complaints}");
    said
}

fn programs_are_built_with_pkg_config_and_recorded() {
    let place = Place::new();
    let prefix = installed(&place);
    let packages = prefix.join("lib/pkgconfig");
    let asked = |what: &[&str]| {
        let said = tool(
            "pkg-config",
            &[what, &["wakepath"]].concat(),
            &[("PKG_CONFIG_PATH", &packages)],
        );
        said.split_whitespace()
            .map(ToOwned::to_owned)
            .collect::<Vec<_>>()
    };
    let version = asked(&["--modversion"]);
    assert_eq!(version, [env!("CARGO_PKG_VERSION")]);
    let source = Path::new(ROOT).join("examples/own-loop/loop.c");
    let (shared, fixed) = (place.path().join("shared"), place.path().join("my-loop"));
    let rpath = format!("-Wl,-rpath,{}", prefix.join("lib").display());
    for (program, libraries) in [
        (&shared, [asked(&["--libs"]), vec![rpath]].concat()),
        (
            &fixed,
            [asked(&["--variable=static"]), vec!["-lm".into()]].concat(),
        ),
    ] {
        let arguments = [
            vec!["-std=c99".into(), "-O2".into(), "-o".into()],
            vec![program.display().to_string(), source.display().to_string()],
            asked(&["--cflags"]),
            libraries,
        ]
        .concat();
        tool(
            "cc",
            &arguments.iter().map(String::as_str).collect::<Vec<_>>(),
            &[],
        );
    }
    let needs = |program: &Path| {
        let program = program.display().to_string();
        tool("readelf", &["--dynamic", &program], &[]).contains("[libwakepath.so.1]")
    };
    assert!(needs(&shared) && !needs(&fixed));
    let finished = recorded(place, "2s", &[], &shared);
    assert!(finished.code() != Some(1), "{}", finished.said());
    conditions(&finished);
    assert!(printed(&finished).contains("the last state is 1.000"));
}

fn programs_are_built_with_cmake_and_recorded() {
    let place = Place::new();
    let prefix = installed(&place);
    let build = place.path().join("build");
    let (from, to) = (
        format!("{ROOT}/examples/own-loop"),
        build.display().to_string(),
    );
    let variables = [("CMAKE_PREFIX_PATH", prefix.as_path())];
    let warnings = "-DCMAKE_CXX_FLAGS=-Wall -Wextra -Werror";
    tool("cmake", &["-S", &from, "-B", &to, warnings], &variables);
    tool("cmake", &["--build", &to], &variables);
    // A version that is yet to come is not served by this one.
    let later = place.path().join("later");
    std::fs::create_dir(&later).unwrap();
    let text = "cmake_minimum_required(VERSION 3.16)\nproject(later C)\nfind_package(wakepath 99.0 REQUIRED)\n";
    std::fs::write(later.join("CMakeLists.txt"), text).unwrap();
    let refused = Command::new("cmake")
        .args(["-S", ".", "-B", "build"])
        .current_dir(&later)
        .env("CMAKE_PREFIX_PATH", &prefix)
        .output()
        .unwrap();
    let why = String::from_utf8_lossy(&refused.stderr);
    assert!(!refused.status.success() && why.contains("99.0"), "{why}");
    let two = build.join("two_loops");
    let one = build.join("loop");
    let finished = recorded(place, "2s", &[], &two);
    assert!(finished.code() != Some(1), "{}", finished.said());
    assert_eq!(conditions(&finished).len(), 2);
    // By the path to the library that CMake wrote into the program.
    let of_one = recorded(Place::new(), "2s", &[], &one);
    assert!(of_one.code() != Some(1), "{}", of_one.said());
    conditions(&of_one);
}
