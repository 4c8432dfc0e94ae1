//! Output for made-up runs: the table, the answer of one screen, the advice, the JSON.

use crate::made_up::*;
use serde_json::json;
use wakepath_archive::{Ending, Obstacle, Run, ThreadEnd};
use wakepath_assess::Assessment;
use wakepath_machine::{CpuThrottling, GroupThrottling};
use wakepath_report::{Answer, Shown, Style, ToText, to_json};
use wakepath_timeline::Policy;
use wakepath_verdict::Outcome;

#[test]
fn the_table_shows_a_stall_as_the_due_times_that_it_cost() {
    let mut segments = everything_clean();
    segments[2] = stalled("stress", OTHER);
    let text = assessed(&segments, Ending::Complete).to_text(Style::default());
    let row = text
        .lines()
        .find(|line| line.contains("OTHER nice 0") && line.contains("undecided"));
    let row: Vec<&str> = row.unwrap().split_whitespace().collect();
    assert_eq!(&row[3..6], ["1990", "1975", "15"], "{text}");
    assert!(text.contains("as executed"), "{text}");
    assert!(text.contains("verdict: PASSED: use FIFO 50"), "{text}");
    assert!(
        text.contains("load stress: cpu × 2: 50.0 rounds/s"),
        "{text}"
    );
    assert!(!text.contains('\x1b'), "no colour was requested");
}

#[test]
fn the_answer_to_a_run_of_all_policies_fits_one_screen_and_begins_with_the_verdict() {
    let policies = [
        OTHER,
        Policy::Other { nice: -19 },
        Policy::RoundRobin { priority: 50 },
        Policy::RoundRobin { priority: 99 },
        FIFO,
        Policy::Fifo { priority: 99 },
        Policy::Batch { nice: 0 },
        Policy::Idle,
    ];
    let mut segments: Vec<Segment> = ["idle", "stress"]
        .into_iter()
        .flat_map(|phase| policies.map(|policy| clean(phase, policy)))
        .collect();
    segments[8] = stalled("stress", OTHER);
    let assessment = assessed(&segments, Ending::Complete);
    let answer = Answer::new(&assessment, None);
    for columns in [None, Some(80), Some(100)] {
        let text = answer.to_text(&Shown {
            style: Style {
                columns,
                ..Style::default()
            },
            recording: "wakepath-runs/made-up",
            ..Shown::default()
        });
        assert!(text.starts_with("verdict: PASSED: use "), "{text}");
        assert!(text.lines().count() <= 40, "{text}");
        // A narrow terminal must not truncate the probability proved for the largest latency.
        let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
        let (_, proved) = words.split_once("with probability ≤ ").unwrap();
        assert_eq!(proved.split(' ').nth(1), Some("%"), "{text}");
        let most = columns.unwrap_or(100);
        let widest = text.lines().map(wakepath_timeline::columns::width).max();
        assert!(widest <= Some(most), "{text}");
        for policy in policies {
            let row = |line: &&str| line.starts_with(&policy.to_string());
            assert_eq!(text.lines().filter(row).count(), 1, "{policy}: {text}");
        }
        let stalled = text.lines().find(|line| line.starts_with("OTHER nice 0"));
        let stalled = stalled.unwrap();
        // 16 of 1990 due times.
        for part in ["0.8 %", "15.1 ms", "undecided"] {
            assert!(stalled.contains(part), "{part}: {text}");
        }
        assert!(
            text.contains("wakepath run made-up.toml --duration 1h"),
            "{text}"
        );
    }
}

#[test]
fn a_quota_that_was_used_up_comes_first_unless_the_recommended_policy_is_spared() {
    let throttled = |policy| {
        let segments = [clean("idle", policy), clean("stress", policy)];
        let mut assessment = assessed(&segments, Ending::Complete);
        assessment.throttled = vec![GroupThrottling {
            group: "/robot".into(),
            file: "/sys/fs/cgroup/robot/cpu.max".into(),
            since_made: CpuThrottling {
                periods: 100,
                times: 60,
                stopped_us: 2_300_000,
            },
        }];
        Answer::new(&assessment, None).machine
    };
    let matters = throttled(OTHER);
    assert_eq!(
        matters[0].what,
        "control group /robot used up its CPU quota"
    );
    assert!(
        matters[0]
            .size
            .starts_with("60 times, 2.3 s summed over its CPUs"),
        "{}",
        matters[0].size
    );
    assert!(
        matters[0]
            .remedy
            .contains("echo max > /sys/fs/cgroup/robot/cpu.max")
    );
    let matters = throttled(FIFO);
    let quota = matters.iter().find(|matter| matter.what.contains("quota"));
    assert!(quota.is_some_and(|matter| matter.size.ends_with("it stops ordinary threads")));
}

/// A run's next steps, each with the command in the line after it.
fn next_steps(assessment: &Assessment) -> Vec<String> {
    let text = assessment.to_text(Style::default());
    let text = text.replace("\n    wakepath ", ": wakepath ");
    let text = text.replace("\n    sudo ", ": sudo ");
    let lines = text
        .lines()
        .filter_map(|line| line.strip_prefix("  next, for "));
    lines.map(str::to_owned).collect()
}

