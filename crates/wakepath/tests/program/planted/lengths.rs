//! Default answers fit one screen of 40 lines and 80 columns, with thirty conditions too; `--all` shows the rest.

use super::{MadeUp, RUN, Random};
use crate::started::{InTerminal, Place};
use wakepath_archive::finish;

const LINES: usize = 40;
const COLUMNS: u16 = 80;

pub fn every_default_answer_fits_one_screen_and_all_shows_the_rest() {
    let mut place = Place::new();
    let path = place.path().join(RUN);
    std::fs::create_dir(place.path().join("wakepath-runs")).unwrap();
    MadeUp::of_thirty_conditions(&mut Random(4)).write(&path, None);
    finish(&path).unwrap();
    for words in [
        &["show"][..],
        &["runs"],
        &["help"],
        &["doctor"],
        &["tune", "plan"],
        &["tune", "status"],
    ] {
        let lines;
        (lines, place) = lines_of(place, words);
        assert!((1..=LINES).contains(&lines), "{words:?}: {lines} lines");
    }
    for verb in ["bound", "fly", "doctor", "help"] {
        let (short, all);
        (short, place) = lines_of(place, &[verb]);
        assert!((5..=LINES).contains(&short), "{verb}: {short} lines");
        (all, place) = lines_of(place, &[verb, "--all"]);
        assert!(
            all > short,
            "{verb}: {all} lines of all, {short} of the default"
        );
    }
}

/// Lines of a terminal up to the last that is not empty, once the command has ended.
fn lines_of(place: Place, words: &[&str]) -> (usize, Place) {
    let mut terminal = InTerminal::start(place, words, COLUMNS, 400);
    terminal.end();
    terminal.wait_until("its words", |screen| {
        screen.iter().any(|line| !line.is_empty())
    });
    // What was written before its end may still be on its way through the terminal.
    std::thread::sleep(std::time::Duration::from_millis(200));
    let lines = terminal.look(|screen| {
        let rows: Vec<String> = screen.rows(0, COLUMNS).collect();
        let last = rows.iter().rposition(|row| !row.trim().is_empty());
        last.map_or(0, |last| last + 1)
    });
    (lines, terminal.place())
}
