//! JSON of rt-tests: the threads' counts and extremes with the command line and the system.
//! cyclictest and oslat have histograms, the other tools summaries; which tool it was, the command
//! line tells.

use crate::command::Options;
use crate::form::{Fit, Reader};
use crate::imported::{counted_lacks, share_range, undue_lacks};
use crate::json::{JsonThread, SystemInfo, in_order, parse};
use crate::{Form, ImportError, Imported, Measured, Thread, Values, oslat};
use serde::Deserialize;
use std::collections::BTreeMap;

pub(crate) const FORM: Form = Form {
    word: "rt-tests-json",
    written_by: "cyclictest -h 400 --json=FILE",
    uses: &[],
    reader: Reader::Text(fits, |text, _| read(text)),
};

fn fits(text: &str) -> Fit {
    let has = |key: &str| text.contains(key);
    Fit::certain_if(
        text.trim_start().starts_with('{') && has("\"file_version\"") && has("\"cmdline"),
    )
}

#[derive(Deserialize)]
struct File {
    file_version: u32,
    // The colon inside the name is the tools' own, up to 2.40 at least.
    #[serde(alias = "cmdline:")]
    cmdline: Option<String>,
    #[serde(alias = "rt_test_version:")]
    rt_test_version: Option<String>,
    sysinfo: Option<SystemInfo>,
    resolution_in_ns: Option<i64>,
    thread: BTreeMap<String, JsonThread>,
}

/// A tool of rt-tests that writes JSON.
struct Tool {
    name: &'static str,
    measured: Measured,
    measures: &'static str,
}

const fn tool(name: &'static str, measured: Measured, measures: &'static str) -> Tool {
    Tool {
        name,
        measured,
        measures,
    }
}

const TOOLS: [Tool; 8] = [
    tool("cyclictest", Measured::Latency, "wake-up latency"),
    tool("cyclicdeadline", Measured::Latency, "wake-up latency"),
    tool("oslat", Measured::Noise, oslat::MEASURES),
    tool(
        "signaltest",
        Measured::Handover,
        "time from a signal's sending to its arrival, once around",
    ),
    tool(
        "ptsematest",
        Measured::Handover,
        "time from the release of a mutex to the thread that gets it",
    ),
    tool(
        "svsematest",
        Measured::Handover,
        "time from the release of a semaphore to the thread that gets it",
    ),
    tool(
        "pmqtest",
        Measured::Handover,
        "time from a message's sending to its arrival",
    ),
    tool(
        "sigwaittest",
        Measured::Handover,
        "time from a signal's sending to the thread that waits for it",
    ),
];

fn read(text: &str) -> Result<Imported, ImportError> {
    let file: File = parse(text)?;
    if file.file_version != 1 {
        let why = format!("file_version {}; 1 is known", file.file_version);
        return Err(ImportError::whole(why));
    }
    let words = file.cmdline.iter().flat_map(|line| line.split_whitespace());
    let command: Vec<String> = words.map(str::to_owned).collect();
    let name = command
        .first()
        .map(|path| path.rsplit('/').next().unwrap_or(path));
    let tool = TOOLS
        .iter()
        .find(|tool| Some(tool.name) == name)
        .ok_or_else(|| {
            let known = TOOLS.map(|tool| tool.name).join(", ");
            let shown = crate::histogram_lines::shortened(name.unwrap_or(""));
            ImportError::whole(format!("written by `{shown}`; {known} are known"))
        })?;
    // 1 with -N, else 0: microseconds.
    let unit_ns = match file.resolution_in_ns {
        Some(1) => 1,
        _ => 1_000,
    };
    let settings = Settings::new(tool, &command);
    let mut threads = Vec::new();
    for (number, thread) in in_order(file.thread)? {
        let thread = thread.flat();
        if thread.count == Some(0) {
            continue;
        }
        let mut histogram = thread.histogram(unit_ns)?;
        if let Some(end) = settings.range.filter(|_| !histogram.bins.is_empty()) {
            let end = i64::try_from(end)
                .ok()
                .and_then(|end| end.checked_mul(unit_ns));
            histogram.range_end_ns = end.max(histogram.range_end_ns);
        }
        if tool.name == "oslat" {
            oslat::rounded_up(&mut histogram, Some(settings.buckets));
        }
        threads.push(Thread {
            period_ns: settings.interval_ns(number, thread.interval),
            priority: thread
                .priority
                .map(|own| (own, false))
                .or(settings.priority),
            observed_ns: thread.duration.map(|s| (s * 1e9) as u64),
            ..Thread::new(
                format!("thread {number}"),
                thread.cpu(),
                Values::Histogram(histogram),
            )
        });
    }
    if threads.is_empty() {
        return Err(ImportError::whole("no thread measured a cycle"));
    }
    if tool.name != "oslat" {
        share_range(&mut threads);
    }
    for thread in &threads {
        if let Values::Histogram(found) = &thread.values {
            found.agree(None, None)?;
        }
    }
    Ok(Imported {
        tool: tool.name,
        tool_version: file.rt_test_version,
        priority: settings.priority,
        scheduler: (tool.name == "cyclicdeadline").then_some("DEADLINE"),
        command,
        kernel: file.sysinfo.and_then(|system| system.release),
        measures: tool.measures,
        measured: tool.measured,
        lacks: if tool.measured.has_due_times() {
            counted_lacks(&threads)
        } else {
            undue_lacks(&threads)
        },
        threads,
        ..Imported::default()
    })
}

