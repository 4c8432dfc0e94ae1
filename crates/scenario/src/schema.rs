//! The JSON Schema of scenario files, for editors and other programs.
//!
//! It defines the form of every key; the reader checks anything that depends on the machine or on
//! several values.

use crate::keys::{Key, LONGEST_NAME, Shape, Table, VariantsShape, scenario_table};
use serde_json::{Map, Value, json};

/// Characters of a name but the space.
macro_rules! word {
    () => {
        r"[^/\\\s\u0000-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufdd0-\ufdef\ufeff\ufff0-\ufffb]+"
    };
}

const DURATION: &str = r"^[0-9]+(\.[0-9]+)? *(ns|us|µs|μs|ms|s|min|m|h)$";
const SIZE: &str = r"^[0-9]+(\.[0-9]+)? *(B|KiB|MiB|GiB)$";
/// Below 100 %.
const SHARE: &str = r"^0*[0-9]{1,2}(\.[0-9]+)? *%$";
/// Above 0.
const OF_PERIOD: &str =
    r"^(?=[0-9.]*[1-9])[0-9]+(\.[0-9]+)? *(%|periods?|ns|us|µs|μs|ms|s|min|m|h)$";
const CPU_SET: &str = r"^ *[0-9]+ *(- *[0-9]+ *)?(, *[0-9]+ *(- *[0-9]+ *)?)*$";
/// Printable words with one or more spaces between them, which can't be confused with a path. The
/// reader refuses invisible characters beyond U+FFFF, because not every engine has a form for them.
const NAME: &str = concat!(r"^(?!\.)", word!(), r"(?: +", word!(), r")*$");

/// A text without invisible characters.
const LINE: &str = concat!(r"^(?: |", word!(), r"|[/\\])+$");

/// The JSON Schema (draft 2020-12) of a scenario file seen as JSON.
pub fn json_schema() -> Value {
    let mut schema = Map::new();
    schema.insert(
        "$schema".into(),
        json!("https://json-schema.org/draft/2020-12/schema"),
    );
    schema.insert("title".into(), json!("wakepath scenario"));
    if let Value::Object(entries) = table(&scenario_table()) {
        schema.extend(entries);
    }
    Value::Object(schema)
}

fn table(table: &Table) -> Value {
    table_with(table, None)
}

