//! What asks before it writes: nothing is written without a yes.

use crate::kills::tunings::{files, tree};
use crate::started::{InTerminal, Place, Start};

wakepath_test_program::tests![tune_apply_writes_after_a_yes_and_only_then];

const APPLY: &[&str] = &[
    "tune", "apply", "--rate", "250Hz", "--cpu", "1", "--root", "tree",
];

fn tune_apply_writes_after_a_yes_and_only_then() {
    let mut place = Place::new();
    let root = place.path().join("tree");
    tree(&root);
    let before = files(&root);
    for (answer, writes) in [("n", false), ("", false), ("sure", false), ("y", true)] {
        let mut terminal = InTerminal::start(place, APPLY, 80, 60);
        let screen = terminal.wait_until("the question", |screen| {
            screen
                .iter()
                .any(|line| line.contains("write these? [y/N]"))
        });
        let screen = screen.join("\n");
        assert!(screen.contains("cost: "), "{screen}");
        assert_eq!(files(&root), before, "nothing before the answer");
        terminal.type_line(answer);
        let code = terminal.end().code();
        if writes {
            assert!(matches!(code, Some(0 | 3)), "{code:?}");
            assert_ne!(files(&root), before);
        } else {
            assert_eq!(code, Some(1), "{answer}");
            assert_eq!(files(&root), before, "{answer}");
            terminal.wait_until("the end", |screen| {
                screen.iter().any(|line| line.contains("nothing written"))
            });
        }
        place = terminal.place();
    }
    // Nobody can answer without a terminal.
    let place = Place::new();
    let root = place.path().join("tree");
    tree(&root);
    let before = files(&root);
    let finished = Start::command_in(place, APPLY).finish();
    finished.assert_code(1);
    assert!(
        finished.complaints.contains("nothing written"),
        "{}",
        finished.said()
    );
    assert_eq!(files(&root), before);
}
