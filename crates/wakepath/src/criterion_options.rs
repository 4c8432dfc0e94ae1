//! The limits that the command line gives: one line of a scenario's criterion, read and refused by the names of
//! their options.

use crate::command_line::CriterionOptions;
use wakepath_scenario::{KnownCpus, Scenario, ScenarioError};
use wakepath_timeline::one_line;

type Failure = Box<dyn std::error::Error>;

/// The options as one line, `latency 200us, miss-fraction 0.1 %`; `None` if none is given.
pub fn line(options: &CriterionOptions) -> Option<String> {
    let one =
        |key: &str, value: &Option<String>| value.as_ref().map(|value| format!("{key} {value}"));
    let parts = [
        one("latency", &options.latency),
        one("miss-fraction", &options.miss_fraction),
        options.criterion.clone(),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    (!parts.is_empty()).then(|| parts.join(", "))
}

/// The given options: long name and value.
pub fn given(options: &CriterionOptions) -> impl Iterator<Item = (&'static str, &str)> {
    let all = [
        ("latency", &options.latency),
        ("miss-fraction", &options.miss_fraction),
        ("criterion", &options.criterion),
    ];
    all.into_iter()
        .filter_map(|(name, value)| Some((name, value.as_deref()?)))
}

/// The options as they are typed.
pub fn words(options: &CriterionOptions) -> Vec<String> {
    let words = given(options).flat_map(|(name, value)| [format!("--{name}"), value.to_owned()]);
    words.collect()
}

/// The table of a scenario that the options make; `None` if none is given.
///
/// # Errors
/// In one line, if one of them can't be a limit.
pub fn table(options: &CriterionOptions) -> Result<Option<toml::Table>, Failure> {
    let Some(line) = line(options) else {
        return Ok(None);
    };
    let table = parse(&line)?;
    let any_cpu = KnownCpus::first(1);
    Scenario::parse(&judged_by(&table)?, "criterion", &any_cpu)
        .map_err(|errors| refusal(options, errors.first()))?;
    Ok(Some(table))
}

/// The fault of an option by its name: it has no place in a file.
fn refusal(options: &CriterionOptions, error: &ScenarioError) -> String {
    let key = error.key.trim_start_matches("criterion.");
    let option = given(options).find(|(name, _)| *name == key);
    let named = match (option, error.found.as_str()) {
        (Some((name, value)), _) => format!("--{name} {value}"),
        (None, "") => format!("--criterion: {key}"),
        (None, found) => format!("--criterion: {key} = {found}"),
    };
    let remedy = match error.remedy.as_str() {
        "" => String::new(),
        remedy => format!("; {remedy}"),
    };
    one_line(&format!("{named} {}{remedy}", error.problem))
}

/// A scenario that matters only for its criterion: faults in it are found before anything is
/// measured.
pub fn judged_by(criterion: &toml::Table) -> Result<String, Failure> {
    let mut table = toml::Table::new();
    table.insert("criterion".into(), criterion.clone().into());
    table.insert("name".into(), "criterion".into());
    table.insert("duration".into(), "1 h".into());
    table.insert("period".into(), "10 s".into());
    table.insert("policies".into(), vec!["OTHER"].into());
    Ok(toml::to_string(&table)?)
}

/// `latency 200us, miss-fraction 0.1 %` as the table that a scenario has.
///
/// # Errors
/// A part without a value, or one given twice.
pub fn parse(text: &str) -> Result<toml::Table, Failure> {
    let mut table = toml::Table::new();
    for part in text.split(',').map(str::trim) {
        let Some((key, value)) = part.split_once([' ', '=']) else {
            let example = "give a name and a value, such as `latency 200us`";
            return Err(format!("--criterion: `{part}` has no value; {example}").into());
        };
        let key = match key {
            // What people say.
            "miss" | "misses" => "miss-fraction",
            key => key,
        };
        let value = value.trim_start_matches(['=', ' ']).trim();
        let value = match value.parse::<i64>() {
            Ok(number) => number.into(),
            Err(_) => value.parse::<f64>().map_or(value.into(), toml::Value::from),
        };
        if table.insert(key.into(), value).is_some() {
            return Err(format!("--criterion: `{key}` is given twice; give it once").into());
        }
    }
    Ok(table)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_criterion_without_a_value_or_given_twice_is_refused() {
        let line = parse("latency").unwrap_err().to_string();
        assert!(line.contains("`latency` has no value"), "{line}");
        let twice = CriterionOptions {
            latency: Some("1us".into()),
            criterion: Some("latency 2us".into()),
            ..CriterionOptions::default()
        };
        let line = table(&twice).unwrap_err().to_string();
        assert!(line.contains("`latency` is given twice"), "{line}");
    }

    #[test]
    fn each_option_is_a_limit_of_the_criterion() {
        let options = CriterionOptions {
            latency: Some("100us".into()),
            miss_fraction: Some("0.1 %".into()),
            criterion: Some("consecutive-misses 2".into()),
        };
        let limits = table(&options).unwrap().unwrap();
        assert_eq!(limits["latency"].as_str(), Some("100us"));
        assert_eq!(limits["miss-fraction"].as_str(), Some("0.1 %"));
        assert_eq!(limits["consecutive-misses"].as_integer(), Some(2));
        assert!(table(&CriterionOptions::default()).unwrap().is_none());
        let wrong = CriterionOptions {
            latency: Some("100".into()),
            ..options
        };
        let line = table(&wrong).unwrap_err().to_string();
        let begin = "--latency 100 is a bare number; give a time";
        assert!(line.starts_with(begin), "{line}");
        assert!(!line.contains('\n') && !line.contains("7:"), "{line}");
        let wrong = CriterionOptions {
            latency: None,
            criterion: Some("outage x".into()),
            ..wrong
        };
        let line = table(&wrong).unwrap_err().to_string();
        assert!(
            line.starts_with("--criterion: outage = \"x\" does not begin with a number; give"),
            "{line}"
        );
    }
}
