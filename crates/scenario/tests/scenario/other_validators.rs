//! Validators of other projects agree with the schema's tests: ajv, which follows ECMA-262, and
//! check-jsonschema. The stage `schema` runs them.

use crate::files::{as_json, folder};
use crate::schema_agrees::beyond_the_schema;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use wakepath_scenario::json_schema;

/// Writes the scenarios of a folder as JSON and returns their files.
fn written(name: &str, home: &Path) -> Vec<PathBuf> {
    let home = home.join(name.replace('/', "-"));
    fs::create_dir_all(&home).expect("a folder");
    let documents = folder(name)
        .into_iter()
        .filter_map(|(file, text)| Some((home.join(file + ".json"), as_json(&text)?)));
    documents
        .map(|(path, document)| {
            fs::write(&path, document.to_string()).expect("a file");
            path
        })
        .collect()
}

fn output(command: &mut Command) -> String {
    let output = command.stderr(Stdio::inherit()).output().expect("starts");
    String::from_utf8(output.stdout).expect("text")
}

/// The files that ajv accepts.
fn accepted_by_ajv(validators: &Path, schema: &Path, files: &[PathBuf]) -> BTreeSet<PathBuf> {
    let mut node = Command::new("node");
    node.current_dir(validators)
        .args(["-e", include_str!("ajv.js"), "--"])
        .arg(schema)
        .args(files);
    let output = output(&mut node);
    assert!(output.ends_with("done\n"), "{output}");
    let accepted = output.lines().filter(|line| *line != "done");
    accepted.map(PathBuf::from).collect()
}

/// The files that check-jsonschema accepts.
fn accepted_by_check_jsonschema(
    validators: &Path,
    schema: &Path,
    files: &[PathBuf],
) -> BTreeSet<PathBuf> {
    let mut check = Command::new(validators.join("python/bin/check-jsonschema"));
    check
        .args(["-o", "json", "--schemafile"])
        .arg(schema)
        .args(files);
    let report: serde_json::Value = serde_json::from_str(&output(&mut check)).expect("a report");
    assert_eq!(report["parse_errors"], serde_json::json!([]));
    let errors = report["errors"].as_array().expect("errors");
    let refused: BTreeSet<PathBuf> = errors
        .iter()
        .map(|error| PathBuf::from(error["filename"].as_str().expect("a name")))
        .collect();
    let all: BTreeSet<PathBuf> = files.iter().cloned().collect();
    assert!(refused.is_subset(&all), "{refused:?}");
    all.difference(&refused).cloned().collect()
}

#[test]
#[ignore = "needs ajv and check-jsonschema; the stage `schema` runs it"]
fn ajv_and_check_jsonschema_accept_and_refuse_the_same_files_as_the_schema() {
    let validators = std::env::var_os("WAKEPATH_SCHEMA_VALIDATORS").expect("their folder");
    let validators = Path::new(&validators);
    let home = Path::new(env!("CARGO_TARGET_TMPDIR")).join("schema");
    let _ = fs::remove_dir_all(&home);
    fs::create_dir_all(&home).expect("a folder");
    let schema = home.join("schema.json");
    fs::write(&schema, json_schema().to_string()).expect("a file");

    let mut files = written("good", &home);
    files.extend(written("../scenarios", &home));
    let bad = written("bad", &home);
    let beyond = beyond_the_schema();
    let accepted_bad = bad.iter().filter(|path| {
        let name = path.file_stem().and_then(|name| name.to_str());
        name.is_some_and(|name| beyond.contains(&name))
    });
    let expected: BTreeSet<PathBuf> = files.iter().chain(accepted_bad).cloned().collect();
    assert_eq!(expected.len(), files.len() + beyond.len());
    files.extend(bad);

    let by_ajv = accepted_by_ajv(validators, &schema, &files);
    assert_eq!(by_ajv, expected, "ajv");
    let by_check = accepted_by_check_jsonschema(validators, &schema, &files);
    assert_eq!(by_check, expected, "check-jsonschema");
}
