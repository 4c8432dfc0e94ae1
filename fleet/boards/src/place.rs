//! A board's place in labgrid, and its power switch.
//!
//! Uses labgrid's own client and the coordinator that the environment names. The place is acquired
//! during a run, so that nobody else uses the board. It contacts no board.

use std::io::Read;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use wakepath_timeline::shortened;

/// A power cycle waits some seconds by itself.
const PATIENCE: Duration = Duration::from_secs(60);

/// The client's message if this user has the place already.
const OURS: &str = "You have already acquired";

/// Acquires a place. Returns whether it was free before; the caller then has to release it.
///
/// # Errors
/// The current holder, or another reason.
pub fn acquire(place: &str) -> Result<bool, String> {
    match client(place, &["acquire"]) {
        Ok(()) => Ok(true),
        Err(why) if why.contains(OURS) => Ok(false),
        Err(why) => Err(why),
    }
}

/// Releases a place.
///
/// # Errors
/// The client's message.
pub fn release(place: &str) -> Result<(), String> {
    client(place, &["release"])
}

/// Switches its power off and on. The coordinator lets only who has acquired a place do so.
pub(crate) fn cycle(place: &str) -> Result<(), String> {
    let is_new = acquire(place)?;
    let switched = client(place, &["power", "cycle"]);
    let released = if is_new { release(place) } else { Ok(()) };
    switched.and(released)
}

fn client(place: &str, words: &[&str]) -> Result<(), String> {
    let failed = |why: &dyn std::fmt::Display| format!("labgrid-client: {why}");
    let mut command = Command::new("labgrid-client");
    command.args(["-p", place]).args(words);
    let piped = command.stdin(Stdio::null()).stdout(Stdio::null());
    let mut child = piped
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| failed(&error))?;
    let mut said = child.stderr.take().expect("a pipe");
    let reader = std::thread::spawn(move || {
        let mut text = Vec::new();
        let _ = said.read_to_end(&mut text);
        String::from_utf8_lossy(&text).into_owned()
    });
    let until = Instant::now() + PATIENCE;
    let status = loop {
        match child.try_wait().map_err(|error| failed(&error))? {
            Some(status) => break status,
            None if Instant::now() > until => {
                let _ = child.kill();
                let _ = child.wait();
                return Err(failed(&format!("no end in {} s", PATIENCE.as_secs())));
            }
            None => std::thread::sleep(Duration::from_millis(20)),
        }
    };
    if status.success() {
        return Ok(());
    }
    Err(why(&reader.join().unwrap_or_default()))
}

/// The last line of the client's output, without its advice.
fn why(said: &str) -> String {
    let last = said.lines().map(str::trim).rfind(|line| !line.is_empty());
    let last = last.unwrap_or("labgrid-client: failed");
    let first = last.split(". To work simultaneously").next();
    shortened(first.unwrap_or(last).trim_end_matches('.'), 200)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reason_is_the_last_line_without_advice_on_how_to_share() {
        // labgrid 26.0.
        let said = "labgrid-client: Error: Place rack-3 is already acquired by pc/alice. To work simultaneously, alice can \
                    execute labgrid-client -p rack-3 allow vm/root\n";
        let expected = "labgrid-client: Error: Place rack-3 is already acquired by pc/alice";
        assert_eq!(why(said), expected);
        assert_eq!(why(""), "labgrid-client: failed");
    }
}
