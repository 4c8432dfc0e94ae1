//! The live view in a real terminal: its screen during a run and what remains afterwards. Once in tmux,
//! with a shell that must be usable afterwards, and once in a terminal of 80, then 120 columns, whose
//! screen is read cell by cell. The captures are kept under the target folder for a person to look at.

use crate::started::{InTerminal, Place, binary, cpus, loop_cpu, not_run};
use rustix::process::Signal;
use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};

wakepath_test_program::tests![
    the_live_view_shows_the_run_and_leaves_the_result_and_a_usable_terminal,
    ctrl_c_in_the_live_view_leaves_the_table_and_a_usable_terminal,
    the_view_fits_80_and_120_columns_with_every_policy_whole_and_goes_without_a_trace,
];

/// A terminal of 120 by 40 with a shell in it, on a tmux server of its own.
struct Terminal {
    socket: String,
    place: Place,
}

impl Terminal {
    fn open() -> Result<Self, String> {
        let place = Place::new();
        let terminal = Self {
            socket: place.mark().to_owned(),
            place,
        };
        let shell = [
            "new-session",
            "-d",
            "-x",
            "120",
            "-y",
            "40",
            "env PS1='shell> ' sh",
        ];
        terminal
            .tmux(&shell)
            .map_err(|error| format!("tmux: {error}"))?;
        terminal.wait_for("shell>", 60);
        Ok(terminal)
    }

    fn tmux(&self, arguments: &[&str]) -> Result<String, String> {
        let output = Command::new("tmux")
            .args(["-L", &self.socket, "-f", "/dev/null"])
            .args(arguments)
            .current_dir(self.place.path())
            .env("WAKEPATH_TEST", self.place.mark())
            .env("SHELL", "/bin/sh")
            .env_remove("TMUX")
            .output()
            .map_err(|error| error.to_string())?;
        if output.status.success() {
            Ok(String::from_utf8_lossy(&output.stdout).into_owned())
        } else {
            Err(String::from_utf8_lossy(&output.stderr).into_owned())
        }
    }

    fn type_line(&self, line: &str) {
        self.tmux(&["send-keys", "-l", line]).unwrap();
        self.tmux(&["send-keys", "Enter"]).unwrap();
    }

    fn press(&self, key: &str) {
        self.tmux(&["send-keys", key]).unwrap();
    }

    /// The screen with what has scrolled out of it.
    fn text(&self) -> String {
        self.tmux(&["capture-pane", "-p", "-J", "-S", "-"]).unwrap()
    }

    fn screen(&self) -> String {
        self.tmux(&["capture-pane", "-p"]).unwrap()
    }

    #[track_caller]
    fn wait_for(&self, text: &str, patience: u64) {
        let begun = Instant::now();
        let mut screen = self.text();
        while !screen.contains(text) {
            let waited = begun.elapsed().as_secs();
            assert!(
                waited < patience,
                "no {text:?} within {patience} s:\n{screen}"
            );
            std::thread::sleep(Duration::from_millis(50));
            screen = self.text();
        }
    }

