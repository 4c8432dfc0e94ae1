//! Files that retention removes, and files that it must keep.

use crate::scratch::{Scratch, board, nobody};
use wakepath_fleet_archive::{Retention, Swept, add, catalogue, check, sweep};
use wakepath_fleet_made_up::{MadeUp, seal_run};

fn before(day: &str) -> Retention {
    Retention::new(Some(day)).unwrap()
}

/// Three runs: two of 1 November, one of them sealed, and one of 2 November.
fn three() -> Scratch {
    let scratch = Scratch::new();
    scratch.added(&MadeUp::number(0));
    let sealed = scratch.run(&MadeUp::number(1));
    seal_run(&sealed, "pi5-07");
    add(&scratch.store(), &sealed, &board(), &nobody()).unwrap();
    scratch.added(&MadeUp::number(1440));
    scratch
}

#[test]
fn old_samples_go_but_for_those_that_a_seal_needs_and_a_dry_look_changes_nothing() {
    let scratch = three();
    let store = scratch.store();
    let files = scratch.files();
    let dry = sweep(&store, &before("2026-11-02"), true).unwrap();
    assert_eq!(scratch.files(), files);
    assert_eq!(dry.runs, ["2026-00000000"]);
    assert_eq!(dry.kept_for_seal, ["2026-00000001"]);
    assert_eq!(dry.objects, 1);

    let swept = sweep(&store, &before("2026-11-02"), false).unwrap();
    assert_eq!(swept, dry);
    let all = catalogue(&store).unwrap();
    assert_eq!(all.records.len(), 3, "records are kept for ever");
    assert_eq!(all.samples(&store).unwrap().len(), 2);
    assert_eq!(check(&store, &all).unwrap(), Vec::<String>::new());
    let again = sweep(&store, &before("2026-11-02"), false).unwrap();
    assert_eq!((again.runs.len(), again.objects), (0, 0));
}

#[test]
fn a_sweep_that_stopped_after_its_mark_is_completed_by_the_next() {
    let scratch = three();
    let store = scratch.store();
    std::fs::create_dir(scratch.path().join("archive/retired")).unwrap();
    std::fs::write(scratch.path().join("archive/retired/2026-00000000"), "").unwrap();
    let all = catalogue(&store).unwrap();
    assert_eq!(
        all.samples(&store).unwrap().len(),
        2,
        "a mark counts at once"
    );
    let swept = sweep(&store, &Retention::default(), false).unwrap();
    assert_eq!((swept.runs.len(), swept.objects), (0, 1));
}

#[test]
fn a_seal_that_comes_after_its_run_brings_the_samples_back_and_keeps_them() {
    let scratch = three();
    let store = scratch.store();
    sweep(&store, &before("2026-11-03"), false).unwrap();
    assert_eq!(catalogue(&store).unwrap().samples(&store).unwrap().len(), 1);
    let run = scratch.path().join("2026-00000000");
    seal_run(&run, "pi5-07");
    add(&store, &run, &board(), &nobody()).unwrap();
    sweep(&store, &before("2026-11-03"), false).unwrap();
    let all = catalogue(&store).unwrap();
    assert_eq!(all.samples(&store).unwrap().len(), 2);
    assert_eq!(check(&store, &all).unwrap(), Vec::<String>::new());
}

#[test]
fn uploads_that_were_never_completed_are_invisible_and_swept() {
    let scratch = three();
    let store = scratch.store();
    let objects = scratch.path().join("archive/objects/00");
    std::fs::create_dir_all(&objects).unwrap();
    std::fs::write(objects.join(format!("00{}", "1".repeat(62))), "half a run").unwrap();
    std::fs::write(objects.join(".partial-1-2-3"), "ha").unwrap();
    assert_eq!(catalogue(&store).unwrap().records.len(), 3);
    let swept = sweep(&store, &Retention::default(), false).unwrap();
    let expected = Swept {
        objects: 1,
        bytes: 10,
        partials: 1,
        ..Swept::default()
    };
    assert_eq!(swept, expected);
}

#[test]
fn nothing_is_removed_where_a_record_can_not_be_read() {
    let scratch = three();
    let store = scratch.store();
    std::fs::write(scratch.path().join("archive/runs/2026-9.json"), "{").unwrap();
    let files = scratch.files();
    sweep(&store, &before("2026-12-01"), false).unwrap_err();
    assert_eq!(scratch.files(), files);
}

#[test]
fn a_day_that_is_none_removes_nothing() {
    for bad in ["", "yesterday", "2026-1-1", "24.11.2026", "2026-11-24T00"] {
        assert!(Retention::new(Some(bad)).is_err(), "{bad}");
    }
}
