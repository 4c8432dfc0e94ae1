//! Wake-up latencies as a histogram for a terminal: bins of a logarithmic axis, a column for each phase, the
//! limit marked.

use std::fmt::Write;
use wakepath_assess::{HistogramBin, Picture};
use wakepath_timeline::columns::{cut, width};
use wakepath_timeline::duration::three_digits;
use wakepath_timeline::one_line;

/// Upper ends of the bins within a decade.
const STEPS: [i64; 3] = [1, 2, 5];
/// Narrowest bar.
const LEAST_BAR: usize = 8;

/// The histogram of one policy's phases, in at most `columns` columns. Bars are logarithmic in the count,
/// so that a single late cycle is seen next to thousands. `None` if nothing was measured.
pub fn histogram_text(pictures: &[&Picture], columns: usize) -> Option<String> {
    let phases: Vec<(&Picture, &[HistogramBin])> = pictures
        .iter()
        .filter_map(|of| Some((*of, &*of.latency.shape.as_ref()?.bins)))
        .collect();
    let all = phases.iter().flat_map(|(_, bins)| bins.iter());
    let (lowest, highest) = all.fold((i64::MAX, i64::MIN), |(low, high), bin| {
        (low.min(bin.from), high.max(bin.below - 1))
    });
    let limit = phases.iter().find_map(|(of, _)| of.latency_limit_ns);
    let ends = ends(lowest, highest, limit.map(u64::cast_signed));
    if ends.is_empty() {
        return None;
    }
    let counted: Vec<Vec<u64>> = phases.iter().map(|(_, bins)| counts(bins, &ends)).collect();
    let most = counted.iter().flatten().copied().max().unwrap_or(0);
    let figure = most.to_string().len().max(5);
    let room = columns.saturating_sub(12) / phases.len().max(1);
    let bar = room.saturating_sub(figure + 3).clamp(LEAST_BAR, 40);
    let mut text = String::new();
    let _ = write!(text, "{:>11}", "latency");
    for (of, _) in &phases {
        let name = cut(&one_line(&of.name.phase), bar);
        let _ = write!(text, "  {} {}", right("count", figure), left(&name, bar));
    }
    trim(&mut text);
    let mut is_below = true;
    for (row, &end) in ends.iter().enumerate() {
        if let Some(limit) =
            limit.filter(|&limit| is_below && end > limit.cast_signed().saturating_add(1))
        {
            let mark = format!("  limit {} ", three_digits(limit.cast_signed()));
            let rest = columns.saturating_sub(mark.len()).min(60);
            let _ = writeln!(text, "{mark}{}", "─".repeat(rest));
            is_below = false;
        }
        let _ = write!(text, "{:>11}", format!("< {}", three_digits(end)));
        for counts in &counted {
            let count = counts[row];
            let length = length(count, most, bar);
            let shown = match count {
                0 => ".".to_owned(),
                count => count.to_string(),
            };
            let bar = left(&"█".repeat(length), bar);
            let _ = write!(text, "  {} {bar}", right(&shown, figure));
        }
        trim(&mut text);
    }
    text += "bars grow with the logarithm of the count\n";
    Some(text)
}

fn left(text: &str, columns: usize) -> String {
    format!("{text}{}", " ".repeat(columns.saturating_sub(width(text))))
}

fn right(text: &str, columns: usize) -> String {
    format!("{}{text}", " ".repeat(columns.saturating_sub(width(text))))
}

fn trim(text: &mut String) {
    text.truncate(text.trim_end().len());
    text.push('\n');
}

/// Columns of a bar: one for a single value, all for the most.
fn length(count: u64, most: u64, bar: usize) -> usize {
    match (count, most) {
        (0, _) => 0,
        (_, 0 | 1) => 1,
        (count, most) => {
            let share = (count as f64).ln() / (most as f64).ln();
            1 + (share * (bar - 1) as f64).round() as usize
        }
    }
}

/// Ends of the bins that cover everything between the two, ns: 1, 2, 5, 10, … from the one that holds the
/// lowest. Early cycles and those at the due time are in the first. The limit ends a bin, too: it tolerates
/// values up to the limit itself.
fn ends(lowest: i64, highest: i64, limit: Option<i64>) -> Vec<i64> {
    let mut ends = in_steps(lowest, highest);
    let last = ends.last().copied().unwrap_or(i64::MIN);
    if let Some(end) = limit.map(|limit| limit.saturating_add(1))
        && end > lowest
        && end < last
    {
        let at = ends.partition_point(|&of| of < end);
        // A limit of 1, 2 or 5 takes the place of its step.
        match ends
            .get_mut(at.wrapping_sub(1))
            .filter(|of| **of == end - 1)
        {
            Some(step) => *step = end,
            None => ends.insert(at, end),
        }
    }
    ends
}

fn in_steps(lowest: i64, highest: i64) -> Vec<i64> {
    let mut ends = Vec::new();
    let mut decade: i64 = 100;
    while let Some(next) = decade.checked_mul(10) {
        for end in STEPS.map(|step| step * decade) {
            if end <= lowest.max(0) {
                continue;
            }
            ends.push(end);
            if end > highest {
                return ends;
            }
        }
        decade = next;
    }
    ends
}

/// Values in each bin. A fine bin counts at its beginning.
fn counts(bins: &[HistogramBin], ends: &[i64]) -> Vec<u64> {
    let mut counts = vec![0; ends.len()];
    for bin in bins {
        let at = ends.partition_point(|&end| end <= bin.from);
        if let Some(count) = counts.get_mut(at) {
            *count += bin.count;
        }
    }
    counts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bins_are_one_two_five_and_hold_the_lowest_and_the_highest() {
        assert_eq!(ends(1_500, 9_000, None), [2_000, 5_000, 10_000]);
        // The end itself is beyond its bin.
        assert_eq!(ends(1_500, 10_000, None), [2_000, 5_000, 10_000, 20_000]);
        assert_eq!(ends(-300, 50, None), [100]);
        assert_eq!(
            ends(1_500, 9_000, Some(4_000)),
            [2_000, 4_001, 5_000, 10_000]
        );
        assert_eq!(ends(1_500, 9_000, Some(5_000)), [2_000, 5_001, 10_000]);
        assert!(ends(i64::MAX, i64::MIN, None).is_empty());
    }

    #[test]
    fn a_single_value_is_seen_next_to_thousands() {
        let bin = |from, count| HistogramBin {
            from,
            below: from + 10,
            count,
        };
        let counted = counts(
            &[bin(1_500, 7), bin(1_900, 1), bin(2_000, 3)],
            &[2_000, 5_000],
        );
        assert_eq!(counted, [8, 3]);
        assert_eq!(length(1, 10_000, 20), 1);
        assert_eq!(length(10_000, 10_000, 20), 20);
        assert_eq!(length(0, 10_000, 20), 0);
    }
}
