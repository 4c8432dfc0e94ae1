//! A run directory of every version of the archive's format, small and real, stays readable: it is
//! opened, judged and drawn.

use super::made_up::Reporting;
use std::path::Path;
use wakepath_report::{Style, ToText};

/// What `wakepath run` measured on the day of the format: `fixtures/runs/README.md`.
fn fixture(name: &str) -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../fixtures/runs")
        .join(name)
}

#[test]
fn a_run_of_format_1_is_read_judged_and_drawn() {
    let place = tempfile::tempdir().unwrap();
    let reporting = Reporting::new(&fixture("format-1"), place.path().join("report.html"));
    assert_eq!(reporting.run.manifest.format_version, 1);
    assert_eq!(reporting.run.check().unwrap(), []);
    // Two policies, idle and under load, 150 due times each, as they were counted then.
    let scheduled: Vec<u64> = reporting
        .assessment
        .conditions
        .iter()
        .map(|one| one.cycles.scheduled)
        .collect();
    assert_eq!(scheduled, [150; 4]);
    let said = reporting.assessment.to_text(Style::default());
    assert!(said.contains("FIFO 50"), "{said}");
    assert!(
        !reporting.assessment.machine.is_empty(),
        "the machine's facts can't be read"
    );
    assert!(
        !reporting.assessment.loads.is_empty(),
        "the loads' proofs can't be read"
    );
    let page = std::fs::read_to_string(&reporting.file).unwrap();
    for part in [
        "OTHER nice 0, idle",
        "How to repeat it",
        "period = &quot;4 ms&quot;",
    ] {
        assert!(page.contains(part), "{part}");
    }
    assert!(reporting.figures.all().count() >= 12);
}
