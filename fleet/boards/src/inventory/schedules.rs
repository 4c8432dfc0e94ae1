//! `[[schedules]]` of an inventory, read and checked.

use super::read::{Fault, taken};
use crate::schedule::{DAYS, Schedule, USUAL_WITHIN};
use crate::selection::Selection;
use serde::Deserialize;
use toml::Spanned;
use wakepath_timeline::quoted;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Entry {
    pub name: Spanned<String>,
    scenario: Spanned<String>,
    on: Spanned<Vec<String>>,
    at: Spanned<Vec<String>>,
    days: Option<Spanned<Vec<String>>>,
    within: Option<Spanned<String>>,
    takes: Option<Spanned<String>>,
    archive: Option<Spanned<String>>,
    trust: Option<Spanned<String>>,
}

pub(super) fn checked(entry: Entry) -> Result<Schedule, Fault> {
    let name = taken(entry.name, is_name, |text| {
        format!(
            "name = {text}: letters, digits, `.`, `_` and `-`, 40 at most, a letter or digit first"
        )
    })?;
    let file = |text: Option<Spanned<String>>, key: &'static str| {
        let text = text.map(|text| taken(text, is_word, |text| format!("{key} = {text}: a path")));
        text.transpose()
    };
    let seconds = |text: Option<Spanned<String>>, key: &'static str| {
        let Some(text) = text else { return Ok(None) };
        let wrong = || {
            format!(
                "{key} = {}: such as \"90 s\", \"30 min\" or \"6 h\"",
                quoted(text.get_ref())
            )
        };
        match duration(text.get_ref()) {
            Some(seconds) => Ok(Some(seconds)),
            None => Err((text.span(), wrong())),
        }
    };
    let span = entry.on.span();
    let on = entry.on.into_inner();
    if on.is_empty() {
        return Err((span, "on = []: which boards, such as [\"tag=pi5\"]".into()));
    }
    Selection::parse(&on)
        .map_err(|error| (span, error.to_string().replacen("--on ", "on = ", 1)))?;
    Ok(Schedule {
        name,
        scenario: taken(entry.scenario, is_word, |text| {
            format!("scenario = {text}: a file, or a built-in name")
        })?,
        on,
        at: times(entry.at)?,
        days: entry.days.map_or(Ok([true; 7]), days)?,
        within: seconds(entry.within, "within")?.unwrap_or(USUAL_WITHIN),
        takes: seconds(entry.takes, "takes")?,
        archive: file(entry.archive, "archive")?,
        trust: file(entry.trust, "trust")?,
    })
}

/// `02:00Z`, ascending.
fn times(texts: Spanned<Vec<String>>) -> Result<Vec<u64>, Fault> {
    let span = texts.span();
    let mut times = Vec::new();
    for text in texts.get_ref() {
        let right = "a time of the day in UTC, such as \"02:00Z\"";
        let wrong = || (span.clone(), format!("at = {}: {right}", quoted(text)));
        let digits = text.strip_suffix('Z').ok_or_else(wrong)?;
        let (hour, minute) = digits.split_once(':').ok_or_else(wrong)?;
        let two = |part: &str, most: u64| {
            let is_two = part.len() == 2 && part.bytes().all(|byte| byte.is_ascii_digit());
            part.parse::<u64>()
                .ok()
                .filter(|value| is_two && *value < most)
        };
        let (hour, minute) = (
            two(hour, 24).ok_or_else(wrong)?,
            two(minute, 60).ok_or_else(wrong)?,
        );
        times.push(hour * 60 + minute);
    }
    if times.is_empty() {
        return Err((span, "at = []: when, such as [\"02:00Z\"], in UTC".into()));
    }
    times.sort_unstable();
    times.dedup();
    Ok(times)
}

