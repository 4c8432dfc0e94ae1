//! Installs the script and the right program on a board.
//!
//! A board that measures is left alone.

use crate::answer::{self, Hello};
use crate::inventory::Board;
use crate::program::{Machine, Program};
use crate::ssh::{CallError, Ssh};
use sha2::{Digest, Sha256};

/// The script that runs on boards; its first lines describe it.
pub const SCRIPT: &str = include_str!("board.sh");

/// Result of a push.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Pushed {
    /// The program is there now.
    Now,
    /// It was there.
    Before,
}

/// Asks a board for its description.
///
/// # Errors
/// If it does not answer.
pub fn hello(ssh: &Ssh, board: &Board) -> Result<Hello, CallError> {
    let answer = ssh.call(board, &["hello"], Vec::new())?;
    answer::hello(&answer).ok_or_else(|| CallError::NoAnswer("another program answered".into()))
}

/// Puts script and program there.
///
/// # Errors
/// An unreachable board, one that measures, one without a program for it, and its own refusals.
pub fn push(ssh: &Ssh, board: &Board, programs: &[Program]) -> Result<(Hello, Pushed), CallError> {
    let refused = |why: String| CallError::Refused(why);
    // Before anything is written: a board that measures is not disturbed.
    if let Ok(known) = hello(ssh, board)
        && let Some(job) = known.measuring
    {
        return Err(refused(format!(
            "{job} is measuring: not disturbed; push again when it has ended"
        )));
    }
    put_script(ssh, board)?;
    let found = hello(ssh, board)?;
    if let [first, ..] = &found.lacks[..] {
        return Err(refused(format!(
            "it lacks {first}: install coreutils and util-linux, or busybox"
        )));
    }
    let machine = Machine::new(&found.arch).ok_or_else(|| {
        refused(format!(
            "it is a {} machine, which there is no program for",
            found.arch
        ))
    })?;
    let program = programs
        .iter()
        .find(|program| program.machine == machine)
        .ok_or_else(|| {
            refused(format!(
                "it needs a program for {}: give one by --program",
                machine.name()
            ))
        })?;
    if found.program.as_deref() == Some(&program.sha256) {
        return Ok((found, Pushed::Before));
    }
    let needed = program.bytes.len() as u64 / 1024 + 1024;
    if found.free_kib < needed {
        return Err(refused(format!(
            "no room: {} KiB are free, {needed} KiB are needed",
            found.free_kib
        )));
    }
    let answer = ssh.call(
        board,
        &["take-program", &program.sha256],
        program.bytes.clone(),
    )?;
    if answer.trim() == format!("taken {}", program.sha256) {
        Ok((found, Pushed::Now))
    } else {
        Err(CallError::NoAnswer("the program was not taken".into()))
    }
}

/// Replaces the script in one step, and compares it with the one sent.
fn put_script(ssh: &Ssh, board: &Board) -> Result<(), CallError> {
    let directory = &board.directory;
    let digest: String = Sha256::digest(SCRIPT)
        .iter()
        .map(|b| format!("{b:02x}"))
        .collect();
    // Words for a shell; the directory's characters were checked when the inventory was read.
    let put = format!(
        "umask 077; mkdir -p {directory} && cd {directory} && cat > .board.new && sha256sum < .board.new && \
         mv .board.new board"
    );
    let answer = ssh.command(board, &[&put], SCRIPT.as_bytes().to_vec())?;
    if answer.split_whitespace().next() == Some(&digest) {
        Ok(())
    } else {
        Err(CallError::NoAnswer(
            "the script did not arrive whole".into(),
        ))
    }
}
