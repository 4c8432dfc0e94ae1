//! Status lines: `T: 0 ( 1412) P:90 I:1000 C: 100000 Min: 3 Act: 5 Avg: 5 Max: 61`. cyclictest,
//! cyclicdeadline, signaltest and jitterdebugger write one for each thread, again and again over the
//! last ones by cursor codes. Each label is a field; which labels there are tells the tool.

use crate::histogram_lines::shortened;
use crate::{Histogram, ImportError, MOST_VALUES};
use std::borrow::Cow;
use std::collections::BTreeMap;

/// The last status of each thread, by its number.
pub(crate) type Statuses = BTreeMap<u16, Status>;

/// A thread's status: its counts and extremes in the tool's unit.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct Status {
    pub(crate) priority: Option<u8>,
    /// In microseconds.
    pub(crate) interval: Option<u64>,
    pub(crate) cpu: Option<u16>,
    pub(crate) cycles: u64,
    min: i64,
    max: i64,
    mean: f64,
}

/// A line without the codes that steer a terminal.
pub(crate) fn bare(line: &str) -> Cow<'_, str> {
    if !line.contains('\x1b') {
        return Cow::Borrowed(line);
    }
    let mut parts = line.split("\x1b[");
    let mut text = parts.next().unwrap_or("").to_owned();
    for part in parts {
        let end = part.find(|c: char| c.is_ascii_alphabetic());
        text.push_str(end.map_or("", |end| &part[end + 1..]));
    }
    Cow::Owned(text)
}

/// The labels of a status line, such as `P`, `I` and `Min`; `None` for another line.
pub(crate) fn labels(line: &str) -> Option<Vec<&str>> {
    let rest = line.trim_start().strip_prefix("T:")?;
    let (_, fields) = rest.split_once(')')?;
    let words = fields.split_whitespace();
    let labels: Vec<&str> = words
        .filter_map(|word| word.split_once(':').map(|(label, _)| label))
        .collect();
    ["Min", "Max"]
        .iter()
        .all(|wanted| labels.contains(wanted))
        .then_some(labels)
}

/// Whether a text has status lines with all of `with` and none of `without`.
pub(crate) fn has_lines(text: &str, with: &[&str], without: &[&str]) -> bool {
    text.lines().any(|line| {
        let line = bare(line);
        labels(&line).is_some_and(|labels| {
            with.iter().all(|label| labels.contains(label))
                && !without.iter().any(|label| labels.contains(label))
        })
    })
}

/// Takes a status line into `all`; a thread's count never falls within a run.
pub(crate) fn take(all: &mut Statuses, number: usize, line: &str) -> Result<(), ImportError> {
    let wrong = |why: String| ImportError::at(number, why);
    let odd = || wrong(format!("`{}` is not a status of a thread", shortened(line)));
    let rest = line.trim_start().strip_prefix("T:").ok_or_else(odd)?;
    let (head, fields) = rest.split_once(')').ok_or_else(odd)?;
    let thread = head.split('(').next().unwrap_or("").trim();
    let thread: u16 = thread.parse().map_err(|_| odd())?;
    let mut status = Status::default();
    let mut has = [false; 4];
    let mut words = fields.split_whitespace().peekable();
    while let Some(word) = words.next() {
        let (label, value) = word.split_once(':').ok_or_else(odd)?;
        let value = match value {
            "" => words.next().ok_or_else(odd)?,
            value => value,
        };
        let known = match label {
            "P" => value.parse().ok().map(|own| status.priority = Some(own)),
            "I" => value.parse().ok().map(|own| status.interval = Some(own)),
            "A" => {
                status.cpu = value.parse().ok();
                Some(())
            }
            "C" => value.parse().ok().map(|own| {
                (status.cycles, has[0]) = (own, true);
            }),
            "Min" => value.parse().ok().map(|own| {
                (status.min, has[1]) = (own, true);
            }),
            "Avg" => value.parse().ok().map(|own| {
                (status.mean, has[2]) = (own, true);
            }),
            "Max" => value.parse().ok().map(|own| {
                (status.max, has[3]) = (own, true);
            }),
            // The last value, SMIs, and what newer versions add.
            _ => Some(()),
        };
        known.ok_or_else(|| wrong(format!("`{}` is not a number", shortened(value))))?;
    }
    if !has.iter().all(|has| *has) || !status.mean.is_finite() {
        return Err(odd());
    }
    if status.cycles > MOST_VALUES {
        return Err(wrong("more values than a run can have".into()));
    }
    if status.cycles > 0 && !(status.min as f64 <= status.mean + 1.0 && status.min <= status.max) {
        let why = format!(
            "the smallest of {} and the largest of {} contradict each other or the mean",
            status.min, status.max
        );
        return Err(wrong(why));
    }
    if let Some(before) = all.insert(thread, status)
        && before.cycles > status.cycles
    {
        let why = format!(
            "thread {thread} had {} cycles before and has {}: a second run begins, import each separately",
            before.cycles, status.cycles
        );
        return Err(wrong(why));
    }
    Ok(())
}