/// Options of every version that take a value, and those that may.
const SHORT: &str = "a::A::b:c:d:D:e:F:h:H:i:l:o:O:p:t::T:v:y:";
const LONG: [&str; 23] = [
    "breaktrace:",
    "bucket-size:",
    "clock:",
    "distance:",
    "duration:",
    "fifo:",
    "histogram:",
    "histofall:",
    "histfile:",
    "interval:",
    "json:",
    "latency:",
    "loops:",
    "mainaffinity:",
    "notrace",
    "oscope:",
    "policy:",
    "priority:",
    "prio:",
    "priospread",
    "smp",
    "threads",
    "step:",
];

/// Threads' settings from a command line.
struct Settings {
    interval: Option<u64>,
    /// From one thread's interval to the next one's, in microseconds.
    distance: u64,
    priority: Option<(u8, bool)>,
    /// How many bins the histogram has.
    range: Option<u64>,
    /// oslat's last bin, which holds what is beyond, too.
    buckets: i64,
}

impl Settings {
    fn new(tool: &Tool, command: &[String]) -> Self {
        let options = match tool.name {
            "cyclictest" => Options::new(command, SHORT, &LONG),
            // Their -h is for help, and their -d for a distance.
            _ => Options::new(command, "a::b:B:c:C:d:D:f:i:l:m:p:s:t::T:W:w:", &LONG),
        };
        let number = |names: &[&str]| {
            options
                .value(names)
                .and_then(|text| text.parse::<u64>().ok())
        };
        let is_cyclictest = tool.name == "cyclictest";
        let range = number(&["h", "H", "histogram", "histofall"]).filter(|_| is_cyclictest);
        let has_histogram = is_cyclictest && options.has(&["h", "H", "histogram", "histofall"]);
        // From one thread's interval to the next one's.
        let distance = match tool.name {
            "cyclictest" if !has_histogram => number(&["d", "distance"]).unwrap_or(500),
            "cyclicdeadline" => number(&["s", "step"]).unwrap_or(500),
            _ => 0,
        };
        let told = options.value(&["i", "interval"]);
        let interval = match (told, tool.measured) {
            (Some(text), _) => text.parse().ok().filter(|us| *us > 0),
            (None, Measured::Latency) => Some(1_000),
            (None, _) => None,
        };
        Self {
            interval,
            distance,
            priority: priority(tool, &options),
            range: range.filter(|end| *end > 0),
            buckets: number(&["b", "bucket-size"]).map_or(32, |n| n.min(1 << 40).cast_signed()),
        }
    }

    fn interval_ns(&self, thread: u16, own: Option<u64>) -> Option<u64> {
        let further = u64::from(thread).checked_mul(self.distance)?;
        let us = own.or(self.interval)?.checked_add(further)?;
        us.checked_mul(1_000)
    }
}

