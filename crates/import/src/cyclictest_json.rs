//! `cyclictest --json`: the histogram with the command line and the system.

use crate::form::{Fit, Reader};
use crate::json::{JsonThread, SystemInfo, in_order, parse};
use crate::{Form, ImportError, Imported, Thread, Values, cyclictest_histogram};
use serde::Deserialize;
use std::collections::BTreeMap;

#[derive(Deserialize)]
struct File {
    file_version: u32,
    // The colon inside the name is the tool's own, up to 2.40 at least.
    #[serde(alias = "cmdline:")]
    cmdline: Option<String>,
    #[serde(alias = "rt_test_version:")]
    rt_test_version: Option<String>,
    sysinfo: Option<SystemInfo>,
    resolution_in_ns: Option<i64>,
    thread: BTreeMap<String, JsonThread>,
}

pub(crate) const FORM: Form = Form {
    word: "cyclictest-json",
    written_by: "cyclictest -h 400 --json=FILE",
    uses: &[],
    reader: Reader::Text(fits, |text, _| read(text)),
};

fn fits(text: &str) -> Fit {
    Fit::certain_if(text.trim_start().starts_with('{') && text.contains("\"rt_test_version"))
}

fn read(text: &str) -> Result<Imported, ImportError> {
    let file: File = parse(text)?;
    if file.file_version != 1 {
        let why = format!("file_version {}; 1 is known", file.file_version);
        return Err(ImportError::whole(why));
    }
    // 1 with -N, else 0: microseconds.
    let unit_ns = match file.resolution_in_ns {
        Some(1) => 1,
        _ => 1_000,
    };
    let mut threads = Vec::new();
    for (number, thread) in in_order(file.thread)? {
        threads.push(Thread::new(
            format!("thread {number}"),
            thread.cpu,
            Values::Histogram(thread.histogram(unit_ns)?),
        ));
    }
    let command: Vec<String> = file
        .cmdline
        .iter()
        .flat_map(|line| line.split_whitespace().map(str::to_owned))
        .collect();
    Ok(Imported {
        tool: "cyclictest",
        tool_version: file.rt_test_version,
        period_ns: interval_ns(&command),
        priority: priority(&command),
        command,
        kernel: file.sysinfo.and_then(|system| system.release),
        measures: "wake-up latency",
        lacks: cyclictest_histogram::LACKS.to_vec(),
        threads,
        ..Imported::default()
    })
}

/// `-i US`, by default 1000 µs. With a histogram the threads' intervals are the same.
fn interval_ns(command: &[String]) -> Option<u64> {
    if command.is_empty() {
        return None;
    }
    let us = match option(command, 'i', "--interval") {
        Some(text) => text.parse::<u64>().ok().filter(|&us| us > 0)?,
        None => 1_000,
    };
    us.checked_mul(1_000)
}

/// `-p PRIORITY`: FIFO, or the policy of `--policy`. Without it, `OTHER`.
fn priority(command: &[String]) -> Option<(u8, bool)> {
    if command.is_empty() {
        return None;
    }
    let policy = option(command, '\0', "--policy");
    let round_robin = match policy.as_deref() {
        None | Some("fifo") => false,
        Some("rr") => true,
        Some("other") => return Some((0, false)),
        Some(_) => return None,
    };
    match option(command, 'p', "--prio").or_else(|| option(command, 'p', "--priority")) {
        Some(text) => Some((text.parse().ok().filter(|p| *p <= 99)?, round_robin)),
        None => Some((0, false)),
    }
}

/// The value of `-xVALUE`, `-x VALUE`, `--long=VALUE` or `--long VALUE`.
fn option(command: &[String], short: char, long: &str) -> Option<String> {
    let short = format!("-{short}");
    let mut words = command.iter();
    while let Some(word) = words.next() {
        if *word == short || word == long {
            return words.next().cloned();
        }
        if let Some(value) = word
            .strip_prefix(long)
            .and_then(|rest| rest.strip_prefix('='))
        {
            return Some(value.to_owned());
        }
        if let Some(value) = word
            .strip_prefix(&short)
            .filter(|_| !word.starts_with("--"))
        {
            return Some(value.to_owned());
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    const REAL: &str = include_str!("../tests/fixtures/cyclictest.json");

    #[test]
    fn a_real_file_gives_the_tools_own_figures() {
        let found = read(REAL).unwrap();
        assert_eq!(found.tool_version.as_deref(), Some("2.40"));
        assert_eq!(
            (found.period_ns, found.priority),
            (Some(1_000_000), Some((80, false)))
        );
        assert_eq!(found.threads[1].cpu, Some(1));
        let Values::Histogram(first) = &found.threads[0].values else {
            panic!("{found:?}");
        };
        assert_eq!((first.count(), first.max_ns), (3000, Some(5_167_000)));
        assert_eq!(first.bins[0], (7_000, 7_999, 1));
        // The file drops what overflowed; its count of cycles tells how many.
        let within: u64 = first.bins.iter().map(|bin| bin.2).sum();
        assert_eq!(first.overflowed, 3000 - within);
        assert!(first.overflowed > 0);
    }

    #[test]
    fn options_are_found_in_every_way_of_writing_them() {
        let words = |line: &str| line.split(' ').map(str::to_owned).collect::<Vec<_>>();
        for line in [
            "c -i 250 -p 90",
            "c -i250 -p90",
            "c --interval=250 --prio=90",
        ] {
            assert_eq!(interval_ns(&words(line)), Some(250_000), "{line}");
            assert_eq!(priority(&words(line)), Some((90, false)), "{line}");
        }
        assert_eq!(interval_ns(&words("c -q")), Some(1_000_000));
        assert_eq!(priority(&words("c --policy=rr -p5")), Some((5, true)));
        assert_eq!(priority(&words("c -q")), Some((0, false)));
        assert_eq!(priority(&words("c --policy=batch")), None);
        assert_eq!(interval_ns(&[]), None);
    }

    #[test]
    fn a_histogram_that_counts_more_than_there_was_is_refused() {
        let changed = REAL.replacen("\"cycles\": 3000", "\"cycles\": 30", 1);
        assert!(read(&changed).unwrap_err().why.contains("the thread 30"));
        let cut = &REAL[..REAL.len() / 2];
        assert!(read(cut).unwrap_err().line.unwrap() > 30);
        let newer = REAL.replacen("\"file_version\": 1", "\"file_version\": 2", 1);
        assert!(read(&newer).unwrap_err().why.contains("file_version 2"));
    }
}
