//! `wakepath-fleet run`: begins a scenario on boards, with records before and after.

use super::{Outcome, let_go, meant, now, ssh};
use crate::command_line::Run;
use crate::terminal::print;
use sha2::{Digest, Sha256};
use std::path::Path;
use std::process::ExitCode;
use wakepath_evidence::compact;
use wakepath_fleet_boards::{
    Board, Journal, JournalError, Record, Scenario, Ssh, Stage, each, place, start,
};
use wakepath_scenario::{KnownCpus, builtin};

/// A scenario is text that someone typed.
const MOST_BYTES: u64 = 1 << 20;

/// The scenario to run, checked before any board is asked.
struct Planned {
    name: String,
    scenario: Scenario,
    sha256: String,
    takes: u64,
}

/// The job that was begun.
pub struct Begun {
    /// The job.
    pub job: String,
    /// Its records on the selected boards.
    pub records: Vec<Record>,
    takes: u64,
}

/// Begins the job and prints the result.
pub fn run(arguments: &Run) -> Outcome {
    let Begun {
        job,
        records,
        takes,
    } = begin(arguments)?;
    let width = records.iter().map(|record| record.board.len()).max();
    let width = width.unwrap_or(0);
    let (mut text, mut missing) = (String::new(), 0);
    for record in &records {
        let said = match &record.stage {
            Stage::Planned { why } => {
                missing += 1;
                format!("not begun: {}", why.as_deref().unwrap_or("not tried"))
            }
            Stage::Started { .. } => "measuring".into(),
            _ => "ended already".into(),
        };
        text += &format!("{:<width$}  {said}\n", record.board);
    }
    text += &format!("job: {job}, {takes} s on each board\n");
    if missing > 0 {
        text += &format!("to retry the other boards: the same command with --job {job}\n");
    }
    text += &format!("next: wakepath-fleet fetch {job} --wait\n");
    print(&text)?;
    Ok(ExitCode::from(u8::from(missing > 0)))
}

/// Begins the job on the boards that have not begun it.
pub fn begin(arguments: &Run) -> Result<Begun, Box<dyn std::error::Error>> {
    let boards = meant(&arguments.boards)?;
    let planned = planned(arguments)?;
    let job = match &arguments.job {
        Some(job) if is_name(job) => job.clone(),
        Some(job) => {
            let right = "letters, digits, `.`, `_` and `-`, 64 at most, a letter or digit first";
            return Err(format!("--job {job:?}: a name has {right}").into());
        }
        None => format!("{}-{}", planned.name, compact(now())),
    };
    let journal = Journal::new(&arguments.directory);
    let _held = journal.hold(&job)?;
    let known = journal.records(&job)?;
    if let Some(other) = known
        .iter()
        .find(|record| record.scenario_sha256 != planned.sha256)
    {
        return Err(format!(
            "{job}: a job with another scenario, {}: take another --job",
            other.scenario
        )
        .into());
    }
    let ssh = ssh(&arguments.reached);
    let begun = each(&boards, arguments.reached.at_once, |board| {
        let before = known.iter().find(|record| record.board == board.name);
        let mut record = match before {
            Some(record) => record.clone(),
            None => new(&job, board, &planned),
        };
        if !matches!(record.stage, Stage::Planned { .. }) {
            return Ok(record);
        }
        journal.put(&record)?;
        record.stage = match on_one(&ssh, &journal, board, &mut record, &planned.scenario)? {
            Ok(stage) => stage,
            Err(why) => {
                let_go(board, &mut record);
                Stage::Planned { why: Some(why) }
            }
        };
        journal.put(&record)?;
        Ok::<_, JournalError>(record)
    });
    Ok(Begun {
        job,
        records: begun.into_iter().collect::<Result<_, _>>()?,
        takes: planned.takes,
    })
}

/// Begins on one board; in the inner error, why it does not.
fn on_one(
    ssh: &Ssh,
    journal: &Journal,
    board: &Board,
    record: &mut Record,
    scenario: &Scenario,
) -> Result<Result<Stage, String>, JournalError> {
    if let Some(name) = board.place.as_deref().filter(|_| !record.holds_place) {
        match place::acquire(name) {
            Ok(is_new) => record.holds_place = is_new,
            Err(why) => return Ok(Err(why)),
        }
        journal.put(record)?;
    }
    Ok(start(ssh, board, record, scenario, now).map_err(|error| error.to_string()))
}

fn new(job: &str, board: &Board, planned: &Planned) -> Record {
    Record {
        job: job.into(),
        board: board.name.clone(),
        scenario: planned.name.clone(),
        scenario_sha256: planned.sha256.clone(),
        planned: now(),
        takes: planned.takes,
        holds_place: false,
        stage: Stage::Planned { why: None },
    }
}

fn planned(arguments: &Run) -> Result<Planned, Box<dyn std::error::Error>> {
    let word = &arguments.scenario;
    let path = Path::new(word);
    let (name, text, scenario) = if path.is_file() {
        if path.metadata()?.len() > MOST_BYTES {
            return Err(format!("{word}: too long for a scenario").into());
        }
        let text = std::fs::read_to_string(path).map_err(|error| format!("{word}: {error}"))?;
        let name = path
            .file_stem()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        (name, text.clone(), Scenario::Text(text))
    } else if let Some(builtin) = builtin::named(word) {
        let scenario = Scenario::Named(word.clone());
        (word.clone(), builtin.text.to_owned(), scenario)
    } else if let Some(takes) = arguments.takes.filter(|_| is_name(word)) {
        return Ok(Planned {
            name: word.clone(),
            scenario: Scenario::Named(word.clone()),
            sha256: digest(word),
            takes,
        });
    } else {
        return Err(format!(
            "{word}: neither a file nor a built-in scenario (`wakepath scenario list`); for one in the \
             boards' allowed/, --takes says how long it takes"
        )
        .into());
    };
    if !is_name(&name) {
        return Err(format!("{word}: name the file with letters, digits, `.`, `_` and `-`").into());
    }
    // A board that stores the scenario itself gets its name, and seals the name.
    let ordered = match &scenario {
        Scenario::Named(name) => name,
        Scenario::Text(text) => text,
    };
    let sha256 = digest(ordered);
    // Each board checks its CPUs itself.
    let read = wakepath_scenario::Scenario::parse(&text, word, &KnownCpus::first(1024))?;
    Ok(Planned {
        name,
        sha256,
        scenario,
        takes: read.estimated_run_ns() / 1_000_000_000 + 1,
    })
}

fn digest(text: &str) -> String {
    Sha256::digest(text)
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect()
}

fn is_name(text: &str) -> bool {
    text.len() <= 64
        && text.starts_with(|c: char| c.is_ascii_alphanumeric())
        && text
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || "._-".contains(c))
}
