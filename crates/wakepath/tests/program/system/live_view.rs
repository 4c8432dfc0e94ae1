//! The live view in a real terminal: what a person sees during a run and what is left after it.
//! The terminal is tmux's; the captured text is kept under the target folder for a person to read.

use crate::started::{Place, binary, loop_cpu, not_run};
use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};

wakepath_test_program::tests![
    the_live_view_shows_the_run_and_leaves_the_result_and_a_usable_terminal,
    ctrl_c_in_the_live_view_leaves_the_table_and_a_usable_terminal,
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
        terminal.wait_for("shell>", 20);
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
        match output.status.success() {
            true => Ok(String::from_utf8_lossy(&output.stdout).into_owned()),
            false => Err(String::from_utf8_lossy(&output.stderr).into_owned()),
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

    fn start_run(&self, duration: &str) {
        let scenario = format!(
            "name = \"test\"\nrate = \"250 Hz\"\nduration = \"{duration}\"\nwarm-up = \"200 ms\"\n\
             policies = [\"OTHER\", \"OTHER nice 5\"]\ncpu = {}\n\
             phases = [{{ name = \"idle\" }}, {{ name = \"cpu\", loads = [\"cpu\"] }}]\n\
             criterion = {{ miss-fraction = \"90 %\" }}\n",
            loop_cpu()
        );
        std::fs::write(self.place.path().join("scenario.toml"), scenario).unwrap();
        self.type_line("stty -a > before; echo ready");
        self.wait_for("\nready", 10);
        self.type_line(&format!(
            "{} run scenario.toml --directory run",
            binary().display()
        ));
    }

    /// After the run: the prompt is there, what is typed shows and works, the settings are those
    /// from before, the cursor is visible and nothing of ours runs.
    #[track_caller]
    fn assert_usable(&self) {
        let begun = Instant::now();
        while !self.screen().trim_end().ends_with("shell>") {
            let waited = begun.elapsed().as_secs();
            assert!(waited < 20, "no prompt:\n{}", self.text());
            std::thread::sleep(Duration::from_millis(50));
        }
        self.type_line("stty -a > after; echo code $((6*7))");
        self.wait_for("\ncode 42", 10);
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
    terminal.wait_for("1/4 segments", 20);
    std::thread::sleep(Duration::from_millis(700));
    let during = terminal.screen();
    terminal.wait_for("verdict:", 60);
    terminal.assert_usable();
    let after = terminal.text();
    keep("to-its-end", &[("during", &during), ("after", &after)]);

    for expected in [
        "OTHER nice 0",
        "OTHER nice 5",
        "idle",
        "cpu",
        "segments",
        "median",
        "skipped",
        "µs",
    ] {
        assert!(
            during.contains(expected),
            "{expected:?} is not in the view:\n{during}"
        );
    }
    assert!(after.contains("verdict: PASSED"), "{after}");
    assert!(after.contains("wake-up latency, µs"), "{after}");
    assert!(after.contains("recording: run"), "{after}");
    for leftover in ["/4 segments", "max wake-up latency"] {
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
    terminal.wait_for("0/4 segments", 20);
    std::thread::sleep(Duration::from_millis(2500));
    let during = terminal.screen();
    terminal.press("C-c");
    terminal.wait_for("verdict:", 10);
    terminal.assert_usable();
    let after = terminal.text();
    keep("ctrl-c", &[("during", &during), ("after", &after)]);
    assert!(after.contains("interrupted"), "{after}");
    assert!(after.contains("verdict: UNDECIDED"), "{after}");
    assert!(!after.contains("/4 segments"), "the view is left:\n{after}");
}