    /// The screen, once all of this is on it at the same time.
    #[track_caller]
    fn wait_for_screen(&self, texts: &[&str]) -> String {
        let begun = Instant::now();
        loop {
            let screen = self.screen();
            let Some(missing) = texts.iter().find(|text| !screen.contains(**text)) else {
                return screen;
            };
            let waited = begun.elapsed().as_secs();
            assert!(waited < 60, "no {missing:?} in the view:\n{screen}");
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    fn start_run(&self, duration: &str) {
        let scenario = format!(
            "name = \"test\"\nrate = \"250 Hz\"\nduration = \"{duration}\"\nwarm-up = \"200 ms\"\n\
             policies = [\"OTHER\", \"OTHER nice 5\"]\ncpu = {}\n\
             phases = [{{ name = \"idle\" }}, {{ name = \"cpu\", loads = [\"cpu\"] }}]\n\
             criterion = {{ miss-fraction = \"99.9999 %\" }}\n",
            loop_cpu()
        );
        std::fs::write(self.place.path().join("scenario.toml"), scenario).unwrap();
        self.type_line("stty -a > before; echo ready");
        self.wait_for("\nready", 60);
        self.type_line(&format!(
            "{} run scenario.toml --directory run",
            binary().display()
        ));
    }

    /// After the run: the prompt is there, input is echoed and works, the settings are those from before,
    /// the cursor is visible and no process of wakepath runs.
    #[track_caller]
    fn assert_usable(&self) {
        let begun = Instant::now();
        while !self.screen().trim_end().ends_with("shell>") {
            let waited = begun.elapsed().as_secs();
            assert!(waited < 60, "no prompt:\n{}", self.text());
            std::thread::sleep(Duration::from_millis(50));
        }
        self.type_line("stty -a > after; echo code $((6*7))");
        self.wait_for("\ncode 42", 60);
        let echoed = self.text();
        assert!(
            echoed.contains("echo code $((6*7))"),
            "typing does not show:\n{echoed}"
        );
        let kept = |name: &str| std::fs::read_to_string(self.place.path().join(name)).unwrap();
        assert_eq!(kept("after"), kept("before"), "the terminal's settings");
        let flags = [
            "display-message",
            "-p",
            "#{cursor_flag} #{alternate_on} #{mouse_any_flag}",
        ];
        assert_eq!(
            self.tmux(&flags).unwrap().trim(),
            "1 0 0",
            "cursor, alternate screen, mouse"
        );
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        let _ = self.tmux(&["kill-server"]);
    }
}

/// Keeps what was captured for a person to look at.
fn keep(name: &str, parts: &[(&str, &str)]) {
    let mut path = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    path.push(format!("live-view-{name}.txt"));
    let text: String = parts
        .iter()
        .map(|(title, text)| format!("=== {title}\n{text}\n"))
        .collect();
    match std::fs::write(&path, text) {
        Ok(()) => println!("captured: {}", path.display()),
        Err(error) => println!("not captured: {}: {error}", path.display()),
    }
}

fn the_live_view_shows_the_run_and_leaves_the_result_and_a_usable_terminal() {
    let terminal = match Terminal::open() {
        Ok(terminal) => terminal,
        Err(why) => not_run("the live view", &why),
    };
    terminal.start_run("3 s");
    // The second policy's row comes with its first figures, and both are there until the last segment's end.
    let during = terminal.wait_for_screen(&[
        "OTHER nice 0",
        "OTHER nice 5",
        "segments",
        "latency over time",
        "median",
        "missed",
        "left",
        "µs",
    ]);
    terminal.wait_for("verdict:", 60);
    terminal.assert_usable();
    let after = terminal.text();
    keep("to-its-end", &[("during", &during), ("after", &after)]);

    assert!(after.contains("verdict: PASSED"), "{after}");
    assert!(after.contains("missed"), "{after}");
    assert!(after.contains("recording: run"), "{after}");
    for leftover in ["of 4 segments", "latency over time"] {
        assert!(
            !after.contains(leftover),
            "{leftover:?} of the view is left:\n{after}"
        );
    }
}

fn ctrl_c_in_the_live_view_leaves_the_table_and_a_usable_terminal() {
    let terminal = match Terminal::open() {
        Ok(terminal) => terminal,
        Err(why) => not_run("Ctrl-C in the live view", &why),
    };
    terminal.start_run("20 s");
    let during = terminal.wait_for_screen(&["0 of 4 segments", "µs"]);
    terminal.press("C-c");
    terminal.wait_for("verdict:", 60);
    terminal.assert_usable();
    let after = terminal.text();
    keep("ctrl-c", &[("during", &during), ("after", &after)]);
    assert!(after.contains("interrupted"), "{after}");
    assert!(after.contains("verdict: UNDECIDED"), "{after}");
    assert!(
        !after.contains("of 4 segments"),
        "the view is left:\n{after}"
    );
}

/// At 80 columns the view truncates nothing that it shows.
fn the_view_fits_80_and_120_columns_with_every_policy_whole_and_goes_without_a_trace() {
    let place = Place::new();
    let two = cpus();
    let tasks = match two.len() {
        1 => format!(
            "[[tasks]]\nname = \"control\"\ncpu = {}\nperiod = \"4 ms\"\n",
            two[0]
        ),
        _ => format!(
            "[[tasks]]\nname = \"control\"\ncpu = {}\nperiod = \"4 ms\"\n\
             [[tasks]]\nname = \"estimator\"\ncpu = {}\nperiod = \"10 ms\"\n",
            two[0], two[1]
        ),
    };
    let scenario = format!(
        "name = \"test\"\nduration = \"4 s\"\nwarm-up = \"100 ms\"\n\
         policies = [\"OTHER nice 19\", \"BATCH nice 19\", \"OTHER\"]\n\
         phases = [{{ name = \"idle\" }}, {{ name = \"processor\", loads = [\"cpu\"] }}]\n\
         criterion = {{ miss-fraction = \"99.9999 %\" }}\n{tasks}"
    );
    std::fs::write(place.path().join("scenario.toml"), scenario).unwrap();
    let words = ["run", "scenario.toml", "--directory", "run"];
    let mut terminal = InTerminal::start(place, &words, 80, 24);
    // A task's row comes with its first cycle, which may be some periods after the other's.
    let has_both = |screen: &[String]| {
        two[..two.len().min(2)].iter().all(|cpu| {
            let is_its = |line: &String| line.starts_with(&format!("{cpu:>3} "));
            screen
                .iter()
                .any(|line| is_its(line) && line.contains("µs"))
        })
    };
    let narrow = terminal.wait_until("a measured policy", |screen| {
        let is_measured = |line: &String| line.starts_with("OTHER nice 19") && line.contains("µs");
        screen.iter().any(is_measured) && has_both(screen)
    });
    let bold = terminal.look(|screen| {
        let (rows, columns) = screen.size();
        let cells = (0..rows).flat_map(|row| (0..columns).map(move |column| (row, column)));
        let cells = cells.filter_map(|(row, column)| screen.cell(row, column));
        cells.filter(|cell| cell.bold()).count()
    });
    terminal.resize(120, 40);
    let wide = terminal.wait_until("120 columns", |screen| {
        screen.iter().any(|line| line.chars().count() > 85) && has_both(screen)
    });
    for (screen, columns) in [(&narrow, 80), (&wide, 120)] {
        let shown = screen.join("\n");
        for whole in [
            "OTHER nice 19",
            "BATCH nice 19",
            "OTHER nice 0",
            "missed",
            "median",
            "max",
        ] {
            assert!(shown.contains(whole), "{whole} at {columns}:\n{shown}");
        }
        assert!(!shown.contains('…'), "cut at {columns}:\n{shown}");
        for line in screen {
            assert!(line.chars().count() < columns, "{line:?} at {columns}");
        }
        for cpu in &two[..two.len().min(2)] {
            let of = |line: &&String| line.starts_with(&format!("{cpu:>3} "));
            let line = screen.iter().find(of);
            assert!(
                line.is_some_and(|line| line.contains("µs")),
                "CPU {cpu}:\n{shown}"
            );
        }
        assert!(
            shown.contains("of 6 segments") && shown.contains(" left"),
            "{shown}"
        );
    }
    assert!(bold > 0, "nothing is emphasised on a terminal");
    // Ending it leaves the answer alone on the screen.
    crate::started::kill(terminal.main(), Signal::INT);
    let status = terminal.end();
    let after = terminal.wait_until("the answer", |screen| {
        screen.iter().any(|line| line.contains("recording: run"))
    });
    keep(
        "widths",
        &[
            ("80 columns", &narrow.join("\n")),
            ("120 columns", &wide.join("\n")),
            ("after", &after.join("\n")),
        ],
    );
    let after = after.join("\n");
    assert_eq!(status.code(), Some(3), "{after}");
    assert!(
        !after.contains("of 6 segments"),
        "the view is left:\n{after}"
    );
}