fn days(texts: Spanned<Vec<String>>) -> Result<[bool; 7], Fault> {
    let span = texts.span();
    let mut days = [false; 7];
    for text in texts.get_ref() {
        let day = DAYS.iter().position(|name| name == text);
        let wrong = || {
            (
                span.clone(),
                format!("days = {}: {}", quoted(text), DAYS.join(", ")),
            )
        };
        days[day.ok_or_else(wrong)?] = true;
    }
    if days.contains(&true) {
        Ok(days)
    } else {
        Err((
            span,
            format!(
                "days = []: without it, every day; otherwise of {}",
                DAYS.join(", ")
            ),
        ))
    }
}

/// `90 s`, `30 min`, `6 h`, in seconds; a week at most.
fn duration(text: &str) -> Option<u64> {
    let end = text.find(|c: char| !c.is_ascii_digit())?;
    let (number, unit) = text.split_at(end);
    let unit = match unit.trim() {
        "s" => 1,
        "min" => 60,
        "h" => 3600,
        _ => return None,
    };
    let seconds = number.parse::<u64>().ok()?.checked_mul(unit)?;
    (1..=7 * 86_400).contains(&seconds).then_some(seconds)
}

/// A job's name is it and a time, in 64 characters.
fn is_name(text: &str) -> bool {
    text.len() <= 40 && super::is_name(text)
}

fn is_word(text: &str) -> bool {
    !text.is_empty()
        && text.len() <= 4096
        && !text.starts_with('-')
        && !text.contains(char::is_control)
}

#[cfg(test)]
mod tests {
    use crate::inventory::Inventory;

    const BOARD: &str = "[[boards]]\nname = \"a\"\naddress = \"a\"\n";
    const NIGHT: &str = "[[schedules]]\nname = \"night\"\nscenario = \"pi5-250hz\"\non = [\"tag=pi5\"]\nat = [\"14:30Z\", \"02:00Z\"]\n";

    #[test]
    fn a_schedule_is_read_with_what_it_does_not_say() {
        let more =
            "days = [\"mon\", \"sun\"]\nwithin = \"30 min\"\narchive = \"s3://fleet/night\"\n";
        let read = |more: &str| {
            let text = format!("{BOARD}{NIGHT}{more}");
            Inventory::parse(&text, "fleet.toml")
                .unwrap()
                .schedules
                .remove(0)
        };
        let plain = read("");
        assert_eq!((&plain.at[..], plain.within), (&[120, 870][..], 21_600));
        assert!(plain.days.iter().all(|day| *day) && plain.archive.is_none());
        let other = read(more);
        assert_eq!(other.days, [true, false, false, false, false, false, true]);
        assert_eq!(
            (other.within, other.archive.as_deref()),
            (1800, Some("s3://fleet/night"))
        );
    }

    #[test]
    fn what_is_wrong_is_one_line_with_its_place() {
        let change = |from: &str, to: &str| format!("{BOARD}{}", NIGHT.replace(from, to));
        for (text, expected) in [
            (
                change("02:00Z", "02:00"),
                "fleet.toml:8: at = \"02:00\": a time of the day in UTC",
            ),
            (change("02:00Z", "24:00Z"), "fleet.toml:8: at"),
            (change("02:00Z", "2:00Z"), "fleet.toml:8: at"),
            (
                change("[\"14:30Z\", \"02:00Z\"]", "[]"),
                "fleet.toml:8: at = []",
            ),
            (
                change("tag=pi5", "pi5"),
                "fleet.toml:7: on = \"pi5\": a term is",
            ),
            (change("night", "../x"), "fleet.toml:5: name"),
            (
                change("at =", "days = [\"today\"]\nat ="),
                "fleet.toml:8: days = \"today\": mon, tue",
            ),
            (
                change("at =", "within = \"6\"\nat ="),
                "fleet.toml:8: within = \"6\"",
            ),
            (
                change("at =", "hours = 6\nat ="),
                "fleet.toml:8: unknown field `hours`",
            ),
            (
                format!("{BOARD}{NIGHT}{NIGHT}"),
                "fleet.toml:10: a second schedule is called \"night\"",
            ),
        ] {
            let said = Inventory::parse(&text, "fleet.toml")
                .unwrap_err()
                .to_string();
            assert!(
                said.starts_with(expected) && !said.contains('\n'),
                "{text}: {said}"
            );
        }
    }
}
