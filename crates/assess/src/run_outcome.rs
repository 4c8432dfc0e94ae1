//! The verdict on a run as a whole: the verdict on its conditions, limited by everything that the run lacks
//! and by conditions that could not be measured.

use crate::changes::RunChanges;
use crate::conditions::NotMeasured;
use crate::error::AssessmentError;
use wakepath_archive::{Finding, Run, Shortfall, command_about};
use wakepath_scenario::PoliciesNeeded;
use wakepath_verdict::{Outcome, Overall, Reason, counted};

/// So many counts that don't add up are named.
const NAMED: usize = 3;

/// The outcome, and in a sentence each what holds it back.
///
/// # Errors
/// When the samples can't be read.
pub(crate) fn run_outcome(
    run: &Run,
    overall: &Overall,
    not_measured: &[NotMeasured],
    changes: &RunChanges,
) -> Result<(Outcome, Vec<String>), AssessmentError> {
    let mut remarks = Vec::new();
    let shortfalls = run.shortfalls();
    // Interrupted before the first segment it holds nothing that could be invalid.
    let is_empty = overall.policies.is_empty() && shortfalls.contains(&Shortfall::Interrupted);
    let mut outcome = if is_empty {
        Outcome::Undecided
    } else {
        overall.outcome
    };
    let mut hold_back = |remark: String| {
        remarks.push(remark);
        if outcome == Outcome::Passed {
            outcome = Outcome::Undecided;
        }
    };
    for shortfall in &shortfalls {
        hold_back(match shortfall {
            Shortfall::Interrupted if is_empty => {
                "the run was interrupted before anything was measured".into()
            }
            Shortfall::NotFinished => {
                let run = run.directory().display().to_string();
                format!("{shortfall}: {}", command_about("recover", &run, ""))
            }
            other => other.to_string(),
        });
    }
    for died in not_measured.iter().filter(|of| of.died) {
        hold_back(format!(
            "{}, {}: {}",
            died.condition, died.phase, died.reason
        ));
    }
    if !not_measured.is_empty() {
        let all = counted(not_measured.len() as u64, "condition", "conditions");
        match overall.needed {
            PoliciesNeeded::Every => {
                hold_back(format!("{all} could not be measured"));
            }
            // A policy that was not measured might have held.
            PoliciesNeeded::Any if matches!(outcome, Outcome::Failed | Outcome::Invalid) => {
                remarks.push(format!(
                    "no measured policy passes, but {all} could not be measured"
                ));
                outcome = Outcome::Undecided;
            }
            PoliciesNeeded::Any => {}
        }
    }
    // Instants before and after don't compare, whichever phase they are in.
    if let Some((from, to)) = changes.clock_source() {
        let (from, to) = (from.to_owned(), to.to_owned());
        remarks.push(Reason::ClockSourceChanged { from, to }.to_string());
        outcome = Outcome::Invalid;
    }
    // A run without its end lists the missing data among its shortfalls.
    if run.manifest.recovered.is_none() {
        let findings = run.check_counts()?;
        remarks.extend(findings.iter().take(NAMED).map(Finding::to_string));
        if !findings.is_empty() {
            outcome = Outcome::Invalid;
        }
    }
    Ok((outcome, remarks))
}
