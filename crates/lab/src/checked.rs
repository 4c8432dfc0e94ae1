//! Result of a check against a baseline, for a terminal and for a script.

use crate::baseline::{Baseline, Change, GuestCounts, PathPart, stretch_changes};
use crate::comparison::Whole;
use std::fmt::Write;

/// The changes for a script.
///
/// # Errors
/// None that changes give rise to.
pub fn to_json(
    before: &Baseline,
    now: &Baseline,
    changes: &[Change],
    longer: bool,
) -> serde_json::Result<String> {
    let pairs = before.guests.iter().zip(&now.guests);
    let known = pairs.map(|(old, new)| {
        let all = provenance_changes(old, new).into_iter();
        let all = all.map(|(what, first, second)| {
            serde_json::json!({ "what": what, "first": first, "second": second })
        });
        serde_json::json!({
            "guest": new.guest, "known_differences": all.collect::<Vec<_>>(),
        })
    });
    let result = serde_json::json!({
        "outcome": "virtual-time", "longer": longer, "guests": known.collect::<Vec<_>>(),
        "changes": changes,
    });
    Ok(serde_json::to_string_pretty(&result)? + "\n")
}

/// The changes for a person.
pub fn to_text(before: &Baseline, now: &Baseline, changes: &[Change], whole: &[Whole]) -> String {
    let mut text = String::new();
    for ((old, new), whole) in before.guests.iter().zip(&now.guests).zip(whole) {
        let mine: Vec<&Change> = changes.iter().filter(|c| c.guest == new.guest).collect();
        let _ = if mine.is_empty() {
            writeln!(text, "{}: every count as in the baseline", new.guest)
        } else {
            writeln!(text, "{}: {}", new.guest, whole.directory.display())
        };
        // What explains a change comes before it.
        for (name, was, is) in provenance_changes(old, new) {
            let _ = writeln!(text, "  {name}: {was} → {is}");
        }
        if !mine.is_empty() {
            conditions(&mut text, old, new, &mine);
        }
    }
    let verdict = match (
        changes.is_empty(),
        changes.iter().any(|change| change.longer),
    ) {
        (true, _) => "THE SAME: nothing takes longer or shorter",
        (false, true) => "LONGER: the marked counts take more virtual time than in the baseline",
        (false, false) => "NOT LONGER: what changed is shorter, or within what is allowed",
    };
    let _ = writeln!(text, "virtual time, not a machine's latencies; {verdict}");
    text
}

/// Versions and digests that differ, by name.
fn provenance_changes<'a>(
    old: &'a GuestCounts,
    new: &'a GuestCounts,
) -> Vec<(&'a str, &'a str, &'a str)> {
    let all = new.provenance.iter().filter_map(|(name, is)| {
        let was = old.provenance.get(name).map_or("nothing", String::as_str);
        (was != is).then_some((name.as_str(), was, is.as_str()))
    });
    all.collect()
}

fn conditions(text: &mut String, old: &GuestCounts, new: &GuestCounts, changes: &[&Change]) {
    for (old, new) in old.conditions.iter().zip(&new.conditions) {
        let mine: Vec<&&Change> = changes
            .iter()
            .filter(|change| change.condition == new.condition)
            .collect();
        if mine.is_empty() {
            continue;
        }
        let _ = writeln!(text, "  {}", new.condition);
        for change in &mine {
            let mark = if change.longer {
                "longer  "
            } else {
                "        "
            };
            let (before, now) = (change.before, change.now);
            let _ = writeln!(
                text,
                "    {mark}{} {before} → {now} ({:+})",
                change.count,
                now - before
            );
        }
        for (which, old, new) in [
            ("median", &old.median_path, &new.median_path),
            ("worst cycle", &old.worst_path, &new.worst_path),
        ] {
            paths(text, which, old, new);
        }
    }
}

/// Which stretch of the path changed, the one that grew the most first.
fn paths(text: &mut String, which: &str, old: &[PathPart], new: &[PathPart]) {
    if old.is_empty() || new.is_empty() {
        if which == "median" {
            *text += "      which stretch of the path: not known, one of the two was not traced \
                      (`lab run --trace --baseline FILE`)\n";
        }
        return;
    }
    for change in stretch_changes(old, new) {
        let _ = writeln!(text, "      {which}: {change}");
    }
}
