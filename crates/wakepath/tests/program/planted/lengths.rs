//! Default answers fit one screen of 40 lines and 80 columns, with thirty conditions too; `--all` shows the rest.

use super::made_up::WARM_UP;
use super::{MadeUp, RUN, Random};
use crate::started::{InTerminal, Place};
use wakepath_archive::finish;

/// The run that is flown: older than the other, which is the latest.
const FLOWN: &str = "wakepath-runs/two-20250101T000000Z";
/// Another run of thirty conditions.
const OTHER: &str = "wakepath-runs/other-20250101T000000Z";
const LINES: usize = 40;
const COLUMNS: u16 = 80;

pub fn every_default_answer_fits_one_screen_and_all_shows_the_rest() {
    let mut place = Place::new();
    std::fs::create_dir(place.path().join("wakepath-runs")).unwrap();
    let write = |name: &str, policies, cycles| {
        let path = place.path().join(name);
        MadeUp::of_policies(policies, cycles, &mut Random(4)).write(&path, None);
        finish(&path).unwrap();
    };
    write(RUN, 15, WARM_UP + 1_200);
    write(OTHER, 15, WARM_UP + 1_100);
    let fixtures = concat!(env!("CARGO_MANIFEST_DIR"), "/../import/tests/fixtures");
    let file = format!("{fixtures}/cyclictest-h.txt");
    let import = ["import", &file, "--period", "1ms", "--policy", "FIFO 80"];
    // Flying takes seconds for each condition: more conditions than the answer has room for, and short ones.
    write(FLOWN, 6, WARM_UP + 100);
    for words in [
        &["show"][..],
        &["show", "--histogram"],
        &["runs"],
        &["compare", OTHER, RUN],
        &["recover", OTHER],
        &["help"],
        &["--help"],
        &["-h"],
        &["machine"],
        &["loads"],
        &["scenario", "list"],
        &["doctor"],
        &["tune", "plan"],
        &["tune", "status"],
    ] {
        let lines;
        (lines, place) = lines_of(place, words);
        assert!((1..=LINES).contains(&lines), "{words:?}: {lines} lines");
    }
    for words in [&["bound"][..], &["fly", FLOWN], &["doctor"], &["help"]] {
        let (short, all);
        (short, place) = lines_of(place, words);
        assert!((5..=LINES).contains(&short), "{words:?}: {short} lines");
        (all, place) = lines_of(place, &[words, &["--all"]].concat());
        assert!(
            all > short,
            "{words:?}: {all} lines of all, {short} of the default"
        );
    }
    let lines;
    (lines, _) = lines_of(place, &[&import[..], &["--directory", "imported"]].concat());
    assert!((5..=LINES).contains(&lines), "import: {lines} lines");
}

/// Lines of a terminal up to the last that is not empty, once the command has ended.
fn lines_of(place: Place, words: &[&str]) -> (usize, Place) {
    let mut terminal = InTerminal::start(place, words, COLUMNS, 400);
    terminal.end();
    terminal.wait_until("its words", |screen| {
        screen.iter().any(|line| !line.is_empty())
    });
    // Output written just before its end might still be on its way through the terminal.
    std::thread::sleep(std::time::Duration::from_millis(200));
    let lines = terminal.look(|screen| {
        let rows: Vec<String> = screen.rows(0, COLUMNS).collect();
        let last = rows.iter().rposition(|row| !row.trim().is_empty());
        last.map_or(0, |last| last + 1)
    });
    (lines, terminal.place())
}
