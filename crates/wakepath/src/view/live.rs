//! The live view: the state, drawn again in place a few times a second at the bottom of the
//! terminal, by a thread at ordinary priority on the CPUs of its process, which are not the
//! measured ones. It takes part in nothing: a terminal that stalls stops only this thread.

use super::lines::lines;
use super::standing::Shared;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use wakepath_console::terminal::{self, Area};
use wakepath_report::Style;

/// Between two drawings: enough for a person, nothing for a CPU.
const REDRAW_EVERY: Duration = Duration::from_millis(250);
/// How long the end waits for a terminal that takes nothing (Ctrl-S).
const PATIENCE: Duration = Duration::from_secs(1);

/// A view that is being drawn.
pub struct LiveView {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl LiveView {
    /// Draws until it is stopped; `None` without a terminal to draw on.
    pub fn start(standing: Shared) -> Option<Self> {
        terminal::size()?;
        let stop = Arc::new(AtomicBool::new(false));
        let told = Arc::clone(&stop);
        let draw = move || {
            let mut area = Area::default();
            let style = Style::of_stderr();
            while !told.load(Ordering::Acquire) {
                let Some((columns, rows)) = terminal::size() else {
                    break;
                };
                // Copied out, so that nobody waits for a terminal.
                let now = standing.lock().clone();
                area.show(
                    &lines(&now, style, columns, rows.saturating_sub(1)),
                    columns,
                );
                std::thread::park_timeout(REDRAW_EVERY);
            }
            area.clear(terminal::size().map_or(80, |size| size.0));
        };
        let thread = std::thread::Builder::new().name("view".into());
        let thread = thread.spawn(draw).ok()?;
        Some(Self {
            stop,
            thread: Some(thread),
        })
    }

    /// Takes the view away: the result comes in its place.
    pub fn end(&mut self) {
        let Some(thread) = self.thread.take() else {
            return;
        };
        self.stop.store(true, Ordering::Release);
        thread.thread().unpark();
        let asked = Instant::now();
        while !thread.is_finished() && asked.elapsed() < PATIENCE {
            std::thread::sleep(Duration::from_millis(5));
        }
        if thread.is_finished() {
            // One that panicked has printed it.
            let _ = thread.join();
        }
    }
}

impl Drop for LiveView {
    fn drop(&mut self) {
        self.end();
    }
}
