//! The JSON Schema of scenario files, for editors and other programs.
//!
//! It defines the form of every key; the reader checks anything that depends on the machine or on
//! several values.

use crate::keys::{Form, Key, Presence, SCENARIO, Table, Variants};
use serde_json::{Map, Value, json};

/// Characters of a name but the space.
macro_rules! word {
    () => {
        r"[^/\\\s\u0000-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufdd0-\ufdef\ufeff\ufff0-\ufffb]+"
    };
}

const DURATION: &str = r"^[0-9]+(\.[0-9]+)? *(ns|us|µs|μs|ms|s|min|h)$";
const SIZE: &str = r"^[0-9]+(\.[0-9]+)? *(B|KiB|MiB|GiB)$";
/// Below 100 %.
const SHARE: &str = r"^0*[0-9]{1,2}(\.[0-9]+)? *%$";
/// Above 0.
const OF_PERIOD: &str = r"^(?=[0-9.]*[1-9])[0-9]+(\.[0-9]+)? *(%|periods?|ns|us|µs|μs|ms|s|min|h)$";
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
        Form::Line => json!({ "type": "string", "minLength": 1, "pattern": LINE }),
        Form::Fitting(pattern, _) => text(pattern),
        Form::Duration => text(DURATION),
        Form::Time(least, most) => text(&quantity(TIMES, *least, *most)),
        // In thousandths of a hertz.
        Form::Rate(shortest_ns, longest_ns) => {
            let of = |period_ns: u64| 1_000_000_000_000 / period_ns;
            text(&quantity(RATES, of(*longest_ns), of(*shortest_ns)))
        }
        Form::Size => text(SIZE),
        Form::Bytes(least, most) => text(&quantity(SIZES, *least, *most)),
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

/// The pattern as a regular expression of JSON Schema, which has no inline flags: in a case-blind
/// group, which contains no other group, each letter matches both of its cases.
fn ecma_pattern(pattern: &str) -> String {
    let mut groups = pattern.split("(?i:");
    let mut written = groups.next().unwrap_or_default().to_owned();
    for group in groups {
        let (within, after) = group.split_once(')').unwrap_or((group, ""));
        written.push('(');
        for character in within.chars() {
            match (
                character.to_ascii_uppercase(),
                character.to_ascii_lowercase(),
            ) {
                (upper, lower) if upper != lower => written.push_str(&format!("[{upper}{lower}]")),
                _ => written.push(character),
            }
        }
        written.push(')');
        written.push_str(after);
    }
    written
}

/// Units with their factors.
type Units = &'static [(&'static str, u64)];
const TIMES: Units = &[
    ("ns", 1),
    ("(us|µs|μs)", 1_000),
    ("ms", 1_000_000),
    ("s", 1_000_000_000),
    ("min", 60_000_000_000),
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
