//! Files for releases that are never compiled: scripts, the citation, the workflow.

use std::path::{Path, PathBuf};
use std::process::Command;
use wakepath_test_program::not_run;

wakepath_test_program::tests![
    scripts_are_plain_sh_without_mistakes_that_shellcheck_knows,
    the_citation_names_this_version_and_licence,
    the_release_workflow_runs_commands_that_there_are,
    every_crate_says_what_a_registry_asks_for,
];

fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().expect("xtask lies in the repository").into()
}

fn text(path: &str) -> String {
    let path = root().join(path);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn scripts_are_plain_sh_without_mistakes_that_shellcheck_knows() {
    let scripts = [
        "packaging/install.sh",
        "packaging/wakepath-rights",
        "packaging/deb/postinst",
        "packaging/deb/prerm",
        "crates/c-library/install.sh",
        "fleet/boards/src/board.sh",
        "fleet/program/tests/fleet/world.sh",
    ];
    for script in scripts {
        let path = root().join(script);
        let read = Command::new("sh").arg("-n").arg(&path).status();
        assert!(read.expect("sh starts").success(), "{script}");
        let Ok(checked) = Command::new("shellcheck").arg(&path).output() else {
            not_run("no shellcheck here");
        };
        let said = String::from_utf8_lossy(&checked.stdout);
        assert!(checked.status.success(), "{script}:\n{said}");
    }
}

fn the_citation_names_this_version_and_licence() {
    let citation = text("CITATION.cff");
    let version = format!("\nversion: {}\n", env!("CARGO_PKG_VERSION"));
    for line in [
        "cff-version: 1.2.0\n",
        &version,
        "  - MIT\n",
        "  - Apache-2.0\n",
    ] {
        assert!(citation.contains(line), "no {line:?} in CITATION.cff");
    }
}

fn the_release_workflow_runs_commands_that_there_are() {
    let workflow = text(".github/workflows/release.yml");
    assert!(workflow.contains("run: ./test\n"));
    let stages = text("xtask/src/stages/mod.rs");
    let mut asked = workflow.split("./test --only ").skip(1);
    let stage = asked.next().and_then(|rest| rest.split_whitespace().next());
    let stage = stage.expect("the workflow runs a stage");
    assert!(stages.contains(&format!("name: \"{stage}\"")), "{stage}");
    // It publishes the stage's output.
    assert!(workflow.contains("path: target/release-artifacts\n"));
    // YAML doesn't allow a tab, or a value after a second colon in a line.
    assert!(!workflow.contains('\t'));
}

fn every_crate_says_what_a_registry_asks_for() {
    let crates = std::fs::read_dir(root().join("crates")).expect("there are crates");
    let workspace = text("Cargo.toml");
    for of in crates.flatten() {
        let name = of.file_name().into_string().expect("a plain name");
        let manifest = text(&format!("crates/{name}/Cargo.toml"));
        if manifest.contains("publish = false") {
            continue;
        }
        for key in [
            "description = \"",
            "license.workspace",
            "repository.workspace",
            "readme.workspace",
        ] {
            assert!(manifest.contains(key), "crates/{name}: no {key}");
        }
        let version = format!(
            "{{ version = \"{}\", path = \"crates/{name}\" }}",
            env!("CARGO_PKG_VERSION")
        );
        let depended_on = workspace.contains(&format!("path = \"crates/{name}\""));
        assert!(
            !depended_on || workspace.contains(&version),
            "Cargo.toml: {name} needs {version}"
        );
    }
}
