//! Whatever a run holds, its answer fits one screen.

use super::*;
use crate::answer::{Class, Figures, Matter, Next, Row, RowVerdict, Why, Word};
use wakepath_verdict::Outcome;

fn judged(outcome: Outcome) -> RowVerdict {
    RowVerdict::Judged {
        outcome,
        is_real_time: true,
    }
}

/// The longest that each text can be, in as many rows as anybody may write.
fn hostile(rows: usize, name: &str) -> Answer {
    let long = name.repeat(40);
    let figures = Figures {
        missed: Some(0.123_456),
        missed_at_most: None,
        is_least: true,
        median_ns: Some(123_456_789_012),
        p999_ns: Some(1_234_567_890_123),
        max_ns: Some(i64::MAX),
    };
    let row = Row {
        label: long.clone(),
        figures: vec![Some(figures); 2],
        verdict: judged(Outcome::VirtualTime),
        why: Why {
            phase: Some(long.clone()),
            reason: long.clone(),
            brief: "0.88 % missed".into(),
            sentence: None,
        },
    };
    let matter = Matter {
        what: long.clone(),
        size: long.clone(),
        remedy: long.clone(),
        is_check: true,
    };
    let next = Next {
        words: vec![Word::Text(long.clone()), Word::Run],
        what: long.clone(),
    };
    Answer {
        outcome: Outcome::Failed,
        exit_code: 2,
        because: vec![long.clone(); 9],
        criterion: long.clone(),
        classes: vec![Class::Idle, Class::UnderLoad],
        rows: vec![row; rows],
        variants: Vec::new(),
        machine: vec![matter; 3],
        more_bad: 17,
        doctor: "wakepath doctor".into(),
        next: vec![next; 4],
        limits: long,
    }
}

#[test]
fn whatever_names_a_run_holds_it_fits_one_screen() {
    for name in ["a name with blanks ", "withoutanyblank", "漢字"] {
        for rows in [0, 1, 8, 300] {
            for columns in [None, Some(40), Some(80), Some(100), Some(250)] {
                let answer = hostile(rows, name);
                let long = name.repeat(300);
                let text = answer.to_text(&Shown {
                    style: Style {
                        colour: true,
                        columns,
                    },
                    run: &long,
                    recording: &long,
                    lines_more: 1,
                });
                assert!(text.lines().count() < LINES, "{rows} rows: {text}");
                let most = columns.unwrap_or(COLUMNS).min(COLUMNS);
                let widest = text.lines().map(width).max();
                assert!(widest <= Some(most), "{columns:?}: {text}");
                assert!(text.starts_with("verdict: "), "{text}");
            }
        }
    }
}

#[test]
fn words_are_wrapped_and_not_cut_where_there_is_room() {
    let long = |last: &str| format!("{} {last}", "some words ".repeat(12).trim_end());
    let answer = Answer {
        because: vec![long("because")],
        criterion: long("criterion"),
        machine: vec![Matter {
            what: long("what"),
            size: "3 µs".into(),
            remedy: long("remedy"),
            is_check: true,
        }],
        next: vec![
            Next {
                words: vec![Word::Text(format!(
                    "wakepath check {}",
                    "--trace ".repeat(20)
                ))],
                what: long("first"),
            },
            Next {
                words: vec![Word::Text("wakepath explain".into())],
                what: long("second"),
            },
        ],
        limits: long("limits"),
        ..hostile(3, "x")
    };
    for columns in [None, Some(80)] {
        let text = answer.to_text(&Shown {
            style: Style {
                colour: false,
                columns,
            },
            ..Shown::default()
        });
        let text: Vec<&str> = text.lines().filter(|line| !line.contains("xx")).collect();
        let text = text.join("\n");
        for last in [
            "because",
            "criterion",
            "what",
            "remedy",
            "first",
            "second",
            "limits",
        ] {
            assert!(text.contains(last), "{last}: {text}");
        }
        assert!(!text.contains('…'), "{text}");
        assert!(text.matches("--trace").count() == 20, "{text}");
    }
}

#[test]
fn rows_without_room_are_counted() {
    let text = hostile(300, "x").to_text(&Shown::default());
    let more = text
        .lines()
        .find(|line| line.contains("more: wakepath show"));
    let more: usize = more
        .unwrap()
        .split_whitespace()
        .nth(1)
        .unwrap()
        .parse()
        .unwrap();
    let shown = text.matches("virtual time").count();
    assert!(shown > 3, "{text}");
    assert_eq!(shown + more, 300, "{text}");
}

