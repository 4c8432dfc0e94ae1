//! The JSON Schema and the reference page agree with the reader.

use serde_json::{Value, json};
use wakepath_scenario::{KnownCpus, Scenario, builtin, json_schema, reference};

fn as_json(text: &str) -> Value {
    let table: toml::Table = text.parse().expect("TOML");
    serde_json::to_value(table).expect("JSON")
}

#[test]
fn the_schema_accepts_every_builtin_and_its_written_form() {
    let validator = jsonschema::validator_for(&json_schema()).expect("a schema");
    for builtin in builtin::all() {
        let known = KnownCpus::first(4);
        let scenario = Scenario::parse(builtin.text, builtin.name, &known).expect("reads");
        for text in [builtin.text.to_owned(), scenario.to_toml()] {
            if let Err(error) = validator.validate(&as_json(&text)) {
                panic!("{}: {error} at {}", builtin.name, error.instance_path());
            }
        }
    }
}

#[test]
fn the_schema_accepts_what_the_reader_accepts() {
    let validator = jsonschema::validator_for(&json_schema()).expect("a schema");
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/good");
    for entry in std::fs::read_dir(folder).expect("the folder") {
        let path = entry.expect("an entry").path();
        let text = std::fs::read_to_string(&path).expect("a file");
        if let Err(error) = validator.validate(&as_json(&text)) {
            panic!("{}: {error} at {}", path.display(), error.instance_path());
        }
    }
}

#[test]
fn the_schema_refuses_what_has_the_wrong_form() {
    let validator = jsonschema::validator_for(&json_schema()).expect("a schema");
    let good = as_json("name = \"a\"\nrate = \"250 Hz\"\ncycles = 10\npolicies = [\"FIFO 50\"]");
    assert!(validator.is_valid(&good));
    for (key, value) in [
        ("rte", json!("250 Hz")),
        ("rate", json!(250)),
        ("rate", json!("250")),
        ("period", json!("4 ms")),
        ("cycles", json!(0)),
        ("duration", json!("4 s")),
        ("policies", json!(["FIFI 50"])),
        ("policies", json!([{ "policy": "fifo", "priority": 100 }])),
        (
            "policies",
            json!([{ "policy": "fifo", "priority": 50, "nice": 0 }]),
        ),
        ("policies", json!([])),
        ("phases", json!([{ "name": "a", "loads": ["cup"] }])),
        ("criterion", json!({ "latency": 400 })),
        ("criterion", json!({ "miss-fraction": 1.5 })),
        ("wake-up", json!("sleep")),
        ("name", json!("a/b")),
    ] {
        let mut bad = good.clone();
        bad[key] = value.clone();
        assert!(!validator.is_valid(&bad), "{key} = {value}");
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
