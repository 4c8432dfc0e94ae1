//! Licences of third-party code in the program.
//!
//! Each linked crate according to cargo, with the texts in the crates; Rust's library, and the C
//! library.

use super::template::write;
use crate::place;
use crate::tools::cargo;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

/// A third-party crate.
struct Crate {
    name: String,
    licence: String,
    texts: Vec<String>,
}

/// Writes them for the programs of one target.
pub(super) fn write_for(triple: &str, file: &Path) -> Result<(), String> {
    let mut crates = Vec::new();
    for (manifest, roots) in [
        (
            "Cargo.toml",
            &[
                "wakepath",
                "wakepath-laboratory",
                "wakepath-ethercat-program",
                "wakepath-controller-host",
                "wakepath-c",
            ][..],
        ),
        ("python/Cargo.toml", &["wakepath-python"]),
    ] {
        crates.extend(linked(&metadata(manifest, triple)?, roots)?);
    }
    crates.sort_by(|a, b| a.name.cmp(&b.name));
    crates.dedup_by(|a, b| a.name == b.name);
    let libraries = place::root().join("packaging/licences-of-libraries.txt");
    let libraries = fs::read_to_string(&libraries)
        .map_err(|error| format!("{}: {error}", libraries.display()))?;
    write(file, &page(&crates, &libraries))
}

/// Writes them for a program in a separate workspace, on one target.
pub(super) fn write_beside(
    workspace: &str,
    program: &str,
    triple: &str,
    file: &Path,
) -> Result<(), String> {
    let manifest = format!("{workspace}/Cargo.toml");
    let crates = linked(&metadata(&manifest, triple)?, &[program])?;
    let libraries = place::root().join("packaging/licences-of-libraries.txt");
    let libraries = fs::read_to_string(&libraries)
        .map_err(|error| format!("{}: {error}", libraries.display()))?;
    write(file, &page(&crates, &libraries))
}

/// Cargo's metadata for the packages of a manifest.
fn metadata(manifest: &str, triple: &str) -> Result<Value, String> {
    let output = cargo(&["metadata", "--format-version=1", "--locked"])
        .args(["--filter-platform", triple, "--manifest-path", manifest])
        .output()
        .map_err(|error| format!("cargo: {error}"))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        return Err(format!("cargo metadata: {}", said.trim()));
    }
    serde_json::from_slice(&output.stdout).map_err(|error| format!("cargo metadata: {error}"))
}

fn page(crates: &[Crate], libraries: &str) -> String {
    let mut page = String::from("What wakepath's programs contain of others\n\n");
    for of in crates {
        page += &format!("{}: {}\n", of.name, of.licence);
    }
    page += &format!("\n{libraries}");
    // Many crates share most texts.
    let mut texts: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for of in crates {
        for text in &of.texts {
            texts.entry(text).or_default().push(&of.name);
        }
    }
    for (text, names) in texts {
        page += &format!("\n{}\n{}\n\n{text}\n", "-".repeat(78), names.join(", "));
    }
    page
}

/// Third-party crates that these packages link, by name; build and test dependencies are left out.
fn linked(metadata: &Value, roots: &[&str]) -> Result<Vec<Crate>, String> {
    let array = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let packages = array(&metadata["packages"]);
    let nodes = array(&metadata["resolve"]["nodes"]);
    let package = |id: &Value| packages.iter().find(|package| package["id"] == *id);
    let of_ours = |package: &Value| package["source"].is_null();
    let named = |name: &&str| {
        let found = packages
            .iter()
            .find(|package| package["name"] == *name && of_ours(package));
        found.map(|package| package["id"].clone())
    };
    let mut left: Vec<Value> = roots.iter().filter_map(named).collect();
    if left.len() != roots.len() {
        return Err("cargo metadata does not name the programs".into());
    }
    let mut seen = BTreeSet::new();
    let mut crates = Vec::new();
    while let Some(id) = left.pop() {
        let Some(package) = package(&id) else {
            continue;
        };
        if !seen.insert(id.to_string()) || is_of_the_compiler(package) {
            continue;
        }
        if !of_ours(package) {
            crates.push(Crate::new(package));
        }
        let node = nodes.iter().find(|node| node["id"] == id);
        for dependency in node.map(|node| array(&node["deps"])).unwrap_or_default() {
            let kinds = array(&dependency["dep_kinds"]);
            if kinds.iter().any(|kind| kind["kind"].is_null()) {
                left.push(dependency["pkg"].clone());
            }
        }
    }
    crates.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(crates)
}

/// Whether a package runs in the compiler and so is in no program.
fn is_of_the_compiler(package: &Value) -> bool {
    let targets = package["targets"].as_array();
    targets.is_some_and(|targets| {
        let kinds = targets
            .iter()
            .filter_map(|target| target["kind"].as_array());
        kinds.flatten().any(|kind| kind == "proc-macro")
    })
}

impl Crate {
    fn new(package: &Value) -> Self {
        let text = |key: &str| package[key].as_str().unwrap_or("?").to_owned();
        let manifest = text("manifest_path");
        let directory = Path::new(&manifest).parent().unwrap_or(Path::new("/"));
        // The C library inside a crate has a separate text.
        let mut texts = texts_in(directory);
        texts.extend(texts_in(&directory.join("zstd")));
        Self {
            name: format!("{} {}", text("name"), text("version")),
            licence: text("license"),
            texts,
        }
    }
}

fn texts_in(directory: &Path) -> Vec<String> {
    const NAMES: [&str; 5] = ["LICENSE", "LICENCE", "COPYING", "COPYRIGHT", "NOTICE"];
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    let mut files: Vec<_> = entries.map(|entry| entry.path()).collect();
    files.retain(|path| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let name = name.to_uppercase();
        path.is_file() && NAMES.iter().any(|start| name.starts_with(start))
    });
    files.sort();
    let texts = files
        .iter()
        .filter_map(|file| fs::read_to_string(file).ok());
    texts.map(|text| text.trim().replace('\r', "")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_only_builds_or_tests_is_not_in_the_program() {
        let package = |name: &str, source: Value, kind: &str| {
            json!({"id": name, "name": name, "version": "1", "license": "MIT", "source": source,
                   "manifest_path": "/nowhere/Cargo.toml", "targets": [{"kind": [kind]}]})
        };
        let dependency =
            |name: &str, kind: Value| json!({"pkg": name, "dep_kinds": [{"kind": kind}]});
        let metadata = json!({
            "packages": [
                package("ours", Value::Null, "bin"),
                package("linked", json!("registry"), "lib"),
                package("derive", json!("registry"), "proc-macro"),
                package("tests", json!("registry"), "lib"),
            ],
            "resolve": {"nodes": [{"id": "ours", "deps": [
                dependency("linked", Value::Null),
                dependency("derive", Value::Null),
                dependency("tests", json!("dev")),
            ]}]},
        });
        let crates = linked(&metadata, &["ours"]).expect("it names the program");
        let names: Vec<_> = crates.iter().map(|of| of.name.as_str()).collect();
        assert_eq!(names, ["linked 1"]);
        assert!(linked(&metadata, &["theirs"]).is_err());
    }

    #[test]
    fn a_text_of_two_crates_stands_once() {
        let of = |name: &str| Crate {
            name: name.into(),
            licence: "MIT".into(),
            texts: vec!["the text".into()],
        };
        let page = page(&[of("a 1"), of("b 2")], "libraries\n");
        assert_eq!(page.matches("the text").count(), 1);
        assert!(page.contains("\na 1, b 2\n"));
    }
}
