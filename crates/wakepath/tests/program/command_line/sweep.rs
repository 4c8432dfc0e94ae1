//! `wakepath schedulability sweep`: the same bytes on any number of threads and in parts, a page, and
//! options that can't be.

use crate::started::{Finished, Place, Start};

wakepath_test_program::tests![
    any_number_of_threads_and_any_parts_make_the_same_bytes,
    the_table_and_the_page_say_what_was_swept,
    what_can_t_be_swept_is_one_line_with_what_would_be_right,
    a_part_of_more_points_than_a_sweep_has_is_refused,
];

const SMALL: [&str; 6] = [
    "schedulability",
    "sweep",
    "--sets",
    "500",
    "--utilization",
    "50,80,90",
];

fn sweep(more: &[&str]) -> Finished {
    sweep_in(Place::new(), more)
}

fn sweep_in(place: Place, more: &[&str]) -> Finished {
    let words = [&SMALL[..], more].concat();
    Start::command_in(place, &words).finish()
}

/// A place with the parts late.json and early.json, of which point 3 is in both.
fn with_parts() -> Place {
    let place = Place::new();
    for (name, points) in [("late.json", "3..6"), ("early.json", "0..4")] {
        let part = sweep(&["--points", points]);
        part.assert_code(0);
        std::fs::write(place.path().join(name), &part.output).unwrap();
    }
    place
}

fn any_number_of_threads_and_any_parts_make_the_same_bytes() {
    let whole = sweep(&["--json", "--threads", "1"]);
    whole.assert_code(0);
    assert_eq!(whole.json()["points"].as_array().unwrap().len(), 6);
    let threaded = sweep(&["--json", "--threads", "3"]);
    assert_eq!(threaded.output, whole.output);
    let parts = ["--merge", "late.json", "--merge", "early.json", "--json"];
    let merged = sweep_in(with_parts(), &parts);
    assert_eq!(merged.output, whole.output);
    let lacking = sweep_in(merged.place, &["--merge", "late.json"]);
    lacking.assert_code(1);
    let expected = "points 0, 1, 2 are in no part";
    assert!(lacking.complaints.contains(expected), "{}", lacking.said());
}

fn the_table_and_the_page_say_what_was_swept() {
    let finished = sweep(&["--output", "sweep.html"]);
    finished.assert_code(0);
    let first = finished.output.lines().next().unwrap();
    assert!(
        first.starts_with("3000 random task sets on 4 CPUs"),
        "{first}"
    );
    let page = std::fs::read_to_string(finished.place.path().join("sweep.html")).unwrap();
    for text in ["medium tasks, ideal overheads", "OSPERT 2013", "<polyline"] {
        assert!(page.contains(text), "{text}");
    }
}

fn what_can_t_be_swept_is_one_line_with_what_would_be_right() {
    for (words, expected) in [
        (&["--points", "4..9"][..], "this sweep has the points 0..6"),
        (&["--shortest-period", "2s"], "is below --shortest-period"),
        (&["--merge", "nowhere.json"], "nowhere.json"),
        (&["--within", "70"], "give percentage points from 0 to 50"),
    ] {
        sweep(words).assert_refused(1, &[expected]);
    }
}

fn a_part_of_more_points_than_a_sweep_has_is_refused() {
    let place = with_parts();
    let file = place.path().join("early.json");
    let text = std::fs::read_to_string(&file).unwrap();
    let vast = text.replace("\"points\": 6", "\"points\": 60000000000");
    assert_ne!(vast, text);
    std::fs::write(&file, vast).unwrap();
    let expected = "early.json: says that its sweep has 60000000000 points";
    sweep_in(place, &["--merge", "early.json"]).assert_refused(1, &[expected]);
}
