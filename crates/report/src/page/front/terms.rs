//! The machine, the loop and the measurement in a line each.

use crate::figure::distinct;
use crate::page::Reported;
use wakepath_archive::ThreadRecord;
use wakepath_assess::Assessment;
use wakepath_assess::watched::comes_without_period;
use wakepath_machine::Topic;
use wakepath_timeline::CpuSet;
use wakepath_timeline::duration::rounded;
use wakepath_verdict::{count, counted};

/// The machine, in the words of its facts.
pub(super) fn machine(assessment: &Assessment) -> String {
    let line = |topic| assessment.machine.iter().find(|line| line.topic == topic);
    let brief = |topic| line(topic).and_then(|line| line.brief.clone());
    let parts = [
        brief(Topic::Machine),
        line(Topic::Cpus).map(|cpus| with_whole_ranges(&cpus.text)),
        line(Topic::Kernel).map(|kernel| format!("Linux {}", kernel.text)),
        brief(Topic::Preemption).map(|model| format!("preemption {model}")),
        brief(Topic::Virtual).map(|hypervisor| format!("virtual: {hypervisor}")),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join("; ")
}

/// With no line end to come into `0-3`: the hyphen between two digits becomes one at which no line is broken.
fn with_whole_ranges(text: &str) -> String {
    let mut made = String::with_capacity(text.len());
    let mut following = text.chars().peekable();
    let mut is_after_digit = false;
    while let Some(character) = following.next() {
        let is_within = is_after_digit && following.peek().is_some_and(char::is_ascii_digit);
        made.push(match character {
            '-' if is_within => '\u{2011}',
            other => other,
        });
        is_after_digit = character.is_ascii_digit();
    }
    made
}

/// More periods or sets of CPUs than these are shown as first to last.
const MOST_NAMED: usize = 3;

/// How often the threads are due.
fn rates(periods: &[u64]) -> String {
    let mut periods: Vec<u64> = periods
        .iter()
        .copied()
        .filter(|&period| period > 0)
        .collect();
    let hertz = |period: u64| {
        let hertz = format!("{:.3}", 1e9 / period as f64);
        hertz.trim_end_matches('0').trim_end_matches('.').to_owned()
    };
    let every = |period: u64| rounded(period.cast_signed());
    if periods.len() > MOST_NAMED {
        periods.sort_unstable();
        let (shortest, longest) = (periods[0], periods[periods.len() - 1]);
        return format!(
            "{} to {} Hz, due every {} to {}",
            hertz(shortest),
            hertz(longest),
            every(shortest),
            every(longest)
        );
    }
    let each = periods
        .iter()
        .map(|&period| format!("{} Hz, due every {}", hertz(period), every(period)));
    each.collect::<Vec<_>>().join(" and ")
}

/// Rate, threads and CPUs.
pub(super) fn the_loop(run: &Reported<'_>) -> String {
    let segments = &run.manifest.segments;
    let threads = || segments.iter().flat_map(|segment| &segment.threads);
    let with_one = threads().filter(|thread| !comes_without_period(thread));
    let periods = distinct(with_one.map(|thread| thread.due.period_ns));
    let rates = rates(&periods);
    let most = segments.iter().map(|segment| segment.threads.len()).max();
    let many = most.filter(|most| *most > 1);
    let places = segments.iter().flat_map(|segment| {
        let name = |thread: &ThreadRecord| match many {
            Some(_) => thread.name.clone(),
            None => segment.condition.clone(),
        };
        let threads = segment.threads.iter();
        threads.map(move |thread| (CpuSet::from(&thread.cpus[..]), name(thread)))
    });
    let parts = [
        (!rates.is_empty()).then_some(rates),
        many.map(|most| counted(most as u64, "thread", "threads")),
        on_cpus(places),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

/// The CPUs: the set of most first, then each other one with the threads or policies that have it; of many sets all CPUs
/// together.
fn on_cpus(places: impl Iterator<Item = (CpuSet, String)>) -> Option<String> {
    let mut sets: Vec<(CpuSet, Vec<String>)> = Vec::new();
    for (cpus, name) in places.filter(|(cpus, _)| !cpus.is_empty()) {
        match sets.iter_mut().find(|(known, _)| *known == cpus) {
            Some((_, names)) if names.contains(&name) => {}
            Some((_, names)) => names.push(name),
            None => sets.push((cpus, vec![name])),
        }
    }
    let on = |cpus: &CpuSet| match cpus.len() {
        1 => format!("on CPU {cpus}"),
        _ => format!("on CPUs {cpus}"),
    };
    if sets.len() > MOST_NAMED {
        let all = sets.iter().flat_map(|(cpus, _)| cpus.numbers()).copied();
        return Some(on(&all.collect()));
    }
    sets.sort_by_cached_key(|(_, names)| std::cmp::Reverse(names.len()));
    let ((usual, _), others) = sets.split_first()?;
    let others = others
        .iter()
        .map(|(cpus, names)| format!("; {} {}", names.join(", "), on(cpus)));
    Some(on(usual) + &others.collect::<String>())
}

/// When, what and under which loads.
pub(super) fn measured(run: &Reported<'_>) -> String {
    let assessment = run.assessment;
    let phases = distinct(assessment.conditions.iter().map(|of| of.name.phase.clone()));
    let phases: Vec<String> = phases
        .iter()
        .map(|phase| {
            let loads = assessment.loads.iter().filter(|load| load.phase == *phase);
            let loads: Vec<&str> = loads.map(|load| load.load.as_str()).collect();
            if loads.is_empty() {
                phase.clone()
            } else {
                format!("{phase} ({})", loads.join(", "))
            }
        })
        .collect();
    let counts = assessment.conditions.iter().map(|of| of.cycles.scheduled);
    let each = due_times(&counts.collect::<Vec<_>>(), super::is_watched(assessment));
    let phases = match &phases[..] {
        [] => None,
        [one] => Some(format!("phase {one}")),
        several => Some(format!("phases {}", several.join(", "))),
    };
    let parts = [Some(date(&assessment.run.started)), each, phases];
    parts.into_iter().flatten().collect::<Vec<_>>().join("; ")
}

/// How many due times each condition had.
fn due_times(counts: &[u64], are_threads: bool) -> Option<String> {
    let (least, most) = (*counts.iter().min()?, *counts.iter().max()?);
    let range = if least == most {
        counted(most, "due time", "due times")
    } else {
        format!(
            "{} to {}",
            count(least),
            counted(most, "due time", "due times")
        )
    };
    Some(if are_threads {
        format!("{range} of each thread")
    } else {
        format!("{range} of each policy in each phase")
    })
}

/// `3 November 2026, 10:15 UTC` for an RFC 3339 time in UTC; other text unchanged.
pub(super) fn date(started: &str) -> String {
    let words = || {
        let (day, time) = started.split_once('T')?;
        let mut parts = day.splitn(3, '-');
        let (year, month, day) = (parts.next()?, parts.next()?, parts.next()?);
        let month = MONTHS.get(month.parse::<usize>().ok()?.checked_sub(1)?)?;
        let day: u8 = day.parse().ok()?;
        let minutes = time.get(..5).filter(|_| time.ends_with('Z'))?;
        Some(format!("{day} {month} {year}, {minutes} UTC"))
    };
    words().unwrap_or_else(|| started.to_owned())
}

const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];

#[cfg(test)]
mod tests {
    use super::{date, due_times, on_cpus, rates, with_whole_ranges};
    use wakepath_timeline::CpuSet;

    #[test]
    fn many_periods_are_told_from_the_first_to_the_last() {
        assert_eq!(rates(&[4_000_000, 0]), "250 Hz, due every 4 ms");
        let two = "1000 Hz, due every 1 ms and 250 Hz, due every 4 ms";
        assert_eq!(rates(&[1_000_000, 4_000_000]), two);
        let stepped: Vec<u64> = (0..16)
            .map(|step| 1_000_000 + step * 500_000)
            .rev()
            .collect();
        assert_eq!(
            rates(&stepped),
            "1000 to 117.647 Hz, due every 1 ms to 8.5 ms"
        );
    }

    #[test]
    fn unequal_numbers_of_due_times_are_shown_from_the_least_to_the_most() {
        let watched = due_times(&[3_500, 351], true);
        assert_eq!(watched.unwrap(), "351 to 3500 due times of each thread");
        let equal = due_times(&[1_271, 1_271], false);
        let text = "1271 due times of each policy in each phase";
        assert_eq!(equal.unwrap(), text);
        assert_eq!(due_times(&[], false), None);
    }

    #[test]
    fn a_range_of_cpus_stays_in_one_line_and_other_words_are_as_they_were() {
        let text = "2 × AMD EPYC-Rome, online: 0-3,8-11";
        let kept = "2 × AMD EPYC-Rome, online: 0\u{2011}3,8\u{2011}11";
        assert_eq!(with_whole_ranges(text), kept);
    }

    #[test]
    fn cpus_of_few_are_named_with_those_that_may_use_them() {
        let on = |places: &[(&[u16], &str)]| {
            let places = places.iter();
            on_cpus(places.map(|(cpus, name)| (CpuSet::from(*cpus), (*name).to_owned())))
        };
        let [deadline, fifo] = ["DEADLINE 400 us", "FIFO 50"];
        let both: (&[u16], _) = (&[0, 1], deadline);
        let one: (&[u16], _) = (&[1], fifo);
        assert_eq!(on(&[one, one]).unwrap(), "on CPU 1");
        assert_eq!(on(&[both]).unwrap(), "on CPUs 0-1");
        let more = (&[1][..], "RR 50");
        assert_eq!(
            on(&[both, one, more, both]).unwrap(),
            "on CPU 1; DEADLINE 400 us on CPUs 0-1"
        );
        let each: Vec<[u16; 1]> = (0..5).map(|cpu| [cpu]).collect();
        let each: Vec<(&[u16], _)> = each.iter().map(|cpu| (&cpu[..], fifo)).collect();
        assert_eq!(on(&each).unwrap(), "on CPUs 0-4");
        assert_eq!(on(&[(&[], fifo)]), None);
    }

    #[test]
    fn a_date_is_in_words_and_what_is_none_stays() {
        assert_eq!(date("2026-11-03T10:15:00Z"), "3 November 2026, 10:15 UTC");
        assert_eq!(date("2026-13-03T10:15:00Z"), "2026-13-03T10:15:00Z");
        assert_eq!(date(""), "");
    }
}
