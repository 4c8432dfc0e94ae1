//! The crates as crates.io gets them: packed, and compiled only from their packages.
//!
//! `cargo publish --dry-run` compiles each one again, as itself and as a dependency: half an hour
//! and more. Here all are members of one workspace, and a check compiles each once: two minutes.

use super::outcome::Outcome;
use crate::job::Job;
use crate::place;
use crate::tools::cargo;
use std::fmt::Write;
use std::path::Path;
use std::process::Command;
use std::{fs, io};

/// Packs every crate that is published, and checks each as it was packed.
pub fn published(job: &Job) -> Outcome {
    let packages = place::target().join("package");
    // Those of earlier versions would be members too.
    let _ = fs::remove_dir_all(&packages);
    let mut pack = cargo(&["package", "--no-verify", "--offline", "--workspace"]);
    pack.args(["--locked", "--allow-dirty", "--exclude", "xtask"]);
    // A package's own lock file ignores this workspace's patches. Creating one offline fails,
    // because the index of a replaced crate is missing; the check below uses the workspace's.
    pack.arg("--exclude-lockfile");
    for name in kept() {
        pack.args(["--exclude", &name]);
    }
    if let Some(failure) = job.run(&mut pack).failure {
        return Outcome::new(Some(failure));
    }
    let workspace = place::target().join("packages/crates");
    match unpacked(job, &packages, &workspace) {
        Ok(None) => {}
        Ok(failure) => return Outcome::new(failure),
        Err(error) => return Outcome::new(Some(format!("{}: {error}", workspace.display()))),
    }
    let mut check = cargo(&["check", "--offline", "--workspace"]);
    check.current_dir(&workspace);
    check.env("CARGO_TARGET_DIR", place::target().join("packages/checked"));
    Outcome::new(job.run(&mut check).failure)
}

/// The crates that are not published.
fn kept() -> impl Iterator<Item = String> {
    let entries = fs::read_dir(place::root().join("crates"));
    let entries = entries.into_iter().flatten().flatten();
    entries.filter_map(|entry| {
        let manifest = fs::read_to_string(entry.path().join("Cargo.toml")).ok()?;
        let is_kept = manifest.lines().any(|line| line == "publish = false");
        is_kept.then(|| format!("wakepath-{}", entry.file_name().to_string_lossy()))
    })
}

/// Makes a workspace of the packages; returns the failure of a command.
fn unpacked(job: &Job, packages: &Path, workspace: &Path) -> io::Result<Option<String>> {
    let _ = fs::remove_dir_all(workspace);
    fs::create_dir_all(workspace)?;
    // Patched as in this workspace: the stand-in comes from no registry there either.
    let stand_in = place::root().join("packaging/without-criterion");
    let mut manifest = format!(
        "[workspace]\nresolver = \"3\"\nmembers = [\"*\"]\n\n[patch.crates-io]\n\
         criterion-for-nobody = {{ package = \"criterion\", path = {stand_in:?} }}\n"
    );
    for entry in fs::read_dir(packages)? {
        let file = entry?.path();
        let (Some(stem), Some("crate")) = (
            file.file_stem().and_then(|stem| stem.to_str()),
            file.extension().and_then(|of| of.to_str()),
        ) else {
            continue;
        };
        let Some((name, _)) = stem.rsplit_once('-') else {
            continue;
        };
        let mut unpack = Command::new("tar");
        unpack.arg("xf").arg(&file).arg("-C").arg(workspace);
        if let Some(failure) = job.run(&mut unpack).failure {
            return Ok(Some(failure));
        }
        let _ = writeln!(manifest, "{name} = {{ path = {stem:?} }}");
    }
    fs::write(workspace.join("Cargo.toml"), manifest)?;
    fs::copy(
        place::root().join("Cargo.lock"),
        workspace.join("Cargo.lock"),
    )?;
    Ok(None)
}

#[cfg(test)]
mod tests {
    use crate::tools::cargo;
    use serde_json::Value;

    /// Faults for which crates.io refuses a crate, which cargo only reports after some have been
    /// published.
    #[test]
    fn each_crate_has_what_crates_io_asks_for() {
        let told = cargo(&[
            "metadata",
            "--no-deps",
            "--offline",
            "--format-version",
            "1",
        ])
        .output();
        let told: Value = serde_json::from_slice(&told.unwrap().stdout).unwrap();
        let packages = told["packages"].as_array().unwrap();
        let is_published = |of: &&Value| of["publish"] != Value::Array(Vec::new());
        let published: Vec<&Value> = packages.iter().filter(is_published).collect();
        assert!(published.len() > 20, "{} are published", published.len());
        for of in published {
            for field in ["description", "license", "repository"] {
                let is_there = of[field].as_str().is_some_and(|text| !text.is_empty());
                assert!(is_there, "{}: no {field}", of["name"]);
            }
            let keywords = of["keywords"].as_array().unwrap();
            let fits = |of: &Value| of.as_str().is_some_and(|of| of.len() <= 20);
            assert!(
                keywords.len() <= 5 && keywords.iter().all(fits),
                "{keywords:?}"
            );
            // A dependency that is only a path is nobody else's; those of tests are left out when it is packed.
            let needed = of["dependencies"].as_array().unwrap().iter();
            for needed in needed.filter(|needed| needed["kind"] != "dev") {
                assert_ne!(needed["req"], "*", "{}: {}", of["name"], needed["name"]);
            }
        }
    }
}
