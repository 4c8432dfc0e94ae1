//! A headless Chromium, spoken to over its debugging pipe: JSON messages with a zero byte after
//! each (`--remote-debugging-pipe`). Nothing but the program itself is needed.

use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

/// The longest that the browser may be silent.
const PATIENCE: Duration = Duration::from_secs(60);

/// A browser with one page open.
pub struct Browser {
    child: Child,
    to: ChildStdin,
    from: Receiver<Value>,
    next: u64,
    session: Option<String>,
    events: Vec<Value>,
    _profile: tempfile::TempDir,
}

/// The browser's program, if there is one.
fn program() -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let places: Vec<PathBuf> = std::env::split_paths(&path).collect();
    ["chromium", "chromium-browser", "google-chrome"]
        .iter()
        .flat_map(|name| places.iter().map(move |place| place.join(name)))
        .find(|program| program.is_file())
}

impl Browser {
    /// A browser showing this file in a window of this size, all chapters unfolded; `None`, with a message,
    /// if there is no Chromium.
    pub fn showing(file: &Path, width: u32, height: u32) -> Option<Self> {
        let mut browser = Self::showing_as_it_is(file, width, height)?;
        browser.value(
            "document.querySelectorAll('details.chapter').forEach(one => { one.open = true; })",
        );
        // Wait until unfolded parts are laid out.
        let drawn = "new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))";
        browser.value(drawn);
        Some(browser)
    }

    /// The same as it comes, its chapters folded.
    pub fn showing_as_it_is(file: &Path, width: u32, height: u32) -> Option<Self> {
        let Some(program) = program() else {
            println!("not run: chromium is not installed");
            return None;
        };
        let mut browser = Self::start(&program);
        let blank = json!({ "url": "about:blank" });
        let target = browser.ask("Target.createTarget", blank)["targetId"].clone();
        let attach = json!({ "targetId": target, "flatten": true });
        let session = browser.ask("Target.attachToTarget", attach)["sessionId"].clone();
        browser.session = Some(session.as_str().unwrap().to_owned());
        for domain in ["Page", "Runtime", "Network", "Log"] {
            browser.ask(&format!("{domain}.enable"), json!({}));
        }
        let screen = json!({
            "width": width, "height": height, "deviceScaleFactor": 1, "mobile": false
        });
        browser.ask("Emulation.setDeviceMetricsOverride", screen);
        browser.load(file);
        Some(browser)
    }

    /// Goes to a file, and waits until it is there.
    pub fn load(&mut self, file: &Path) {
        self.events.clear();
        let url = format!("file://{}", file.display());
        self.ask("Page.navigate", json!({ "url": url }));
        self.wait_for("Page.loadEventFired");
    }

    fn start(program: &Path) -> Self {
        let profile = tempfile::tempdir().unwrap();
        // Descriptors 3 and 4 are the pipe; the shell puts our two ends there.
        let mut command = Command::new("sh");
        command
            .arg("-c")
            .arg("exec \"$0\" \"$@\" 3<&0 4>&1 0</dev/null 1>&2")
            .arg(program)
            .args([
                "--headless=new",
                "--remote-debugging-pipe",
                "--disable-gpu",
                "--disable-dev-shm-usage",
                "--disable-background-networking",
                "--no-first-run",
            ])
            .arg(format!("--user-data-dir={}", profile.path().display()));
        if rustix::process::geteuid().is_root() {
            // Chromium's sandbox refuses to be root's.
            command.arg("--no-sandbox");
        }
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let to = child.stdin.take().unwrap();
        let mut said = BufReader::new(child.stdout.take().unwrap());
        let (sender, from) = channel();
        std::thread::spawn(move || {
            let mut message = Vec::new();
            while said
                .read_until(0, &mut message)
                .is_ok_and(|length| length > 0)
            {
                message.pop();
                let message = std::mem::take(&mut message);
                if sender
                    .send(serde_json::from_slice(&message).unwrap())
                    .is_err()
                {
                    return;
                }
            }
        });
        Self {
            child,
            to,
            from,
            next: 0,
            session: None,
            events: Vec::new(),
            _profile: profile,
        }
    }

