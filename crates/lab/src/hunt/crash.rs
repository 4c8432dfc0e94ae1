//! Crashes, lockdep's reports and other warnings of a kernel, recognised by their first line. Pure.

/// Beginnings of the lines by which a kernel reports a fault of its own.
const REPORTS: [&str; 16] = [
    "BUG:",
    "WARNING:",
    "Kernel panic",
    "Oops:",
    "general protection fault",
    "kernel BUG at",
    "INFO: task",
    "INFO: rcu",
    "rcu: INFO:",
    "INFO: possible recursive locking",
    "INFO: trying to register non-static key",
    "possible deadlock",
    "watchdog: BUG",
    "UBSAN:",
    "KASAN:",
    "divide error:",
];
/// The name of one that reported nothing.
const HUNG: &str = "the guest hung";
const GONE: &str = "the guest ended";

/// A kernel's report of a fault.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Crash {
    /// The line that names it.
    pub name: String,
    /// Log and console.
    pub lines: Vec<String>,
}

impl Crash {
    /// The first report in a log whose lines begin with the number of the program.
    pub(super) fn in_log(log: &[String]) -> Option<(usize, Self)> {
        let numbered = |line: &String| {
            let (number, line) = line.split_once(' ')?;
            Some((number.parse::<usize>().ok()?, line.to_owned()))
        };
        let lines: Vec<(usize, String)> = log.iter().filter_map(numbered).collect();
        let (number, name) = lines.iter().find(|(_, line)| is_report(line))?.clone();
        let same = lines.iter().filter(|(other, _)| *other == number);
        let lines = same.map(|(_, line)| line.clone()).collect();
        Some((number, Self { name, lines }))
    }

    /// A branch that ended before its programs did.
    pub(super) fn of_end(console: &[String], log: &[String], is_hung: bool) -> Self {
        let lines: Vec<String> = log.iter().chain(console).cloned().collect();
        let report = lines.iter().find(|line| is_report(line));
        let name = report.map_or(if is_hung { HUNG } else { GONE }, String::as_str);
        Self {
            name: plain(name).to_owned(),
            lines,
        }
    }

    /// The same for each time that it happens: letters and single dashes, without addresses, times and
    /// numbers of processes.
    pub fn file_name(&self) -> String {
        let is_number = |word: &str| word.chars().any(|c| c.is_ascii_digit());
        let letters = |c: char| !c.is_ascii_alphanumeric() && c != '_';
        let words = plain(&self.name).split(letters);
        let words: Vec<&str> = words
            .filter(|word| !word.is_empty() && !is_number(word))
            .take(8)
            .collect();
        words.join("-").to_lowercase()
    }
}

/// Without the time in brackets before it.
fn plain(line: &str) -> &str {
    match line
        .strip_prefix('[')
        .and_then(|rest| rest.split_once("] "))
    {
        Some((time, rest)) if time.trim().parse::<f64>().is_ok() => rest,
        _ => line,
    }
}

fn is_report(line: &str) -> bool {
    let line = plain(line);
    REPORTS.iter().any(|report| line.contains(report))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str) -> Vec<String> {
        text.lines().map(String::from).collect()
    }

    #[test]
    fn a_report_belongs_to_the_program_that_was_under_way() {
        let log = lines(
            "0 process 'a' launched\n3 ======\n3 WARNING: possible circular locking dependency detected\n\
             3 a/77 is trying to acquire lock:\n4 WARNING: CPU: 0 PID: 1 at x.c:3\n",
        );
        let (program, crash) = Crash::in_log(&log).unwrap();
        assert_eq!((program, crash.lines.len()), (3, 3));
        assert_eq!(
            crash.file_name(),
            "warning-possible-circular-locking-dependency-detected"
        );
        assert_eq!(Crash::in_log(&lines("0 nothing\n")), None);
    }

    #[test]
    fn an_end_is_named_by_the_kernels_line_and_the_same_each_time() {
        let console = lines(
            "[   12.345678] BUG: kernel NULL pointer dereference, address: 0000000000000018\n[ 12.4] Kernel panic - not syncing\n",
        );
        let crash = Crash::of_end(&console, &[], false);
        assert_eq!(
            crash.file_name(),
            "bug-kernel-null-pointer-dereference-address"
        );
        assert_eq!(Crash::of_end(&[], &[], true).name, HUNG);
    }
}
