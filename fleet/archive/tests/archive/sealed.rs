//! Seals when a run is added, and when it is checked whether it counts.

use crate::scratch::{Scratch, board, nobody};
use wakepath_evidence::Trust;
use wakepath_fleet_archive::{
    Board, Retention, SealTerms, Standing, add, catalogue, check, restore, sweep,
};
use wakepath_fleet_made_up::{MadeUp, seal_run, trust_file};

fn trusting(boards: &str) -> SealTerms {
    SealTerms {
        trust: Some(Trust::parse(&trust_file(boards)).unwrap()),
        ..nobody()
    }
}

/// A run with its seal, and a report sealed with it.
fn sealed(scratch: &Scratch, number: u64) -> std::path::PathBuf {
    let run = scratch.run(&MadeUp::number(number));
    std::fs::write(run.join("report.html"), "what people read").unwrap();
    seal_run(&run, "pi5-07");
    run
}

fn standing(scratch: &Scratch, terms: &SealTerms) -> Standing {
    let store = scratch.store();
    let all = catalogue(&store).unwrap().standings(&store, terms).unwrap();
    all["2026-00000001"].clone()
}

/// The error for a wrong seal.
fn wrong(scratch: &Scratch, terms: &SealTerms) -> String {
    standing(scratch, terms).objection().unwrap()
}

#[test]
fn a_sealed_run_is_taken_with_all_that_was_sealed_and_is_verified_ever_after() {
    let scratch = Scratch::new();
    let run = sealed(&scratch, 1);
    let store = scratch.store();
    let added = add(&store, &run, &board(), &trusting("pi5-*")).unwrap();
    assert_eq!((added.is_new, added.standing), (true, Standing::Verified));
    assert_eq!(standing(&scratch, &trusting("pi5-*")), Standing::Verified);
    assert_eq!(standing(&scratch, &nobody()), Standing::Unchecked);
    // However old: retention removes nothing that the seal names, not even the report.
    let old = Retention::new(Some("2030-01-01")).unwrap();
    let swept = sweep(&store, &old, false).unwrap();
    assert_eq!((swept.objects, swept.runs.len()), (0, 0));
    let all = catalogue(&store).unwrap();
    assert_eq!(check(&store, &all).unwrap(), Vec::<String>::new());
    let report = all.records[0]
        .files
        .iter()
        .find(|f| f.name == "report.html");
    let digest = &report.unwrap().sha256;
    let kept = scratch
        .path()
        .join(format!("archive/objects/{}/{digest}", &digest[..2]));
    assert_eq!(std::fs::read(kept).unwrap(), b"what people read");
    assert_eq!(standing(&scratch, &trusting("pi5-*")), Standing::Verified);
    // Restored, it is identical, byte for byte.
    let back = tempfile::tempdir().unwrap();
    restore(&store, &all, &all.records[0], back.path()).unwrap();
    let content = |directory| wakepath_directory::content(directory, "").unwrap();
    assert_eq!(content(back.path()), content(&run));
}

#[test]
fn a_run_that_is_not_as_it_was_sealed_is_refused_whether_or_not_anybody_is_trusted() {
    type Spoil = fn(&std::path::Path);
    let spoilt: [(Spoil, &str); 4] = [
        (
            |run| std::fs::write(run.join("report.html"), "nicer").unwrap(),
            "its seal is broken: changed: report.html",
        ),
        (
            |run| std::fs::remove_file(run.join("report.html")).unwrap(),
            "its seal is broken: missing: report.html",
        ),
        (
            |run| std::fs::write(run.join("more"), "").unwrap(),
            "its seal is broken: added: more",
        ),
        (
            |run| std::fs::write(run.join("seal.dsse.json"), "{}").unwrap(),
            "its seal",
        ),
    ];
    for (number, (spoil, expected)) in spoilt.into_iter().enumerate() {
        for terms in [nobody(), trusting("*")] {
            let scratch = Scratch::new();
            let run = sealed(&scratch, number as u64);
            spoil(&run);
            let store = scratch.store();
            let before = scratch.files();
            let said = add(&store, &run, &board(), &terms).unwrap_err();
            let said = said.to_string();
            assert!(said.contains(expected), "{said}");
            assert_eq!(scratch.files(), before);
        }
    }
}

#[test]
fn keys_that_are_not_trusted_and_runs_of_other_boards_are_told_apart() {
    let scratch = Scratch::new();
    let run = sealed(&scratch, 1);
    let store = scratch.store();
    let elsewhere = Board::new("pi5-08").unwrap();
    let said = add(&store, &run, &elsewhere, &nobody())
        .unwrap_err()
        .to_string();
    assert!(said.contains("another board's run"), "{said}");
    let said = add(&store, &run, &board(), &trusting("x86-*"));
    let said = said.unwrap_err().to_string();
    assert!(said.contains("another board's key"), "{said}");
    // Added by a user who trusts nobody, it does not count for one who trusts others.
    add(&store, &run, &board(), &nobody()).unwrap();
    assert!(wrong(&scratch, &trusting("x86-*")).contains("another board's key"));
    let before = SealTerms {
        now: 0,
        ..trusting("*")
    };
    assert!(wrong(&scratch, &before).contains("lies ahead"));
}

#[test]
fn a_record_that_was_altered_after_its_seal_does_not_count() {
    let scratch = Scratch::new();
    let run = sealed(&scratch, 1);
    add(&scratch.store(), &run, &board(), &nobody()).unwrap();
    let record = scratch.path().join("archive/runs/2026-00000001.json");
    let text = std::fs::read_to_string(&record).unwrap();
    std::fs::remove_file(&record).unwrap();
    std::fs::write(&record, text.replace("pi5-07", "pi5-08")).unwrap();
    let said = wrong(&scratch, &trusting("*"));
    assert!(said.contains("another board's run"), "{said}");
    let samples = text.find("\"samples\",\"bytes\"").unwrap();
    let digest = text[samples..].find("\"sha256\":\"").unwrap() + samples + 10;
    let mut forged = text.clone();
    forged.replace_range(digest..digest + 64, &"0".repeat(64));
    std::fs::write(&record, forged).unwrap();
    let said = wrong(&scratch, &trusting("*"));
    assert!(said.contains("changed: samples.parquet"), "{said}");
}

#[test]
fn a_seal_that_comes_late_counts_where_it_names_what_was_taken() {
    let scratch = Scratch::new();
    let run = scratch.added(&MadeUp::number(1));
    assert_eq!(standing(&scratch, &trusting("*")), Standing::Unsealed);
    std::fs::write(run.join("report.html"), "written later").unwrap();
    seal_run(&run, "pi5-07");
    let said = add(&scratch.store(), &run, &board(), &nobody()).unwrap_err();
    let said = said.to_string();
    assert!(
        said.contains("missing: report.html") && said.contains("when the run was added"),
        "{said}"
    );
    std::fs::remove_file(run.join("report.html")).unwrap();
    seal_run(&run, "pi5-07");
    let added = add(&scratch.store(), &run, &board(), &trusting("*")).unwrap();
    assert_eq!((added.is_new, added.standing), (false, Standing::Verified));
    assert_eq!(standing(&scratch, &trusting("*")), Standing::Verified);
}
