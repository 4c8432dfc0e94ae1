//! Values of a scenario in words for people, and where two of them differ. It knows no meaning of
//! any key, and no JSON comes out of it.

use serde_json::{Map, Value};
use wakepath_timeline::{one_line, shortened};

/// So many keys that differ are named.
const KEYS: usize = 3;
/// So many characters a value takes at most.
const LONGEST: usize = 60;

/// What kind of thing an object is.
const KIND: &str = "kind";

/// A value as a person says it: an object by its kind and its keys.
pub(super) fn in_words(value: &Value) -> String {
    match value {
        Value::Null => "none".into(),
        Value::String(text) => one_line(text),
        Value::Array(values) => {
            let values: Vec<String> = values.iter().map(in_words).collect();
            values.join(" ")
        }
        Value::Object(members) => of_members(members),
        other => other.to_string(),
    }
}

fn of_members(members: &Map<String, Value>) -> String {
    let others = members.iter().filter(|(key, _)| *key != KIND);
    let others: Vec<String> = others
        .map(|(key, value)| format!("{} {}", spaced(key), in_words(value)))
        .collect();
    match (members.get(KIND), others.is_empty()) {
        (Some(kind), true) => in_words(kind),
        (Some(kind), false) => format!("{} with {}", in_words(kind), others.join(", ")),
        (None, _) => others.join(", "),
    }
}

/// Two values, each by what only it has: of two objects of one kind the keys that differ, of others
/// their kinds. Both are empty where the values are the same.
pub(super) fn apart(one: &Value, two: &Value) -> (String, String) {
    let mut found = Vec::new();
    differing("", one, two, &mut found);
    let more = found.len().saturating_sub(KEYS);
    let side = |of: fn(&Differing) -> &String| {
        let named: Vec<String> = found
            .iter()
            .take(KEYS)
            .map(|apart| format!("{} {}", apart.key, of(apart)).trim().to_owned())
            .collect();
        match more {
            0 => named.join(", "),
            more => format!("{} and {more} more", named.join(", ")),
        }
    };
    (side(|apart| &apart.one), side(|apart| &apart.two))
}

/// A key at which two values differ.
struct Differing {
    key: String,
    one: String,
    two: String,
}

fn differing(key: &str, one: &Value, two: &Value, found: &mut Vec<Differing>) {
    if one == two {
        return;
    }
    let mut add = |one: &Value, two: &Value| {
        let one = shortened(&in_words(one), LONGEST);
        let two = match shortened(&in_words(two), LONGEST) {
            // A difference further on is still a difference.
            same if same == one => "another".to_owned(),
            two => two,
        };
        let key = key.to_owned();
        found.push(Differing { key, one, two });
    };
    let (Value::Object(first), Value::Object(second)) = (one, two) else {
        // If one side has nothing, its kind is enough.
        return add(kind_of(one), kind_of(two));
    };
    if first.get(KIND) != second.get(KIND) {
        return add(kind_of(one), kind_of(two));
    }
    let only = second.keys().filter(|key| !first.contains_key(*key));
    for name in first.keys().chain(only) {
        let of = |members: &Map<String, Value>| members.get(name).cloned().unwrap_or(Value::Null);
        let key = format!("{key} {}", spaced(name));
        differing(key.trim(), &of(first), &of(second), found);
    }
}

fn kind_of(value: &Value) -> &Value {
    value.get(KIND).unwrap_or(value)
}

/// A key as words.
fn spaced(key: &str) -> String {
    one_line(&key.replace(['-', '_'], " "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn two_values_are_told_apart_by_the_key_that_differs_and_not_by_their_json() {
        let flight =
            json!({"kind": "flight", "vehicle": "x".repeat(700), "mass": {"of_body": 2.0}});
        let recorded = json!({"kind": "recorded"});
        assert_eq!(
            apart(&flight, &recorded),
            ("flight".into(), "recorded".into())
        );
        let mut heavier = flight.clone();
        heavier["mass"]["of_body"] = json!(3.5);
        assert_eq!(
            apart(&flight, &heavier),
            ("mass of body 2.0".into(), "mass of body 3.5".into())
        );
        heavier["vehicle"] = json!("x".repeat(701));
        let (one, two) = apart(&flight, &heavier);
        assert!(one.chars().count() < 100 && one != two, "{one}");
        assert!(two.ends_with("vehicle another"), "{two}");
        assert_eq!(apart(&flight, &flight), (String::new(), String::new()));
        assert_eq!(
            in_words(&json!({"kind": "cpu", "threads": 2})),
            "cpu with threads 2"
        );
    }

    #[test]
    fn of_many_keys_the_first_are_named_and_the_others_counted() {
        let of = |value: u64| json!({"a": value, "b": value, "c": value, "d": value, "e": value});
        let (one, _) = apart(&of(1), &of(2));
        assert_eq!(one, "a 1, b 1, c 1 and 2 more");
    }
}
