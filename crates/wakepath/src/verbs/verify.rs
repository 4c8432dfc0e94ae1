//! `wakepath verify`: a run's seal held against its files, a trust file and the time.

use crate::command_line::Verify;
use crate::seal_files::{digests, text_of};
use std::fmt::Write;
use std::path::Path;
use std::process::ExitCode;
use std::time::{SystemTime, UNIX_EPOCH};
use wakepath_archive::command_about;
use wakepath_console::terminal::{OneLine, print_result};
use wakepath_console::{Outcome, runs};
use wakepath_directory::{Directory, empty_directories};
use wakepath_evidence::{
    FileDigest, MOST_SEAL_BYTES, NOT_PROVEN, SEAL_NAME, Trust, Verification, instant, verify,
};
use wakepath_timeline::one_line;
use wakepath_verdict::counted;

/// Maximum number of findings shown; the rest is counted.
const MOST_SAID: usize = 20;

/// Looks.
pub fn run(arguments: &Verify) -> Outcome {
    let place = runs::find(arguments.run.as_deref())?;
    let trust_file = one_line(&arguments.trust.display().to_string());
    let trust = Trust::parse(&text_of(&arguments.trust)?);
    let trust = trust.map_err(|error| format!("{trust_file}: {error}"))?;
    let now = match &arguments.at {
        Some(time) => instant(time).map_err(|error| format!("--at {error}"))?,
        None => SystemTime::now().duration_since(UNIX_EPOCH)?.as_secs(),
    };
    let seal = seal(&place)?;
    let mut files = digests(&place)?;
    // No file shows them, and no seal covers one: each was added.
    files.extend(
        empty_directories(&place)?
            .into_iter()
            .map(|name| FileDigest {
                name,
                sha256: String::new(),
            }),
    );
    let found = verify(&seal, &files, &trust, now, arguments.board.as_deref());
    let found = found.map_err(|error| {
        let error = one_line(&error.to_string());
        format!("{}: {error}", place.join(SEAL_NAME).display())
    })?;
    let said = if arguments.json {
        json(&found)
    } else {
        text(&place, &found, arguments.board.is_none())?
    };
    print_result(arguments.json, &said)?;
    Ok(ExitCode::from(if found.is_good() { 0 } else { 2 }))
}

fn seal(place: &Path) -> Result<Vec<u8>, Box<dyn std::error::Error>> {
    let directory = Directory::to_read(place).map_err(|e| format!("{}: {e}", place.display()))?;
    let path = directory.path_of(SEAL_NAME);
    let path = path.in_one_line();
    if !directory.holds(SEAL_NAME) {
        return Err(format!(
            "{path}: not there: this run is not sealed; `{}` seals it",
            command_about("seal", &place.display().to_string(), "--key FILE")
        )
        .into());
    }
    let length = directory
        .length(SEAL_NAME)
        .map_err(|e| format!("{path}: {e}"))?;
    if length > MOST_SEAL_BYTES {
        return Err(format!("{path}: {length} bytes are not a seal").into());
    }
    let bytes = directory
        .read(SEAL_NAME)
        .map_err(|e| format!("{path}: {e}"))?;
    Ok(bytes.unwrap_or_default())
}

fn text(place: &Path, found: &Verification, is_any_board: bool) -> Result<String, std::fmt::Error> {
    let mut text = String::new();
    let place = place.in_one_line();
    let of = &found.predicate;
    let (board, run) = (one_line(&of.board), one_line(&of.run));
    match &found.key {
        _ if !found.is_good() => {
            writeln!(text, "NOT VERIFIED: {place}")?;
            for finding in found.findings.iter().take(MOST_SAID) {
                writeln!(text, "  {finding}")?;
            }
            if let Some(more) = found
                .findings
                .len()
                .checked_sub(MOST_SAID)
                .filter(|n| *n > 0)
            {
                writeln!(text, "  and {more} more; --json has all")?;
            }
        }
        Some(key) => {
            let files = counted(found.files as u64, "file", "files");
            writeln!(
                text,
                "VERIFIED: {place}: a run of {board}; {files} as sealed"
            )?;
            writeln!(text, "  key: {}", key.fingerprint())?;
        }
        None => {}
    }
    writeln!(text, "  run: {run}, begun {}", one_line(&of.started))?;
    writeln!(
        text,
        "  sealed: {}, by {}",
        one_line(&of.sealed),
        one_line(&of.tool)
    )?;
    if found.is_good() {
        writeln!(text, "not proven by a seal:")?;
        for line in NOT_PROVEN {
            writeln!(text, "  {line}")?;
        }
        if is_any_board {
            writeln!(
                text,
                "  that it is the run of the board you mean: --board NAME asks that"
            )?;
        }
    }
    Ok(text)
}

fn json(found: &Verification) -> String {
    let findings = found.findings.iter().map(|finding| {
        serde_json::json!({
            "finding": finding.name(), "file": finding.file(), "text": finding.to_string(),
        })
    });
    let value = serde_json::json!({
        "verified": found.is_good(),
        "board": found.predicate.board,
        "run": found.predicate.run,
        "started": found.predicate.started,
        "sealed": found.predicate.sealed,
        "tool": found.predicate.tool,
        "files": found.files,
        "key": found.key.map(|key| key.fingerprint()),
        "public_key_pem": found.key.map(|key| key.pem()),
        "findings": findings.collect::<Vec<_>>(),
        "not_proven": NOT_PROVEN,
    });
    format!("{value:#}\n")
}
