//! The JSON Schema and the reference page agree with the reader.

use crate::files::as_json;
use wakepath_scenario::{KnownCpus, Scenario, builtin, json_schema, reference};

#[test]
fn the_schema_accepts_every_builtin_and_its_written_form() {
    let validator = jsonschema::validator_for(&json_schema()).expect("a schema");
    for builtin in builtin::all() {
        let known = KnownCpus::first(4);
        let scenario = Scenario::parse(builtin.text, builtin.name, &known).expect("reads");
        for text in [builtin.text.to_owned(), scenario.to_toml()] {
            if let Err(error) = validator.validate(&as_json(&text).expect("TOML")) {
                panic!("{}: {error} at {}", builtin.name, error.instance_path());
            }
        }
    }
}

#[test]
fn the_reference_page_is_up_to_date() {
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../docs/reference/scenario.md"
    );
    if std::env::var_os("WRITE_REFERENCE").is_some() {
        std::fs::create_dir_all(std::path::Path::new(path).parent().expect("a folder"))
            .and_then(|()| std::fs::write(path, reference()))
            .expect("the page can be written");
    }
    let page = std::fs::read_to_string(path).unwrap_or_default();
    assert!(
        page == reference(),
        "run with WRITE_REFERENCE=1 to write the page anew"
    );
}

#[test]
fn the_schema_s_file_is_up_to_date() {
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../docs/reference/scenario.schema.json"
    );
    let schema = format!("{:#}\n", json_schema());
    if std::env::var_os("WRITE_REFERENCE").is_some() {
        std::fs::write(path, &schema).expect("the file can be written");
    }
    let file = std::fs::read_to_string(path).unwrap_or_default();
    assert!(
        file == schema,
        "run with WRITE_REFERENCE=1 to write the file anew"
    );
}
