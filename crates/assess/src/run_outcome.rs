//! The verdict on a run as a whole: that on its conditions, held back by an interruption, a recovery or
//! what could not be measured.

use crate::conditions::NotMeasured;
use wakepath_archive::{Ending, Run, State};
use wakepath_scenario::PoliciesNeeded;
use wakepath_verdict::{Outcome, Overall, counted};

/// The outcome, and in a sentence each what holds it back.
pub(crate) fn run_outcome(
    run: &Run,
    overall: &Overall,
    not_measured: &[NotMeasured],
) -> (Outcome, Vec<String>) {
    let mut remarks = Vec::new();
    // Interrupted before the first segment it holds nothing that could be invalid.
    let is_empty = overall.policies.is_empty();
    let mut outcome = match &run.manifest.ending {
        Ending::Interrupted if is_empty => Outcome::Undecided,
        _ => overall.outcome,
    };
    let mut hold_back = |remark: String| {
        remarks.push(remark);
        if outcome == Outcome::Passed {
            outcome = Outcome::Undecided;
        }
    };
    match run.state() {
        State::Finished if run.manifest.recovered.is_some() => {
            hold_back(
                "the run was cut short and recovered: what is missing can't be judged".into(),
            );
        }
        State::Finished => {}
        State::NotFinished => hold_back(format!(
            "the run is not in its final form: wakepath recover {}",
            run.directory().display()
        )),
        State::BeingWritten { by } => hold_back(format!("the run is under way ({by})")),
    }
    match &run.manifest.ending {
        Ending::Complete => {}
        Ending::Interrupted if is_empty => {
            hold_back("the run was interrupted before anything was measured".into());
        }
        Ending::Interrupted => hold_back("the run was interrupted before its end".into()),
        Ending::Failed { reason } => hold_back(format!("the run could not go on: {reason}")),
        Ending::CutShort | Ending::Unknown => hold_back("the run has no recorded end".into()),
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
                    "no measured policy holds, but {all} could not be measured"
                ));
                outcome = Outcome::Undecided;
            }
            PoliciesNeeded::Any => {}
        }
    }
    (outcome, remarks)
}