impl Status {
    /// A summary of its values: their number, mean, smallest and largest.
    pub(crate) fn histogram(&self, unit_ns: i64) -> Option<Histogram> {
        let ns = |value: i64| value.checked_mul(unit_ns).filter(|ns| ns.abs() < 1 << 60);
        let mean_ns = self.mean * unit_ns as f64;
        let mut found = Histogram::summary(self.cycles, ns(self.min)?, ns(self.max)?);
        found.mean_ns = (mean_ns.abs() < 1e18).then_some(mean_ns.round() as i64);
        Some(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cursor_codes_are_dropped_and_nothing_else() {
        assert_eq!(bare("\x1b[3Apolicy: fifo \x1b[K"), "policy: fifo ");
        assert_eq!(bare("T: 0"), "T: 0");
        assert_eq!(bare("\x1b["), "");
    }

    #[test]
    fn a_status_is_read_whatever_the_width_of_its_fields() {
        let mut all = Statuses::new();
        for line in [
            "T: 0 ( 1412) P:90 I:1000 C: 100000 Min:      3 Act:    5 Avg:    5 Max:      61",
            "T:12 (10627) A: 7 C:       500 Min:        14 Avg:   30.34 Max:        57 ",
        ] {
            take(&mut all, 1, line).unwrap();
        }
        assert_eq!(
            (all[&0].priority, all[&0].interval, all[&0].cycles),
            (Some(90), Some(1_000), 100_000)
        );
        let found = all[&12].histogram(1_000).unwrap();
        assert_eq!(all[&12].cpu, Some(7));
        assert_eq!((found.count(), found.bins.len()), (500, 0));
        assert_eq!((found.min_ns, found.max_ns), (Some(14_000), Some(57_000)));
        assert_eq!(found.mean_ns, Some(30_340));
    }

    #[test]
    fn what_contradicts_itself_is_refused_with_its_line() {
        let refused = |lines: &[&str]| {
            let mut all = Statuses::new();
            let mut taken = (1..).zip(lines).map(|(at, line)| take(&mut all, at, line));
            taken.find_map(Result::err).unwrap().to_string()
        };
        let line =
            |c: u64, min: i64, max: i64| format!("T: 0 ( 1) P:0 C:{c} Min:{min} Avg:9 Max:{max}");
        let second = refused(&[&line(900, 3, 12), &line(10, 3, 12)]);
        assert!(second.starts_with("2: thread 0 had 900"), "{second}");
        assert!(refused(&[&line(9, 30, 12)]).contains("contradict"));
        assert!(refused(&["T: 0 ( 1) C:x Min:1 Avg:1 Max:1"]).contains("`x` is not a number"));
        assert!(refused(&["T: 0 ( 1) C:1 Min:1"]).contains("not a status"));
    }
}