#[test]
fn a_run_interrupted_in_its_warm_up_says_so_and_contradicts_nothing() {
    let mut segments = vec![clean("idle", OTHER)];
    segments[0].samples.truncate(4);
    segments[0].ended = ThreadEnd::Stopped;
    let assessment = assessed(&segments, Ending::Interrupted);
    assert_eq!(assessment.outcome, Outcome::Undecided);
    let reasons = assessment.conditions[0].reasons.iter();
    let reasons: Vec<String> = reasons.map(ToString::to_string).collect();
    assert_eq!(
        reasons,
        ["the run was interrupted in the warm-up: nothing was measured"]
    );
    assert_eq!(
        next_steps(&assessment),
        [
            "OTHER nice 0: the run did not get to its end; the same again: wakepath run made-up.toml \
             --duration 20s"
        ]
    );
}

/// Conditions with too few cycles to decide, `misses` of them missed.
fn short(phase: &'static str, policy: Policy, misses: u64) -> Segment {
    let mut segment = clean(phase, policy);
    for (n, sample_) in (0..).zip(&mut segment.samples[100..]).take(misses as usize) {
        *sample_ = sample(100 + n, 200_000);
    }
    segment.samples.truncate(300);
    segment
}

#[test]
fn advice_is_each_policys_own_as_a_command_to_type() {
    // OTHER could pass with more due times; FIFO misses more than a longer run would excuse.
    let mut segments = vec![
        short("idle", OTHER, 0),
        short("idle", FIFO, 0),
        short("stress", OTHER, 0),
        short("stress", FIFO, 2),
    ];
    let judge = |segments: &[Segment]| {
        let directory = tempfile::tempdir().unwrap();
        let run = directory.path().join("run");
        write_short(&run, segments);
        Assessment::new(&Run::open(&run).unwrap()).unwrap()
    };
    let assessment = judge(&segments);
    assert_eq!(assessment.outcome, Outcome::Undecided);
    let steps = next_steps(&assessment);
    assert_eq!(steps.len(), 2, "{steps:?}");
    assert!(
        steps[0].starts_with("OTHER nice 0: 1 s more of each condition would decide: wakepath run made-up.toml --duration "),
        "{steps:?}"
    );
    assert!(
        !steps[0].contains("20s") && !steps[0].contains("here"),
        "{steps:?}"
    );
    // A trace takes as much time again: the length that was given does not hold both.
    assert!(
        steps[1].starts_with(
            "FIFO 50: at this miss rate a longer run won't pass (stress); see what makes cycles late: \
             wakepath run made-up.toml --trace --duration "
        ) && !steps[1].contains("20s"),
        "{steps:?}"
    );
    // One policy is enough: the one that needs less is all that is advised.
    segments[3] = short("stress", FIFO, 0);
    segments[3].samples.truncate(250);
    let steps = next_steps(&judge(&segments));
    assert_eq!(steps.len(), 1, "{steps:?}");
    assert!(steps[0].starts_with("OTHER nice 0: "), "{steps:?}");
    for number in [1, 3] {
        segments[number].samples.clear();
        segments[number].ended = ThreadEnd::Failed {
            obstacle: Obstacle::MissingRight,
            reason: "FIFO 50 needs a privilege".into(),
        };
    }
    let steps = next_steps(&judge(&segments));
    assert_eq!(
        steps[1],
        "FIFO 50: insufficient privileges: sudo wakepath run made-up.toml --duration 20s"
    );
}

#[test]
fn policies_that_are_late_in_different_places_share_one_command() {
    let directory = tempfile::tempdir().unwrap();
    let run = directory.path().join("run");
    let segments = [
        short("idle", OTHER, 2),
        short("idle", FIFO, 0),
        short("stress", OTHER, 0),
        short("stress", FIFO, 2),
    ];
    write_short(&run, &segments);
    let steps = next_steps(&Assessment::new(&Run::open(&run).unwrap()).unwrap());
    let [step] = &steps[..] else {
        panic!("{steps:?}")
    };
    assert!(
        step.starts_with(
            "OTHER nice 0, FIFO 50: at this miss rate a longer run won't pass (idle, stress); see what \
             makes cycles late: wakepath run made-up.toml --trace"
        ),
        "{step}"
    );
}

#[test]
fn the_json_holds_what_the_text_shows() {
    let assessment = assessed(&everything_clean(), Ending::Complete);
    let json: serde_json::Value = serde_json::from_str(&to_json(&assessment)).unwrap();
    assert_eq!(json["outcome"], "passed");
    assert_eq!(json["conditions"][0]["cycles"]["scheduled"], 1990);
    let latency = &json["conditions"][0]["cycles"]["latency_as_executed"];
    assert_eq!(
        (&latency["min"], &latency["max"]),
        (&json!(5_000), &json!(5_600))
    );
}