    /// Asks and waits for the answer.
    #[track_caller]
    pub fn ask(&mut self, method: &str, parameters: Value) -> Value {
        let answer = self.answer(method, parameters);
        answer.unwrap_or_else(|error| panic!("{method}: {error}"))
    }

    /// The same, where the browser may have no answer: a page that is being left has none.
    #[track_caller]
    pub fn answer(&mut self, method: &str, parameters: Value) -> Result<Value, Value> {
        self.next += 1;
        let id = self.next;
        let mut message = json!({ "id": id, "method": method, "params": parameters });
        if let Some(session) = &self.session {
            message["sessionId"] = json!(session);
        }
        self.to.write_all(message.to_string().as_bytes()).unwrap();
        self.to.write_all(&[0]).unwrap();
        loop {
            let said = self.hear();
            if said["id"] == json!(id) {
                return match said.get("error") {
                    Some(error) => Err(error.clone()),
                    None => Ok(said["result"].clone()),
                };
            }
            self.events.push(said);
        }
    }

    #[track_caller]
    fn hear(&self) -> Value {
        self.from
            .recv_timeout(PATIENCE)
            .expect("the browser says something")
    }

    #[track_caller]
    fn wait_for(&mut self, event: &str) {
        while !self.events.iter().any(|said| said["method"] == event) {
            let said = self.hear();
            self.events.push(said);
        }
    }

    /// The value of an expression in the page.
    #[track_caller]
    pub fn value(&mut self, expression: &str) -> Value {
        let ask = json!({
            "expression": expression, "returnByValue": true, "awaitPromise": true
        });
        let answer = self.ask("Runtime.evaluate", ask);
        assert!(
            answer.get("exceptionDetails").is_none(),
            "{expression}: {answer}"
        );
        answer["result"]["value"].clone()
    }

    /// The same as a text.
    #[track_caller]
    pub fn text(&mut self, expression: &str) -> String {
        self.value(expression)
            .as_str()
            .unwrap_or_default()
            // As it is read, and as a test is written.
            .replace('\u{a0}', " ")
    }

    /// Moves the pointer; `button` is `left` while one is held down.
    pub fn pointer(&mut self, kind: &str, x: f64, y: f64, button: &str, clicks: u32) {
        let held = u32::from(button == "left" && kind != "mouseReleased");
        let event = json!({
            "type": kind, "x": x, "y": y, "button": button, "buttons": held, "clickCount": clicks
        });
        self.ask("Input.dispatchMouseEvent", event);
    }

    /// Presses and releases a key that writes a character.
    pub fn key(&mut self, key: &str) {
        for kind in ["keyDown", "keyUp"] {
            self.ask(
                "Input.dispatchKeyEvent",
                json!({ "type": kind, "key": key, "text": key }),
            );
        }
    }

    /// Everything that the page complained of so far.
    pub fn complaints(&mut self) -> Vec<String> {
        // An answer comes after the events before it.
        self.value("0");
        let bad = |event: &&Value| match event["method"].as_str() {
            Some("Runtime.exceptionThrown" | "Runtime.consoleAPICalled") => true,
            Some("Log.entryAdded") => event["params"]["entry"]["level"] != "verbose",
            _ => false,
        };
        self.events
            .iter()
            .filter(bad)
            .map(ToString::to_string)
            .collect()
    }

    /// Addresses of everything that the page asked for.
    pub fn requests(&mut self) -> Vec<String> {
        self.value("0");
        let asked = self
            .events
            .iter()
            .filter(|event| event["method"] == "Network.requestWillBeSent");
        asked
            .map(|event| {
                event["params"]["request"]["url"]
                    .as_str()
                    .unwrap_or_default()
                    .to_owned()
            })
            .collect()
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        // Its own processes end with it.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
