//! A pager for text that exceeds the screen: `$PAGER`, else `less -FRX`. It is started only if a person reads and can
//! type: standard input and output are both a terminal.

use std::io::{IsTerminal, Write};
use std::process::{Command, Stdio};

/// Whether a pager showed the text; otherwise it is still to be printed.
pub(super) fn shows(text: &str) -> bool {
    let (input, output) = (std::io::stdin(), std::io::stdout());
    if !input.is_terminal() || !output.is_terminal() || wakepath_programs::rights::any() {
        return false;
    }
    let rows = rustix::termios::tcgetwinsize(&output).map_or(0, |size| size.ws_row);
    // A terminal without a size can't be exceeded.
    if rows == 0 || text.lines().count() < usize::from(rows) {
        return false;
    }
    let chosen = std::env::var("PAGER")
        .ok()
        .filter(|pager| !pager.trim().is_empty());
    let chosen = chosen.as_deref().unwrap_or("less -FRX");
    let mut words = chosen.split_whitespace();
    let Some(program) = words.next().filter(|&program| program != "cat") else {
        return false;
    };
    let started = Command::new(program)
        .args(words)
        .stdin(Stdio::piped())
        .spawn();
    let Ok(mut pager) = started else {
        return false;
    };
    if let Some(mut input) = pager.stdin.take() {
        // A reader that quits early has seen enough.
        let _ = input.write_all(text.as_bytes());
    }
    let _ = pager.wait();
    true
}
