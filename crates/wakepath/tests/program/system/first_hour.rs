//! The first hour of a newcomer: what README and the guide to the first run show is typed as it stands,
//! into a shell in an empty directory with an empty home, and held to what they promise: lines,
//! columns, seconds, bytes. What installs is typed by the stage `packages`.

use crate::started::{Finished, Place, Start, binary, not_run};
use crate::typed::{blocks, page, spans};
use std::path::Path;
use std::time::Duration;
use wakepath_timeline::columns::width;

wakepath_test_program::tests![what_the_first_pages_show_works_as_shown_and_fits_one_screen];

const PAGES: [&str; 2] = ["README.md", "docs/tutorial/first-check.md"];

/// What measures for minutes is typed so that it takes seconds, and long enough for every load to show
/// that it works; all else of it is as shown.
const SHORTER: [(&str, &str); 2] = [
    (
        "wakepath check --stop-above 200us",
        "--policy 'OTHER nice 0' --duration 4500ms",
    ),
    (
        "wakepath rate --policy 'FIFO 80'",
        "--from 1kHz --to 1050Hz --block 8s",
    ),
];

/// What measures for 85 s, for whose run a recorded one stands: `check --quick` is typed.
const RECORDED: &str = "wakepath check";

/// Lines that this test does not type, by their beginning, with the reason.
const ELSEWHERE: [(&str, &str); 5] = [
    (
        "git clone ",
        "needs the network; `cargo xtask bench first-verdict` types it",
    ),
    (
        "./check",
        "builds a clone; `cargo xtask bench first-verdict` types it",
    ),
    (
        "install \"target/",
        "changes the machine; the program of the tests is on the newcomer's PATH",
    ),
    ("scp ", "needs a board"),
    ("ssh ", "needs a board"),
];

/// On a machine that is busy with other things a load may get too little CPU time to prove its work
/// in seconds; `rate` then says that a step can't be judged, and is typed once more.
const ATTEMPTS: usize = 4;

/// One screen.
const LINES: usize = 40;
const COLUMNS: usize = 100;
/// CPU time of one `wakepath show`: how long it waits for its CPU is the machine's affair.
const SHOWN_WITHIN: Duration = Duration::from_millis(300);
const REPORT_BYTES: u64 = 1_000_000;

fn what_the_first_pages_show_works_as_shown_and_fits_one_screen() {
    let mut newcomer = Newcomer::new();
    let mut shortened = Vec::new();
    let mut untraced = None;
    for name in PAGES {
        for line in blocks(&page(name)) {
            let line = line.strip_prefix("sudo ").unwrap_or(&line).to_owned();
            if !line.starts_with("wakepath ") {
                let known = ELSEWHERE.iter().any(|(begin, _)| line.starts_with(begin));
                assert!(known, "{name} shows `{line}`, and nothing types it");
                continue;
            }
            if line == RECORDED {
                newcomer.has_a_run_of_before();
                shortened.push(RECORDED);
                continue;
            }
            let more = SHORTER.iter().find(|(shown, _)| *shown == line);
            shortened.extend(more.map(|(shown, _)| *shown));
            let more = more.map_or("", |(_, more)| more);
            let mut said = newcomer.type_(&line, more);
            for _ in 1..ATTEMPTS {
                if !said.complaints.contains("can't be judged") {
                    break;
                }
                said = newcomer.type_(&line, more);
            }
            if line.contains("--stop-above") && said.complaints.contains("nothing was measured") {
                untraced = Some(said.complaints.trim().to_owned());
                continue;
            }
            hold(&line, &said);
            let suggested = spans(&said.output, "  wakepath ");
            for line in suggested {
                crate::typed::assert_is_known(&line);
            }
        }
    }
    for shown in SHORTER
        .map(|(shown, _)| shown)
        .into_iter()
        .chain([RECORDED])
    {
        assert!(shortened.contains(&shown), "no page shows `{shown}`");
    }
    newcomer.assert_show_is_quick();
    newcomer.assert_reports_are_small();
    newcomer.assert_home_is_empty();
    if let Some(why) = untraced {
        not_run("--stop-above, all else was typed", &why);
    }
}

/// Holds what a command said to what is promised of it.
fn hold(line: &str, said: &Said) {
    let mut words = line.split_whitespace().skip(1);
    let verb = words.next().unwrap_or_default();
    let options: Vec<&str> = words.filter(|word| word.starts_with("--")).collect();
    let judges = ["check", "show", "rate"].contains(&verb);
    let code = said.code;
    if judges {
        assert!(matches!(code, Some(0 | 2 | 3)), "{line}: {said:?}")
    } else {
        assert_eq!(code, Some(0), "{line}: {said:?}")
    }
    assert!(!said.output.trim().is_empty() || code == Some(1), "{line}");
    let whole = ["--details", "--json", "--all"];
    if options.iter().any(|option| whole.contains(option)) {
        return;
    }
    let output = &said.output;
    let lines = output.lines().count();
    assert!(lines <= LINES, "{line}: {lines} lines\n{output}");
    if !["check", "show"].contains(&verb) || options.contains(&"--histogram") {
        return;
    }
    let begins = if options.contains(&"--stop-above") {
        ["stopped: ", "no latency above "]
    } else {
        ["verdict: "; 2]
    };
    let begun = begins.iter().any(|begin| output.starts_with(begin));
    assert!(begun, "{line}: {output}");
    let widest = output.lines().map(width).max().unwrap_or(0);
    assert!(widest <= COLUMNS, "{line}: {widest} columns\n{output}");
}

