//! Figures of a repeated experiment: those of a guest, and all for a person or a script.

use crate::{LabError, Result};
use serde_json::{Value, json};
use std::path::Path;
use wakepath_archive::{PARQUET_NAME, Run};
use wakepath_assess::{Assessment, Picture};
use wakepath_experiments::{Guest, GuestRun, Repeated, findings, findings_text};
use wakepath_explain::Explanation;
use wakepath_verdict::Outcome;

/// Measurements of an experiment's guest.
///
/// # Errors
/// [`LabError::NotWhole`] if its run is incomplete.
pub fn guest_run(
    guest: Guest,
    run: &Run,
    assessment: &Assessment,
    pictures: Vec<Picture>,
    explanation: Option<Explanation>,
) -> Result<GuestRun> {
    if assessment.outcome != Outcome::VirtualTime {
        return Err(LabError::NotWhole {
            guest: run.directory().display().to_string(),
            outcome: assessment.outcome,
        });
    }
    let by_kernel = run.manifest.kernel_latency.clone();
    let mut files = run.manifest.files.iter();
    let samples = files.find(|file| file.name == PARQUET_NAME);
    Ok(GuestRun {
        samples_sha256: samples.map(|file| file.sha256.clone()),
        ..GuestRun::new(guest, assessment, pictures, explanation, by_kernel)
    })
}

/// The findings for a person.
pub fn to_text(repeated: &[Repeated], page: &Path) -> String {
    findings_text(repeated)
        + &format!(
            "virtual time: lengths of software paths, not a machine's latencies\npage: {}\n",
            page.display()
        )
}

/// Findings and figures for a script.
pub fn to_json(repeated: &[Repeated]) -> Value {
    let guest = |run: &GuestRun| {
        json!({
            "guest": run.guest.name,
            "kernel": run.guest.kernel,
            "seed": run.virtual_time.as_ref().map(|time| time.seed),
            "conditions": run.conditions,
        })
    };
    let one = |repeated: &Repeated| {
        json!({
            "experiment": repeated.experiment.name,
            "findings": findings(repeated),
            "guests": repeated.guests.iter().map(guest).collect::<Vec<_>>(),
        })
    };
    json!({
        "outcome": "virtual-time",
        "experiments": repeated.iter().map(one).collect::<Vec<_>>(),
    })
}
