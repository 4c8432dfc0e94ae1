//! The JSON Schema of scenario files, for editors and other programs. It tells the form of every
//! key; what depends on the machine or on several values is checked by reading.

use crate::keys::{Form, Key, Presence, SCENARIO, Table, Variants};
use serde_json::{Map, Value, json};

const DURATION: &str = r"^[0-9]+(\.[0-9]+)? *(ns|us|µs|μs|ms|s|min|h)$";
const RATE: &str = r"^[0-9]+(\.[0-9]+)? *(Hz|kHz)$";
const SIZE: &str = r"^[0-9]+(\.[0-9]+)? *(B|KiB|MiB|GiB)$";
const SHARE: &str = r"^[0-9]+(\.[0-9]+)? *%$";
const OF_PERIOD: &str = r"^[0-9]+(\.[0-9]+)? *(%|periods?|ns|us|µs|μs|ms|s|min|h)$";
const CPU_SET: &str = r"^ *[0-9]+ *(- *[0-9]+ *)?(, *[0-9]+ *(- *[0-9]+ *)?)*$";
const NAME: &str = r"^[^./\\\s][^/\\]*$";

/// The JSON Schema (draft 2020-12) of a scenario file seen as JSON.
pub fn json_schema() -> Value {
    let mut schema = Map::new();
    schema.insert(
        "$schema".into(),
        json!("https://json-schema.org/draft/2020-12/schema"),
    );
    schema.insert("title".into(), json!("wakepath scenario"));
    if let Value::Object(entries) = table(&SCENARIO) {
        schema.extend(entries);
    }
    Value::Object(schema)
}

fn table(table: &Table) -> Value {
    let mut schema = object(table.keys, None);
    schema["description"] = json!(table.about);
    let one_of = table.one_of.iter().map(|group| {
        let alone: Vec<Value> = group
            .iter()
            .map(|name| json!({ "required": [name] }))
            .collect();
        json!({ "oneOf": alone })
    });
    let not_both = table
        .not_both
        .iter()
        .map(|(one, other)| json!({ "not": { "required": [one, other] } }));
    let rules: Vec<Value> = one_of.chain(not_both).collect();
    if !rules.is_empty() {
        schema["allOf"] = json!(rules);
    }
    schema
}

/// An object with these keys and no other. `tag` is a further key with its only value.
fn object(keys: &[Key], tag: Option<(&str, &str)>) -> Value {
    let mut properties = Map::new();
    let mut required = Vec::new();
    if let Some((key, value)) = tag {
        properties.insert(key.into(), json!({ "const": value }));
        required.push(key);
    }
    for key in keys {
        let mut schema = form(&key.form);
        schema["description"] = json!(key.about);
        properties.insert(key.name.into(), schema);
        if matches!(key.presence, Presence::Required) {
            required.push(key.name);
        }
    }
    json!({
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": false,
    })
}

fn form(form: &Form) -> Value {
    let text = |pattern: &str| json!({ "type": "string", "pattern": pattern });
    match form {
        Form::Name => {
            let longest = crate::keys::LONGEST_NAME;
            json!({ "type": "string", "minLength": 1, "maxLength": longest, "pattern": NAME })
        }
        Form::Text => json!({ "type": "string" }),
        Form::Duration => text(DURATION),
        Form::Rate => text(RATE),
        Form::Size => text(SIZE),
        Form::OfPeriod => text(OF_PERIOD),
        Form::Share => json!({ "anyOf": [
            { "type": "number", "minimum": 0, "exclusiveMaximum": 1 },
            { "type": "string", "pattern": SHARE },
        ] }),
        Form::Number(above, below) => {
            json!({ "type": "number", "exclusiveMinimum": above, "exclusiveMaximum": below })
        }
        Form::Integer(least, most) => {
            json!({ "type": "integer", "minimum": least, "maximum": most })
        }
        Form::CpuSet => text(CPU_SET),
        Form::Boolean => json!({ "type": "boolean" }),
        Form::Choice(names) => json!({ "enum": names }),
        Form::Either(forms) => {
            json!({ "anyOf": forms.iter().map(self::form).collect::<Vec<_>>() })
        }
        Form::Texts(least) => {
            json!({ "type": "array", "items": { "type": "string" }, "minItems": least })
        }
        Form::List(item, least, most) => json!({
            "type": "array", "items": self::form(item), "minItems": least, "maxItems": most,
        }),
        Form::Table(inner) => table(inner),
        Form::Variants(variants) => any_variant(variants),
    }
}

fn any_variant(variants: &Variants) -> Value {
    let mut forms = vec![json!({ "type": "string", "pattern": ecma_pattern(variants.short.0) })];
    for variant in variants.variants {
        let mut schema = object(variant.keys, Some((variants.tag, variant.name)));
        schema["description"] = json!(variant.about);
        forms.push(schema);
    }
    json!({ "anyOf": forms, "description": variants.about })
}

/// The pattern in the regular expressions of JSON Schema, which know no inline flags: letters of
/// a case-blind group become pairs.
fn ecma_pattern(pattern: &str) -> String {
    let Some((before, rest)) = pattern.split_once("(?i:") else {
        return pattern.to_owned();
    };
    let Some((group, after)) = rest.split_once(')') else {
        return pattern.to_owned();
    };
    let mut written = format!("{before}(");
    for character in group.chars() {
        match character.is_ascii_alphabetic() {
            true => written.push_str(&format!(
                "[{}{}]",
                character.to_ascii_uppercase(),
                character.to_ascii_lowercase(),
            )),
            false => written.push(character),
        }
    }
    format!("{written}){after}")
}
