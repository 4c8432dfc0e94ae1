//! Instants in words: RFC 3339 in a seal, `20261124` or `202611241530` in a trust file, in UTC. It
//! reads no clock.

use std::time::{Duration, SystemTime, UNIX_EPOCH};
use wakepath_timeline::quoted;

/// Reasons why a text isn't a time.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InstantError {
    /// It has no time zone.
    #[error("{0}: a Z at its end is missing: times are in UTC, such as {1}Z")]
    NoZone(String, String),
    /// Not of its form.
    #[error("{0}: no time; right are 20261124Z, 202611241530Z and 2026-11-24T15:30:00Z")]
    Form(String),
}

/// Parses a text as seconds since 1970.
///
/// # Errors
/// Another form, or a time without a zone.
pub fn instant(text: &str) -> Result<u64, InstantError> {
    let form = || InstantError::Form(quoted(text));
    let digits = text.strip_suffix('Z').unwrap_or(text);
    let is_compact =
        matches!(digits.len(), 8 | 12 | 14) && digits.bytes().all(|b| b.is_ascii_digit());
    if is_compact && !text.ends_with('Z') {
        return Err(InstantError::NoZone(quoted(text), text.to_owned()));
    }
    let long = if is_compact {
        let all = format!("{digits:0<14}");
        let part = |from: usize, to: usize| &all[from..to];
        format!(
            "{}-{}-{}T{}:{}:{}Z",
            part(0, 4),
            part(4, 6),
            part(6, 8),
            part(8, 10),
            part(10, 12),
            part(12, 14)
        )
    } else {
        text.to_owned()
    };
    let time = humantime::parse_rfc3339(&long).map_err(|_| form())?;
    let since = time.duration_since(UNIX_EPOCH).map_err(|_| form())?;
    Ok(since.as_secs())
}

/// Seconds since 1970 as RFC 3339; the last possible time for all beyond it.
pub fn written(seconds: u64) -> String {
    // 9999-12-31T23:59:59Z.
    const LAST: u64 = 253_402_300_799;
    let time: SystemTime = UNIX_EPOCH + Duration::from_secs(seconds.min(LAST));
    humantime::format_rfc3339_seconds(time).to_string()
}

/// As [`written`], without separators.
pub fn compact(seconds: u64) -> String {
    written(seconds).replace(['-', ':'], "")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_as_date_prints_them() {
        // date -u -d '2026-11-24 15:30:01' +%s
        assert_eq!(instant("20261124153001Z"), Ok(1_795_534_201));
        assert_eq!(instant("202611241530Z"), Ok(1_795_534_200));
        assert_eq!(instant("20261124Z"), Ok(1_795_478_400));
        assert_eq!(instant("2026-11-24T15:30:01Z"), Ok(1_795_534_201));
        assert_eq!(written(1_795_534_201), "2026-11-24T15:30:01Z");
        assert_eq!(compact(1_795_534_201), "20261124T153001Z");
        assert_eq!(written(u64::MAX), "9999-12-31T23:59:59Z");
    }

    #[test]
    fn what_is_no_time_is_refused() {
        assert!(
            instant("20261124")
                .unwrap_err()
                .to_string()
                .contains("20261124Z")
        );
        for wrong in [
            "",
            "Z",
            "20261324Z",
            "2026Z",
            "19690101Z",
            "20261124 Z",
            "äää",
        ] {
            assert!(instant(wrong).is_err(), "{wrong}");
        }
    }
}
