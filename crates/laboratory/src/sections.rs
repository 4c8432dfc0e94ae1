//! `wakepath lab sections`: every section of kernel code that could have held a run's loop up.

use super::command_line::LabSections;
use super::host;
use std::process::ExitCode;
use wakepath_archive::{Run, command_about, shell_word};
use wakepath_console::terminal::{OneLine, print_result};
use wakepath_console::{Outcome, run_directory, runs};
use wakepath_directory::Directory;
use wakepath_lab::{
    Again, ConditionSections, CyclesAsked, Wanted, run_sections, sections_file, sections_json,
    sections_text,
};
use wakepath_measure::Interrupt;

/// Repeats the run, tells its sections, keeps what a bound is composed of.
pub fn run(arguments: &LabSections) -> Outcome {
    let path = runs::find(Some(&arguments.run))?;
    let run = Run::open(&path)?;
    // Before anything boots: the sections are kept in the run.
    let trust = run_directory::trust(arguments.again.trust_directory);
    let directory = Directory::to_write(&path, trust)?;
    let wanted = Wanted::new(&run, &CyclesAsked::RealTime)?;
    let interrupt = Interrupt::listen()?;
    let (host, on) = (host()?, arguments.again.asked());
    let again = Again::new(&run, arguments.again.kernel.as_deref(), &on, &host)?;
    let stopped = || interrupt.requested();
    let found = run_sections(&run, &again, &wanted, &host, &stopped)?;
    let mut kept = String::new();
    for condition in &found.conditions {
        let name = file_name(condition);
        directory
            .put(&name, sections_file(&found, condition).as_bytes())
            .map_err(|error| {
                format!(
                    "can't write {}: {error}",
                    directory.path_of(&name).in_one_line()
                )
            })?;
        let file = shell_word(&path.join(name).display().to_string());
        let run = path.display().to_string();
        kept += &(command_about("bound", &run, &format!("--sections {file}")) + "\n");
    }
    let holds = found
        .conditions
        .iter()
        .all(|one| one.figures.faults().is_empty());
    print_result(
        arguments.json,
        &if arguments.json {
            serde_json::to_string_pretty(&sections_json(&found))? + "\n"
        } else {
            format!(
                "{}\nthe bound next to the sampled values:\n{kept}",
                sections_text(&found)
            )
        },
    )?;
    Ok(ExitCode::from(if holds { 0 } else { 2 }))
}

/// The file of a condition: its name and its phase in letters and digits.
fn file_name(condition: &ConditionSections) -> String {
    let name = format!("{} {}", condition.condition, condition.phase).to_lowercase();
    let words = name.split(|c: char| !c.is_ascii_alphanumeric());
    let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
    format!("sections-{}.toml", words.join("-"))
}
