//! A length of time that an option was given.

use wakepath_scenario::units::parse_duration;

/// In nanoseconds, more than none; the error is one line that names the option.
pub fn given_time(option: &str, text: Option<&str>) -> Result<Option<u64>, String> {
    let Some(text) = text else { return Ok(None) };
    match parse_duration(text) {
        Ok(ns) if ns > 0 => Ok(Some(ns)),
        Ok(_) => Err(format!("{option} {text}: must be more than nothing")),
        Err(complaint) => Err(format!("{option} {text}: {complaint}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_has_a_unit_and_is_more_than_nothing() {
        assert_eq!(given_time("--for", None), Ok(None));
        assert_eq!(given_time("--for", Some("2ms")), Ok(Some(2_000_000)));
        for bad in ["0s", "5", "", "-1s"] {
            let refused = given_time("--for", Some(bad)).unwrap_err();
            assert!(refused.starts_with(&format!("--for {bad}: ")), "{refused}");
        }
    }
}