/// The table; `tag` is a further key with its only value.
fn table_with(table: &Table, tag: Option<(&str, &str)>) -> Value {
    let mut schema = object(&table.keys, tag);
    schema["description"] = json!(table.about);
    let one_of = table.one_of.iter().map(|group| {
        let alone: Vec<Value> = group
            .iter()
            .map(|name| json!({ "required": [name] }))
            .collect();
        json!({ "oneOf": alone })
    });
    let rules: Vec<Value> = one_of.chain(table.rules.iter().cloned()).collect();
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
        let mut schema = form(&key.shape);
        schema["description"] = json!(key.about);
        properties.insert(key.name.into(), schema);
        if key.without.is_none() {
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

fn form(shape: &Shape) -> Value {
    let text = |pattern: &str| json!({ "type": "string", "pattern": pattern });
    match shape {
        Shape::Name => {
            json!({ "type": "string", "minLength": 1, "maxLength": LONGEST_NAME, "pattern": NAME })
        }
        Shape::Text => json!({ "type": "string" }),
        Shape::Line => json!({ "type": "string", "minLength": 1, "pattern": LINE }),
        Shape::Fitting(pattern, _) => text(pattern),
        Shape::Time(least, u64::MAX) => text(&open_ended(*least, DURATION)),
        Shape::Time(least, most) => text(&quantity(TIMES, *least, *most)),
        // In thousandths of a hertz.
        Shape::Rate(shortest_ns, longest_ns) => {
            let of = |period_ns: u64| 1_000_000_000_000 / period_ns;
            text(&quantity(RATES, of(*longest_ns), of(*shortest_ns)))
        }
        Shape::Size(least, u64::MAX) => text(&open_ended(*least, SIZE)),
        Shape::Size(least, most) => text(&quantity(SIZES, *least, *most)),
        Shape::OfPeriod => text(OF_PERIOD),
        Shape::Share { above_0: true } => json!({ "anyOf": [
            { "type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1 },
            { "type": "string", "pattern": open_ended(1, SHARE) },
        ] }),
        Shape::Share { above_0: false } => json!({ "anyOf": [
            { "type": "number", "minimum": 0, "exclusiveMaximum": 1 },
            { "type": "string", "pattern": SHARE },
        ] }),
        Shape::Number(from, true, below) => {
            json!({ "type": "number", "minimum": from, "exclusiveMaximum": below })
        }
        Shape::Number(above, false, below) => {
            json!({ "type": "number", "exclusiveMinimum": above, "exclusiveMaximum": below })
        }
        Shape::Integer(least, most) => {
            json!({ "type": "integer", "minimum": least, "maximum": most })
        }
        Shape::CpuSet => text(CPU_SET),
        Shape::Boolean => json!({ "type": "boolean" }),
        Shape::Choice(names) => json!({ "enum": names }),
        Shape::Either(shapes) => {
            json!({ "anyOf": shapes.iter().map(form).collect::<Vec<_>>() })
        }
        Shape::Texts(least, most) => json!({
            "type": "array", "items": { "type": "string" }, "minItems": least, "maxItems": most,
        }),
        Shape::List(item, least, most) => json!({
            "type": "array", "items": form(item), "minItems": least, "maxItems": most,
        }),
        Shape::Table(inner) => table(inner),
        Shape::Variants(variants) => any_variant(variants),
    }
}

/// A pattern of a quantity, of 0 or above 0.
fn open_ended(least: u64, pattern: &str) -> String {
    match (least, pattern.strip_prefix('^')) {
        (1.., Some(rest)) => format!("^(?=[0-9.]*[1-9]){rest}"),
        _ => pattern.to_owned(),
    }
}

fn any_variant(variants: &VariantsShape) -> Value {
    let mut forms = vec![json!({ "type": "string", "pattern": variants.short.0 })];
    for (name, inner) in &variants.variants {
        forms.push(table_with(inner, Some((variants.tag, name))));
    }
    json!({ "anyOf": forms, "description": variants.about })
}

/// Units with their factors.
type Units = &'static [(&'static str, u64)];
const TIMES: Units = &[
    ("ns", 1),
    ("(us|µs|μs)", 1_000),
    ("ms", 1_000_000),
    ("s", 1_000_000_000),
    ("(min|m)", 60_000_000_000),
    ("h", 3_600_000_000_000),
];
const RATES: Units = &[("Hz", 1_000), ("kHz", 1_000_000)];
const SIZES: Units = &[
    ("B", 1),
    ("KiB", 1 << 10),
    ("MiB", 1 << 20),
    ("GiB", 1 << 30),
];

/// A decimal number and a unit, within bounds. A bound that is no whole number of a unit is widened
/// a little in that unit, never narrowed.
fn quantity(units: Units, least: u64, most: u64) -> String {
    let of = |&(unit, factor): &(&str, u64)| {
        let (low, high) = (least / factor, most / factor);
        let fraction = r"(\.[0-9]+)?";
        let number = match most.is_multiple_of(factor) {
            // The highest whole number can only be followed by zeros.
            true if high > low => {
                format!(
                    r"({}{fraction}|{}(\.0+)?)",
                    between(low, high - 1),
                    between(high, high)
                )
            }
            true => format!(r"{}(\.0+)?", between(low, high)),
            false => format!("{}{fraction}", between(low, high)),
        };
        format!("{number} *{unit}")
    };
    let above_0 = if least > 0 { "(?=[0-9.]*[1-9])" } else { "" };
    let units: Vec<String> = units
        .iter()
        .filter(|(_, factor)| most >= *factor || least < *factor)
        .map(of)
        .collect();
    format!("^{above_0}({})$", units.join("|"))
}

/// Whole numbers from one to another, with any zeros in front.
fn between(low: u64, high: u64) -> String {
    let most = format!("0*({})(?![0-9])", at_most(&high.to_string()));
    match low {
        0 => most,
        low => format!("(?=0*({})(?![0-9])){most}", at_least(&low.to_string())),
    }
}

/// Numbers of at most as many digits that are no larger.
fn at_most(number: &str) -> String {
    bound(
        number,
        |digit| (b'0' < digit).then(|| (b'0', digit - 1)),
        match number.len() {
            1 => None,
            length => Some(format!("[0-9]{{1,{}}}", length - 1)),
        },
    )
}

/// Numbers that are no smaller, without a leading zero.
fn at_least(number: &str) -> String {
    let longer = format!("[1-9][0-9]{{{},}}", number.len());
    bound(
        number,
        |digit| (digit < b'9').then(|| (digit + 1, b'9')),
        Some(longer),
    )
}

/// The number itself, those that first differ from it at a digit for which `others` gives a range,
/// and `more`.
fn bound(number: &str, others: impl Fn(u8) -> Option<(u8, u8)>, more: Option<String>) -> String {
    let mut all: Vec<String> = more.into_iter().collect();
    for (place, digit) in number.bytes().enumerate() {
        if let Some((from, to)) = others(digit) {
            let rest = match number.len() - place - 1 {
                0 => String::new(),
                rest => format!("[0-9]{{{rest}}}"),
            };
            let (from, to) = (char::from(from), char::from(to));
            all.push(format!("{}[{from}-{to}]{rest}", &number[..place]));
        }
    }
    all.push(number.to_owned());
    all.join("|")
}
