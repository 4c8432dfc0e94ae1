//! A command in a pseudo-terminal, and what a terminal would show of it: a parser of terminals'
//! language keeps the screen.

use super::{Place, binary};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};
use std::fs::File;
use std::io::{Read, Write};
use std::process::{Child, Command, ExitStatus};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// A started command and its screen.
pub struct InTerminal {
    child: Child,
    terminal: File,
    parser: Arc<Mutex<vt100::Parser>>,
    /// Goes with the value, or on with the next.
    place: Option<Place>,
}

impl InTerminal {
    /// Starts the command in a terminal of this size.
    pub fn start(place: Place, arguments: &[&str], columns: u16, lines: u16) -> Self {
        // Put all of the output on the screen.
        Self::start_with_pager("cat", place, arguments, (columns, lines))
    }

    /// As [`InTerminal::start`], with this pager.
    pub fn start_with_pager(
        pager: &str,
        place: Place,
        arguments: &[&str],
        (columns, lines): (u16, u16),
    ) -> Self {
        let terminal = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&terminal).unwrap();
        unlockpt(&terminal).unwrap();
        let name = ptsname(&terminal, Vec::new()).unwrap();
        let other = || {
            let path = name.to_str().unwrap();
            File::options().read(true).write(true).open(path).unwrap()
        };
        tcsetwinsize(&terminal, size(columns, lines)).unwrap();
        let child = Command::new(binary())
            .args(arguments)
            .current_dir(place.path())
            .env("WAKEPATH_TEST", place.mark())
            .env("TERM", "xterm-256color")
            .env("PAGER", pager)
            .env_remove("NO_COLOR")
            .stdin(other())
            .stdout(other())
            .stderr(other())
            .spawn()
            .unwrap();
        let terminal = File::from(terminal);
        let parser = Arc::new(Mutex::new(vt100::Parser::new(lines, columns, 1000)));
        let (mut output, shown) = (terminal.try_clone().unwrap(), Arc::clone(&parser));
        std::thread::spawn(move || {
            let mut bytes = [0; 4096];
            // The end of the last writer is an error of this side.
            while let Ok(count @ 1..) = output.read(&mut bytes) {
                shown.lock().unwrap().process(&bytes[..count]);
            }
        });
        Self {
            child,
            terminal,
            parser,
            place: Some(place),
        }
    }

    /// Process id of the command.
    pub fn main(&self) -> i32 {
        self.child.id() as i32
    }

    /// Types a line.
    pub fn type_line(&self, line: &str) {
        (&self.terminal)
            .write_all(format!("{line}\n").as_bytes())
            .unwrap();
    }

    /// As when a person drags the window's corner.
    pub fn resize(&self, columns: u16, lines: u16) {
        tcsetwinsize(&self.terminal, size(columns, lines)).unwrap();
        let mut parser = self.parser.lock().unwrap();
        parser.screen_mut().set_size(lines, columns);
    }

    /// The terminal's current screen, line by line.
    pub fn screen(&self) -> Vec<String> {
        let parser = self.parser.lock().unwrap();
        let columns = parser.screen().size().1;
        parser.screen().rows(0, columns).collect()
    }

    /// Looks at the parsed screen itself.
    pub fn look<A>(&self, at: impl FnOnce(&vt100::Screen) -> A) -> A {
        at(self.parser.lock().unwrap().screen())
    }

    /// Waits until the screen is as it shall be.
    #[track_caller]
    pub fn wait_until(&self, what: &str, is_so: impl Fn(&[String]) -> bool) -> Vec<String> {
        let begun = Instant::now();
        loop {
            let screen = self.screen();
            if is_so(&screen) {
                return screen;
            }
            let shown = screen.join("\n");
            assert!(
                begun.elapsed().as_secs() < 60,
                "{what}: not shown:\n{shown}"
            );
            std::thread::sleep(Duration::from_millis(30));
        }
    }

    /// Its place, for the next command.
    pub fn place(mut self) -> Place {
        self.place.take().unwrap()
    }

    /// Waits for its end.
    #[track_caller]
    pub fn end(&mut self) -> ExitStatus {
        let begun = Instant::now();
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status;
            }
            assert!(
                begun.elapsed().as_secs() < 120,
                "{}",
                self.screen().join("\n")
            );
            std::thread::sleep(Duration::from_millis(30));
        }
    }
}

impl Drop for InTerminal {
    fn drop(&mut self) {
        // One that has ended needs no kill.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn size(columns: u16, lines: u16) -> Winsize {
    Winsize {
        ws_row: lines,
        ws_col: columns,
        ws_xpixel: 0,
        ws_ypixel: 0,
    }
}