/// Result of a typed line.
#[derive(Debug)]
struct Said {
    code: Option<i32>,
    output: String,
    complaints: String,
}

impl Said {
    /// CPU time of the shell's children, user's and kernel's: the last line of `times`, such as `0m0.010s 0m0.020s`.
    fn of_children(&self) -> Duration {
        let last = self.output.lines().last().unwrap();
        let seconds = |time: &str| -> f64 {
            let (minutes, seconds) = time.trim_end_matches('s').split_once('m').unwrap();
            60.0 * minutes.parse::<f64>().unwrap() + seconds.parse::<f64>().unwrap()
        };
        Duration::from_secs_f64(last.split_whitespace().map(seconds).sum())
    }
}

/// Someone with nothing but the program.
struct Newcomer {
    place: Option<Place>,
}

impl Newcomer {
    fn new() -> Self {
        let place = Place::new();
        for folder in ["bin", "home"] {
            std::fs::create_dir(place.path().join(folder)).unwrap();
        }
        let linked = place.path().join("bin/wakepath");
        std::os::unix::fs::symlink(binary(), linked).unwrap();
        Self { place: Some(place) }
    }

    fn path(&self) -> &Path {
        self.place.as_ref().unwrap().path()
    }

    /// Puts a recorded run where an earlier measurement would be.
    fn has_a_run_of_before(&self) {
        let recorded = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/runs/format-1");
        let run = self.path().join("wakepath-runs/check-20250101T120000Z");
        std::fs::create_dir_all(&run).unwrap();
        for file in ["manifest.json", "samples.parquet"] {
            std::fs::copy(recorded.join(file), run.join(file)).unwrap();
        }
    }

    /// Types a line into a shell.
    fn type_(&mut self, line: &str, more: &str) -> Said {
        let place = self.place.take().unwrap();
        let path = std::env::var("PATH").unwrap_or_default();
        let path = format!("{}/bin:{path}", place.path().display());
        let home = place.path().join("home").display().to_string();
        let Finished {
            status,
            output,
            complaints,
            place,
            ..
        } = Start::shell_in(place, format!("{line} {more}").trim())
            .environment("PATH", &path)
            .environment("HOME", &home)
            .environment("BROWSER", "true")
            .finish();
        self.place = Some(place);
        Said {
            code: status.code(),
            output,
            complaints,
        }
    }

    /// The best of some: the machine may be busy.
    fn assert_show_is_quick(&mut self) {
        let times = (0..5).map(|_| self.type_("wakepath show >shown; times", "").of_children());
        let best = times.min().unwrap();
        assert!(best < SHOWN_WITHIN, "wakepath show: {best:?} at best");
    }

    fn assert_reports_are_small(&self) {
        let runs = std::fs::read_dir(self.path().join("wakepath-runs")).unwrap();
        let runs = runs.map(|run| run.unwrap().path());
        let checks: Vec<_> = runs
            .filter(|run| {
                run.file_name()
                    .unwrap()
                    .to_string_lossy()
                    .starts_with("check-")
            })
            .filter_map(|run| std::fs::metadata(run.join("report.html")).ok())
            .map(|report| report.len())
            .collect();
        assert!(!checks.is_empty(), "no report");
        assert!(
            checks.iter().all(|bytes| *bytes < REPORT_BYTES),
            "{checks:?} bytes"
        );
    }

    /// Except for the cache, which holds answers and nothing else.
    fn assert_home_is_empty(&self) {
        let names = |path: &str| -> Vec<String> {
            let entries = std::fs::read_dir(self.path().join("home").join(path)).unwrap();
            let name = |entry: std::fs::DirEntry| entry.file_name().to_string_lossy().into_owned();
            entries.map(|entry| name(entry.unwrap())).collect()
        };
        assert_eq!(names(""), [".cache"], "left in the home");
        assert_eq!(names(".cache"), ["wakepath"]);
        assert_eq!(names(".cache/wakepath"), ["answers"]);
        let is_digest =
            |name: &String| name.len() == 64 && name.bytes().all(|b| b.is_ascii_hexdigit());
        let answers = names(".cache/wakepath/answers");
        assert!(answers.iter().all(is_digest), "{answers:?}");
    }
}
