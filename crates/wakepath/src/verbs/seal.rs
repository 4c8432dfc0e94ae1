//! `wakepath seal`: a run's files listed with their digests, and the list signed.

mod agent;

use crate::command_line::Seal;
use crate::seal_files::{digests, text_of};
use std::path::Path;
use std::process::ExitCode;
use std::time::{SystemTime, UNIX_EPOCH};
use wakepath_archive::{Finding, Manifest, Run, State, command_about, shell_word};
use wakepath_console::run_directory::trust;
use wakepath_console::terminal::{OneLine, print};
use wakepath_console::{Outcome, VERSION, runs};
use wakepath_directory::{Directory, empty_directories};
use wakepath_evidence::{
    Envelope, Job, KeyError, MOST_SEAL_BYTES, Predicate, PrivateKey, PublicKey, SEAL_NAME, Sealed,
    Statement, message, written,
};
use wakepath_timeline::{one_line, quoted};
use wakepath_verdict::counted;

/// Signs.
pub fn run(arguments: &Seal) -> Outcome {
    let place = runs::find(arguments.run.as_deref())?;
    let board = board(arguments.board.as_deref())?;
    let job = job(arguments)?;
    let key = text_of(&arguments.key)?;
    let certificate = arguments.certificate.as_deref().map(text_of).transpose()?;
    let directory = Directory::to_write(&place, trust(arguments.trust_directory))?;
    if directory.holds(SEAL_NAME) {
        return Err(format!(
            "{}: sealed already, and checked by `{}`; remove that file to seal the run as it is now",
            directory.path_of(SEAL_NAME).in_one_line(),
            command_about("verify", &place.display().to_string(), "--trust FILE")
        )
        .into());
    }
    let manifest = whole(&directory)?;
    if let Some(empty) = empty_directories(&place)?.first() {
        return Err(format!(
            "{}: holds nothing, so that no seal can cover it; remove it",
            place.join(empty).in_one_line()
        )
        .into());
    }
    let files = digests(&place)?;
    let count = files.len();
    let predicate = Predicate {
        board: board.clone(),
        job,
        run: manifest.run_id,
        started: manifest.started,
        sealed: written(SystemTime::now().duration_since(UNIX_EPOCH)?.as_secs()),
        tool: format!("wakepath {VERSION}"),
    };
    let sealed = message(&Statement::about(files, predicate));
    let envelope = signed(&arguments.key, &key, sealed, certificate.as_deref())?;
    let fingerprint = envelope.signatures[0].key.clone();
    let bytes = envelope.to_bytes();
    if bytes.len() as u64 > MOST_SEAL_BYTES {
        return Err(format!(
            "{}: {count} files are too many for one seal",
            place.in_one_line()
        )
        .into());
    }
    directory.put(SEAL_NAME, &bytes)?;
    let next = command_about(
        "verify",
        &place.display().to_string(),
        &format!("--trust FILE --board {}", shell_word(&board)),
    );
    print(&format!(
        "{}: sealed as a run of {board}: {} signed by {fingerprint}\nnext: {next}\n",
        place.in_one_line(),
        counted(count as u64, "file", "files")
    ))?;
    Ok(ExitCode::SUCCESS)
}

/// The manifest of a run that has ended and is as it was written.
fn whole(directory: &Directory) -> Result<Manifest, Box<dyn std::error::Error>> {
    let run = Run::open_exact_in(directory)?;
    let place = directory.path().in_one_line();
    if *run.state() != State::Finished {
        let recover = command_about("recover", &directory.path().display().to_string(), "");
        return Err(format!("{place}: has no end yet; `{recover}` makes it a run").into());
    }
    let findings = run.check()?;
    // An incomplete run is evidence too, and lists what is missing.
    match findings.iter().find(|of| matches!(of, Finding::File(_))) {
        Some(altered) => Err(format!("{place}: {altered}").into()),
        None => Ok(run.manifest),
    }
}

/// The job that the run was ordered for.
fn job(arguments: &Seal) -> Result<Option<Job>, String> {
    let (Some(name), Some(scenario)) = (&arguments.job, &arguments.scenario_sha256) else {
        return Ok(None);
    };
    let is_digest = |text: &str| {
        let is_right = |b: u8| matches!(b, b'0'..=b'9' | b'a'..=b'f');
        text.len() == 64 && text.bytes().all(is_right)
    };
    if !is_digest(scenario) {
        let given = quoted(scenario);
        return Err(format!(
            "--scenario-sha256 {given}: a digest has 64 digits of 0 to 9 and a to f"
        ));
    }
    Ok(Some(Job {
        name: named("--job", "a job", name)?,
        scenario_sha256: scenario.clone(),
    }))
}

fn board(given: Option<&str>) -> Result<String, String> {
    let host = rustix::system::uname()
        .nodename()
        .to_string_lossy()
        .into_owned();
    named("--board", "a board", given.unwrap_or(&host))
}

/// A name that no shell and no list takes for anything else.
fn named(option: &str, what: &str, name: &str) -> Result<String, String> {
    let is_right = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
    if !name.is_empty() && name.len() <= 64 && name.chars().all(is_right) {
        Ok(name.to_owned())
    } else {
        Err(format!(
            "{option} {}: {what}'s name has letters, digits, `.`, `_` and `-`, 64 at most",
            quoted(name)
        ))
    }
}

/// The envelope, signed by the key itself or by the agent that has it.
fn signed(
    path: &Path,
    text: &str,
    sealed: Sealed,
    certificate: Option<&str>,
) -> Result<Envelope, String> {
    let path = one_line(&path.display().to_string());
    let (key, signature) = match PrivateKey::from_openssh(text) {
        Ok(key) => (key.public(), key.sign(&sealed.message())),
        Err(KeyError::Public) if agent::socket().is_some() => {
            let key = PublicKey::from_line(text).map_err(|error| format!("{path}: {error}"))?;
            let signature = agent::sign(&key, &sealed.message());
            (key, signature.map_err(|error| format!("{path}: {error}"))?)
        }
        Err(error) => return Err(format!("{path}: {error}")),
    };
    let envelope = wakepath_evidence::seal(sealed, &key, signature, certificate);
    envelope.ok_or_else(|| match certificate {
        Some(_) => {
            format!("--certificate: no certificate of this key ({path}) that its authority signed")
        }
        None => format!("{path}: the agent's signature is not this key's"),
    })
}