/// Two policies: one that missed too often, one that was measured too briefly.
fn reasoned(needs: &str) -> Answer {
    let row = |label: &str, outcome, phase: &str, reason: &str, brief: &str| Row {
        label: label.into(),
        figures: vec![
            Some(Figures {
                missed: Some(0.014),
                missed_at_most: None,
                is_least: false,
                median_ns: Some(40_100),
                p999_ns: Some(21_870_000),
                max_ns: Some(23_539_000),
            });
            2
        ],
        verdict: judged(outcome),
        why: Why {
            phase: (!phase.is_empty()).then(|| phase.into()),
            reason: reason.into(),
            brief: brief.into(),
            sentence: None,
        },
    };
    Answer {
        because: vec!["2 policies did not meet the criterion".into()],
        rows: vec![
            row(
                "OTHER nice 0",
                Outcome::Failed,
                "stress",
                "14 % missed",
                "14 % missed",
            ),
            row(
                "DEADLINE 400 µs",
                Outcome::Undecided,
                "idle",
                &format!("0.4 % missed, needs {needs} more"),
                &format!("needs {needs}"),
            ),
            row("FIFO 50", Outcome::Passed, "", "", ""),
        ],
        ..hostile(0, "x")
    }
}

fn on_a_terminal_of(answer: &Answer, columns: usize) -> String {
    answer.to_text(&Shown {
        style: Style {
            colour: false,
            columns: Some(columns),
        },
        ..Shown::default()
    })
}

#[test]
fn a_reason_stands_beside_its_verdict_where_all_of_them_fit() {
    let text = on_a_terminal_of(&reasoned("30 s"), 100);
    let row = |label: &str| text.lines().find(|line| line.starts_with(label)).unwrap();
    assert!(
        row("OTHER nice 0").ends_with("failed: 14 % missed"),
        "{text}"
    );
    assert!(row("DEADLINE").ends_with("undecided: needs 30 s"), "{text}");
    assert!(row("FIFO 50").ends_with("passed"), "{text}");
}

#[test]
fn where_one_reason_does_not_fit_all_stand_below() {
    let needs = "22 min 33 s and a bit";
    let text = on_a_terminal_of(&reasoned(needs), 80);
    let row = |label: &str| text.lines().find(|line| line.starts_with(label)).unwrap();
    assert!(row("OTHER nice 0").ends_with("failed"), "{text}");
    let first = "  OTHER nice 0, stress: 14 % missed";
    let second = format!("  DEADLINE 400 µs, idle: 0.4 % missed, needs {needs} more");
    assert!(text.contains(&format!("{first}\n{second}\n")), "{text}");
    assert!(!text.contains("FIFO 50:"), "{text}");
}

#[test]
fn reasons_below_are_one_paragraph_where_lines_are_few() {
    let mut answer = reasoned("22 min 33 s and a bit");
    answer.limits = "some words ".repeat(200);
    let text = on_a_terminal_of(&answer, 80);
    let joined = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let below = "why: OTHER nice 0: 14 % missed; DEADLINE 400 µs: needs 22 min 33 s and a bit";
    assert!(joined.contains(below), "{text}");
}

#[test]
fn fewer_problems_are_shown_before_a_sentence_is_cut() {
    let words = |last: &str| format!("{}{last}", "some words ".repeat(20));
    let matter = |name: &str| Matter {
        what: words(name),
        size: "3 µs".into(),
        remedy: words("cured"),
        is_check: true,
    };
    let answer = Answer {
        because: vec!["2 policies did not meet the criterion".into()],
        criterion: "latency".into(),
        machine: ["first", "second", "third"].map(matter).to_vec(),
        more_bad: 4,
        next: Vec::new(),
        limits: words("end"),
        ..reasoned("30 s")
    };
    let text = on_a_terminal_of(&answer, 80);
    assert!(!text.contains('…'), "{text}");
    assert!(text.contains("first") && text.contains("end"), "{text}");
    assert!(!text.contains("third"), "{text}");
    let shown = ["first", "second"]
        .into_iter()
        .filter(|name| text.contains(name));
    let left_out = 3 - shown.count();
    assert!(
        text.contains(&format!("({} more: ", 4 + left_out)),
        "{text}"
    );
    assert!(text.lines().count() < LINES, "{text}");
}

#[test]
fn what_was_not_measured_for_a_reason_told_above_is_not_told_twice() {
    let why = "FIFO needs CAP_SYS_NICE";
    let mut answer = reasoned("30 s");
    answer
        .because
        .push(format!("FIFO 50 was not measured: {why}"));
    answer.rows[2].verdict = RowVerdict::NotMeasured;
    answer.rows[2].why.reason = why.into();
    answer.rows[2].why.sentence = Some(1);
    let text = on_a_terminal_of(&answer, 100);
    assert_eq!(text.matches(why).count(), 1, "{text}");
    answer.because.pop();
    answer.rows[2].why.sentence = None;
    let text = on_a_terminal_of(&answer, 100);
    assert_eq!(text.matches(why).count(), 1, "{text}");
}
