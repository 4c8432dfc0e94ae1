//! Watches either program's measuring thread from outside through /proc.
//!
//! Checks that it has the requested policy and CPU, and measures the CPU time of a cycle. The
//! method is the same for both, so that the watching costs them the same.

use super::Terms;
use std::collections::HashMap;
use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

/// Observed properties of the thread.
#[derive(Debug, Clone, Copy)]
pub struct Watched {
    /// CPU time between two readings over its voluntary switches between them (one for each
    /// cycle), in nanoseconds.
    pub cpu_time_each: Option<f64>,
    /// Minor and major page faults between the readings.
    pub page_faults: Option<u64>,
}

/// A watcher at work.
pub struct Watch {
    ended: Arc<AtomicBool>,
    watcher: JoinHandle<Option<Watched>>,
    terms: Terms,
}

/// One reading.
#[derive(Debug, Clone, Copy)]
struct Reading {
    run_ns: Option<u64>,
    switches: u64,
    faults: u64,
}

impl Watch {
    /// Watches the threads of `process` and of its descendants.
    pub fn start(process: u32, terms: Terms) -> Self {
        let ended = Arc::new(AtomicBool::new(false));
        let told = Arc::clone(&ended);
        let watcher = std::thread::spawn(move || watch(process, terms, &told));
        Self {
            ended,
            watcher,
            terms,
        }
    }

    /// Ends the watch. An error if no thread was ever seen with the policy on the CPU: then the
    /// programs were not on equal terms.
    pub fn finish(self) -> Result<Watched, String> {
        self.ended.store(true, Ordering::Relaxed);
        let seen = self.watcher.join().ok().flatten();
        let Terms { policy, cpu, .. } = self.terms;
        seen.ok_or_else(|| format!("no thread was seen with {} on CPU {cpu}", policy.name()))
    }
}

/// Reads every 200 ms once a thread appears; returns the one that woke most often.
fn watch(process: u32, terms: Terms, ended: &AtomicBool) -> Option<Watched> {
    let mut seen: HashMap<u32, (Reading, Reading)> = HashMap::new();
    while !ended.load(Ordering::Relaxed) {
        for thread in threads(process) {
            if let Some(reading) = measuring(thread, terms).then(|| read(thread)).flatten() {
                seen.entry(thread).or_insert((reading, reading)).1 = reading;
            }
        }
        std::thread::sleep(Duration::from_millis(200));
    }
    let busiest = seen
        .values()
        .max_by_key(|(first, last)| last.switches - first.switches)?;
    let (first, last) = busiest;
    let cycles = last.switches - first.switches;
    let cpu_time_each = match (first.run_ns, last.run_ns) {
        (Some(before), Some(after)) if cycles > 0 => Some((after - before) as f64 / cycles as f64),
        _ => None,
    };
    Some(Watched {
        cpu_time_each,
        page_faults: Some(last.faults - first.faults),
    })
}

/// All threads of a process and of its descendants.
fn threads(process: u32) -> Vec<u32> {
    let Ok(entries) = fs::read_dir(format!("/proc/{process}/task")) else {
        return Vec::new();
    };
    let mut found: Vec<u32> = entries
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
        .collect();
    for thread in found.clone() {
        let children = fs::read_to_string(format!("/proc/{process}/task/{thread}/children"));
        for child in children.unwrap_or_default().split_whitespace() {
            found.extend(child.parse().map(threads).unwrap_or_default());
        }
    }
    found
}

/// Whether a thread has the policy, the priority and the CPU of the terms. Fields as in proc(5).
fn measuring(thread: u32, terms: Terms) -> bool {
    let Some(fields) = stat(thread) else {
        return false;
    };
    let field = |number: usize| {
        fields
            .get(number - 3)
            .and_then(|field| field.parse::<u32>().ok())
    };
    let status = fs::read_to_string(format!("/proc/{thread}/status")).unwrap_or_default();
    let allowed = line(&status, "Cpus_allowed_list:").unwrap_or("");
    let (policy, priority) = terms.policy.in_kernel();
    field(41) == Some(policy) && field(40) == Some(priority) && allowed == terms.cpu.to_string()
}

fn read(thread: u32) -> Option<Reading> {
    let fields = stat(thread)?;
    let field = |number: usize| fields.get(number - 3)?.parse::<u64>().ok();
    let status = fs::read_to_string(format!("/proc/{thread}/status")).ok()?;
    let times = fs::read_to_string(format!("/proc/{thread}/schedstat")).ok();
    Some(Reading {
        run_ns: times.and_then(|times| times.split_whitespace().next()?.parse().ok()),
        switches: line(&status, "voluntary_ctxt_switches:")?.parse().ok()?,
        faults: field(10)? + field(12)?,
    })
}

/// The fields of `stat` from the third on; the second can contain any character.
fn stat(thread: u32) -> Option<Vec<String>> {
    // A thread's own directory answers under its number too, though it isn't listed there; its
    // `stat` there sums up the whole process, so the one below `task` is read.
    let group = fs::read_to_string(format!("/proc/{thread}/status")).ok()?;
    let group = line(&group, "Tgid:")?;
    let text = fs::read_to_string(format!("/proc/{group}/task/{thread}/stat")).ok()?;
    Some(
        text.rsplit_once(')')?
            .1
            .split_whitespace()
            .map(str::to_owned)
            .collect(),
    )
}

fn line<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    text.lines()
        .find_map(|line| line.strip_prefix(name))
        .map(str::trim)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_thread_is_found_and_read() {
        let threads = threads(std::process::id());
        let this =
            u32::try_from(rustix::thread::gettid().as_raw_nonzero().get()).expect("positive");
        assert!(threads.contains(&this));
        let before = read(this).expect("a reading");
        std::thread::sleep(Duration::from_millis(5));
        let after = read(this).expect("a reading");
        assert!(after.switches > before.switches);
    }
}
