//! Cache losses of a job, by working set: as a table, and in a line.

use crate::Style;
use crate::table::{Table, number};
use wakepath_assess::{CacheDelays, RunTimes};
use wakepath_scenario::units::format_size;
use wakepath_timeline::duration::three_digits;
use wakepath_timeline::one_line;

/// The table for a person, with an empty line after it; nothing if nothing was measured.
pub(crate) fn to_text(delays: &[CacheDelays], style: Style) -> String {
    match delays {
        [] => String::new(),
        delays => format!(
            "{}\n",
            cache_delays_table(delays).to_terminal(style.columns)
        ),
    }
}

/// A row for each working set under each policy.
pub(crate) fn cache_delays_table(delays: &[CacheDelays]) -> Table {
    let of = ["runs", "median", "p99", "max"].map(number);
    let mut table = Table::new("Working set")
        .caption(
            "How much longer a run through a working set takes after another thread ran on its CPU, and \
             on another CPU, than a warm run right after it",
        )
        .group("warm run", "", &["median", "max"].map(number))
        .group("lost by preemption", "", &of)
        .group("lost by migration", "", &of);
    let time = |ns: Option<u64>| ns.map(|ns| three_digits(ns.cast_signed()));
    let mut condition = None;
    for one in delays {
        if condition != Some(&one.condition) {
            condition = Some(&one.condition);
            table.heading(format!(
                "{}, preempted by {} of another thread",
                one_line(&one.condition),
                format_size(one.preempting_bytes)
            ));
        }
        let lost = |times: &RunTimes| {
            let values = [times.median_ns, times.p99_ns, times.max_ns].map(time);
            let count = (times.count > 0).then(|| times.count.to_string());
            std::iter::once(count).chain(values).collect::<Vec<_>>()
        };
        let mut cells = vec![time(one.warm.median_ns), time(one.warm.max_ns)];
        cells.extend(lost(&one.preempted));
        cells.extend(lost(&one.migrated));
        table.row(
            format_size(one.working_set_bytes),
            cells.into_iter().map(Into::into).collect(),
        );
    }
    table
}

/// In short, for the first policy: the median and the largest of each, and of how many at least; so many
/// in a sentence as two lines hold.
pub(crate) fn cache_delays_lines(delays: &[CacheDelays]) -> Vec<String> {
    let Some(first) = delays.first().map(|one| &one.condition) else {
        return Vec::new();
    };
    // The measurement's own time is no loss; the table shows it.
    let of_first = delays
        .iter()
        .filter(|one| one.condition == *first && one.working_set_bytes > 0);
    let told = of_first.clone().filter_map(|one| {
        let times = &one.preempted;
        let (median_ns, max_ns) = (times.median_ns?, times.max_ns?);
        Some(format!(
            "{} {} to {}",
            format_size(one.working_set_bytes),
            three_digits(median_ns.cast_signed()),
            three_digits(max_ns.cast_signed())
        ))
    });
    let told: Vec<String> = told.collect();
    let least = of_first.map(|one| one.preempted.count).min().unwrap_or(0);
    let sentences = told.chunks(5).enumerate();
    sentences
        .map(|(place, sizes)| match place {
            0 => format!(
                "lost to a preemption, median to largest of {least} or more: {}",
                sizes.join(", ")
            ),
            _ => sizes.join(", "),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn delays() -> CacheDelays {
        CacheDelays {
            condition: "FIFO 80".into(),
            working_set_bytes: 32 << 10,
            preempting_bytes: 64 << 20,
            warm: RunTimes {
                count: 40,
                median_ns: Some(2_000),
                max_ns: Some(3_000),
                ..RunTimes::default()
            },
            preempted: RunTimes {
                count: 40,
                median_ns: Some(11_000),
                max_ns: Some(19_000),
                ..RunTimes::default()
            },
            migrated: RunTimes::default(),
        }
    }

    #[test]
    fn what_was_not_measured_shows_no_figure() {
        let text = to_text(&[delays()], Style::default());
        let row = text.lines().find(|line| line.contains("32 KiB")).unwrap();
        // No p99 of forty, and no migration at all.
        assert_eq!(row.matches('–').count(), 5, "{text}");
        assert!(row.contains("11.0 µs") && row.contains("19.0 µs"), "{text}");
        assert!(text.contains("preempted by 64 MiB"), "{text}");
        assert_eq!(to_text(&[], Style::default()), "");
    }

    #[test]
    fn the_least_count_comes_first_and_no_sentence_is_longer_than_two_lines() {
        let lines = cache_delays_lines(&vec![delays(); 7]);
        let first =
            "lost to a preemption, median to largest of 40 or more: 32 KiB 11.0 µs to 19.0 µs, ";
        assert!(lines[0].starts_with(first), "{lines:?}");
        assert!(lines[0].chars().count() < 190, "{lines:?}");
        let rest = "32 KiB 11.0 µs to 19.0 µs, 32 KiB 11.0 µs to 19.0 µs";
        assert_eq!(lines[1..], [rest]);
        assert_eq!(cache_delays_lines(&[]), Vec::<String>::new());
    }
}
