//! Boots another entry once.
//!
//! The boot loader forgets it automatically, so that the boot after that is the usual one. A board
//! that does not come back is switched off and on at its place, if it has one.

use crate::answer::Hello;
use crate::inventory::Board;
use crate::place;
use crate::push::hello;
use crate::ssh::{CallError, Ssh};
use std::time::{Duration, Instant};

/// Result of a reboot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Rebooted {
    /// The requested kernel runs.
    As(Hello),
    /// The board is back, with another kernel.
    FellBack(Hello),
    /// It is back only after its power was switched.
    AfterPower(Hello),
    /// It did not come back.
    Lost(String),
}

/// The entry to boot.
#[derive(Debug, Clone)]
pub struct Boot {
    /// Boot loader: `auto`, `grub`, `systemd-boot`, `tryboot`, or `usual` for no special entry.
    pub how: String,
    /// The boot loader's name of the entry.
    pub entry: String,
    /// Text that `uname -r` must contain.
    pub kernel: String,
    /// Time limit of a boot.
    pub patience: Duration,
}

/// Between two looks.
const ROUND: Duration = Duration::from_secs(2);

/// Boots.
///
/// # Errors
/// If the board refuses, or can't be reached before; nothing is booted then.
pub fn reboot(ssh: &Ssh, board: &Board, boot: &Boot) -> Result<Rebooted, CallError> {
    let answer = ssh.call(board, &["reboot", &boot.how, &boot.entry], Vec::new())?;
    let before = answer.lines().find_map(|line| line.strip_prefix("boot "));
    let before =
        before.ok_or_else(|| CallError::NoAnswer("it did not say that it boots".into()))?;
    let is_right = |found: &Hello| found.kernel.contains(&boot.kernel);
    match back(ssh, board, before, boot.patience) {
        Ok(found) if is_right(&found) => Ok(Rebooted::As(found)),
        Ok(found) => Ok(Rebooted::FellBack(found)),
        Err(last) => match &board.place {
            // The entry was for one boot: the usual one starts now.
            Some(name) => match place::cycle(name) {
                Ok(()) => Ok(match back(ssh, board, before, boot.patience) {
                    Ok(found) => Rebooted::AfterPower(found),
                    Err(last) => {
                        Rebooted::Lost(format!("nor after its power was switched: {last}"))
                    }
                }),
                Err(why) => Ok(Rebooted::Lost(format!("{last}; its power: {why}"))),
            },
            None => Ok(Rebooted::Lost(last)),
        },
    }
}

/// Waits for another boot than `before`; the last error if none comes.
fn back(ssh: &Ssh, board: &Board, before: &str, patience: Duration) -> Result<Hello, String> {
    let until = Instant::now() + patience;
    loop {
        let last = match hello(ssh, board) {
            Ok(found) if found.boot != before => return Ok(found),
            Ok(_) => "it did not go down".into(),
            Err(error) => error.to_string(),
        };
        if Instant::now() > until {
            return Err(last);
        }
        std::thread::sleep(ROUND);
    }
}