/// `-p PRIORITY`: FIFO, or the policy of `--policy`. Without it, `OTHER`.
fn priority(tool: &Tool, options: &Options) -> Option<(u8, bool)> {
    if tool.name == "cyclicdeadline" {
        return None;
    }
    let round_robin = match options.value(&["y", "policy"]) {
        None | Some("fifo" | "FIFO") => false,
        Some("rr" | "RR") => true,
        Some("other" | "OTHER" | "normal") => return Some((0, false)),
        Some(_) => return None,
    };
    match options.value(&["p", "priority", "prio"]) {
        Some(text) => Some((text.parse().ok().filter(|p| *p <= 99)?, round_robin)),
        None => Some((0, false)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Histogram;
    use wakepath_timeline::Lack;

    const REAL: &str = include_str!("../tests/fixtures/cyclictest.json");
    const NO_HISTOGRAM: &str = include_str!("../tests/fixtures/cyclictest-no-histogram.json");

    fn histogram(found: &Imported, thread: usize) -> &Histogram {
        match &found.threads[thread].values {
            Values::Histogram(found) => found,
            _ => panic!("{found:?}"),
        }
    }

    #[test]
    fn a_real_file_gives_the_tools_own_figures() {
        let found = read(REAL).unwrap();
        assert_eq!(found.tool_version.as_deref(), Some("2.40"));
        assert_eq!(found.priority, Some((80, false)));
        let second = &found.threads[1];
        assert_eq!((second.cpu, second.period_ns), (Some(1), Some(1_000_000)));
        let first = histogram(&found, 0);
        assert_eq!((first.count(), first.max_ns), (3000, Some(5_167_000)));
        assert_eq!(first.bins[0], (7_000, 7_999, 1));
        // The file drops overflowed values; its count of cycles gives their number.
        let within: u64 = first.bins.iter().map(|bin| bin.2).sum();
        assert_eq!(first.overflowed, 3000 - within);
        assert!(first.overflowed > 0);
    }

    #[test]
    fn without_a_histogram_each_thread_has_its_interval_and_no_quantile() {
        let found = read(NO_HISTOGRAM).unwrap();
        let periods: Vec<_> = found
            .threads
            .iter()
            .map(|thread| thread.period_ns)
            .collect();
        assert_eq!(periods, [Some(1_000_000), Some(1_500_000)]);
        let first = histogram(&found, 0);
        assert_eq!((first.bins.len(), first.overflowed), (0, 300));
        assert!(found.lacks.contains(&Lack::Quantiles));
    }

    fn settings(line: &str) -> Settings {
        let command: Vec<String> = line.split(' ').map(str::to_owned).collect();
        Settings::new(&TOOLS[0], &command)
    }

    #[test]
    fn the_command_line_is_read_as_getopt_takes_it() {
        for line in [
            "c -Sp90 -mqi500 -h60",
            "c -h60 -mSqi 500 -p 90",
            "c --interval=500 --priority 90 -H 60",
        ] {
            let found = settings(line);
            assert_eq!(found.interval_ns(1, None), Some(500_000), "{line}");
            assert_eq!(
                (found.priority, found.range),
                (Some((90, false)), Some(60)),
                "{line}"
            );
        }
        let found = settings("c -q -t2 -p 80");
        assert_eq!(found.interval_ns(0, None), Some(1_000_000));
        assert_eq!(found.interval_ns(1, None), Some(1_500_000));
        assert_eq!(
            settings("c -q -d0 -t2").interval_ns(1, None),
            Some(1_000_000)
        );
        assert_eq!(settings("c --policy=rr -p5").priority, Some((5, true)));
        assert_eq!(settings("c -q").priority, Some((0, false)));
        assert_eq!(settings("c --policy=batch").priority, None);
    }

    #[test]
    fn a_thread_without_affinity_has_no_cpu_and_another_tool_its_own_name() {
        let free = REAL.replace("\"cpu\": 1", "\"cpu\": -1");
        assert_eq!(read(&free).unwrap().threads[1].cpu, None);
        let deadline = REAL.replacen("cyclictest", "/usr/bin/cyclicdeadline", 1);
        let found = read(&deadline).unwrap();
        assert_eq!((found.tool, found.priority), ("cyclicdeadline", None));
        let other = REAL.replacen("cyclictest", "hackbench", 1);
        assert!(read(&other).unwrap_err().why.contains("`hackbench`"));
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
