//! Causes ranked, timelines and causes under the pointer, of a run with a stored explanation.

use super::browser::Browser;
use super::made_up::{FIFO, MadeUp, OTHER, usual};
use serde_json::json;
use wakepath_explain::Explanation;
use wakepath_report::Answer;

/// Cycle 500 of the second segment under load woke 300 µs late: 260 µs of it a thread's.
fn explanation(thread: &str) -> String {
    let piece = |stretch: &str, kind: &str, cause: &str, from_ns: u64, ns: u64| json!({ "stretch": stretch, "kind": kind, "cause": cause, "from_ns": from_ns, "ns": ns });
    let pieces = [
        piece(
            "due → interrupt",
            "timer-delivery",
            "timer delivery",
            0,
            10_000,
        ),
        piece("waking → switch-in", "thread", thread, 10_000, 260_000),
        piece("switch-in → user", "path", "path", 270_000, 30_000),
    ];
    let cause = json!({
        "kind": "thread", "cause": thread, "cycles": 1, "late_cycles": 1, "total_ns": 260_000,
        "late_ns": 260_000, "worst_ns": 260_000, "worst_cycle": 500, "remedy": "move it to another CPU"
    });
    let alike = json!({
        "kind": "thread", "cause": thread, "causes": 1, "names": 1, "cycles": 1, "late_cycles": 1,
        "total_ns": 260_000, "late_ns": 260_000, "worst_ns": 260_000, "late_worst_ns": 260_000,
        "remedy": "move it to another CPU"
    });
    let usual = wakepath_explain::Usual::default();
    json!({
        "version": 1, "events": 4321, "events_lost": 0,
        "conditions": [{
            "phase": "stress", "condition": "OTHER nice 0", "thread": "loop",
            "threshold_ns": 100_000, "threshold_from": "criterion", "cycles": 990, "not_covered": 0,
            "woken": {}, "late": 1, "late_ns": 300_000, "late_explained_ns": 300_000,
            "all_ns": 9_000_000, "all_explained_ns": 9_000_000, "usual": usual,
            "causes": [cause], "alike": [alike], "inflation": [], "execution_ns": 1,
            "worst": [{
                "segment": 2, "cycle": 500, "due_ns": 1, "latency_ns": 300_000, "execution_ns": 1,
                "woken": "direct", "pieces": pieces, "execution": []
            }],
            "median": null, "p999": null
        }]
    })
    .to_string()
}

#[test]
fn a_traced_run_names_its_causes_in_table_timeline_and_under_the_pointer() {
    let thread = "thread <img src=x onerror=window.taken=1> (77)";
    let written = MadeUp::with_spikes(1_000, vec![(500, 300_000), (600, 200_000)]).write();
    std::fs::write(
        written.directory.join("explanation.json"),
        explanation(thread),
    )
    .unwrap();
    let reporting = written.report();
    assert_eq!(reporting.figures.worst.len(), 1);
    assert!(
        reporting.figures.worst[0]
            .alternative
            .contains("260 µs, 87 %")
    );
    let Some(mut browser) = Browser::showing(&reporting.file, 1280, 900) else {
        return;
    };
    let section = browser.text("document.getElementById('causes-0').textContent");
    for part in [
        "4321 kernel events",
        thread,
        "87 %",
        "move it to another CPU",
    ] {
        assert!(section.contains(part), "{part} is not in {section}");
    }
    assert!(!section.contains("not traced"), "{section}");
    let drawn = "document.querySelectorAll('[data-figure=worst-other-nice-0] rect.lane').length";
    assert!(browser.value(drawn).as_u64().unwrap() >= 3);
    // A single figure is not drawn as small as if there were three.
    let wide =
        "document.querySelector('[data-figure=worst-other-nice-0]').getBoundingClientRect().width";
    assert!(browser.value(wide).as_f64().unwrap() > 500.0);
    browser.value("document.querySelector('.chart').focus()");
    browser.key("n");
    let read = browser.text("document.querySelector('.readout').textContent");
    assert!(
        read.ends_with(&format!("cause: {thread} (260 µs of it)")),
        "{read}"
    );
    browser.key("n");
    let read = browser.text("document.querySelector('.readout').textContent");
    assert!(
        read.ends_with("cause: not traced in this segment, see Causes"),
        "{read}"
    );
    assert_eq!(browser.value("typeof window.taken"), json!("undefined"));
    assert_eq!(browser.complaints(), Vec::<String>::new());
}

/// A condition under load with one cause in 40 late cycles.
fn late_under(policy: &str, cause: &str, ns: u64, fix: &str) -> serde_json::Value {
    let alike = json!({
        "kind": "thread", "cause": cause, "causes": 1, "names": 1, "cycles": 40, "late_cycles": 40,
        "total_ns": 40 * ns, "late_ns": 40 * ns, "worst_ns": ns, "late_worst_ns": ns, "remedy": fix
    });
    json!({
        "phase": "stress", "condition": policy, "thread": "loop", "threshold_ns": 100_000,
        "threshold_from": "criterion", "threshold_is_limit": true, "cycles": 990, "not_covered": 0,
        "woken": {}, "late": 40, "late_ns": 40 * ns, "late_explained_ns": 40 * ns,
        "all_ns": 9_000_000, "all_explained_ns": 9_000_000,
        "usual": wakepath_explain::Usual::default(), "causes": [], "alike": [alike], "inflation": [],
        "execution_ns": 1, "median": null, "p999": null,
        "worst": [{
            "segment": 2, "cycle": 500, "due_ns": 1, "latency_ns": ns + 50_000, "execution_ns": 1,
            "woken": "direct", "pieces": [], "execution": []
        }]
    })
}

#[test]
fn if_all_policies_failed_the_first_page_has_the_causes_of_the_nearest_one() {
    let late = |every: u64| {
        move |cycle: u64| {
            let is_late = cycle.is_multiple_of(every);
            Some(if is_late { 700_000 } else { usual(cycle) })
        }
    };
    let mut run = MadeUp::with_spikes(1_000, Vec::new());
    run.conditions = vec![
        ("idle", OTHER, Box::new(|cycle| Some(usual(cycle)))),
        ("idle", FIFO, Box::new(|cycle| Some(usual(cycle)))),
        ("stress", OTHER, Box::new(late(5))),
        ("stress", FIFO, Box::new(late(25))),
    ];
    let written = run.write();
    let explanation = json!({
        "version": 1, "events": 4321, "events_lost": 0,
        "conditions": [
            late_under("OTHER nice 0", "thread hog", 900_000, "run the loop under FIFO"),
            late_under("FIFO 50", "SoftIRQ HRTIMER", 200_000, "isolate the CPU"),
        ]
    });
    let file = written.directory.join("explanation.json");
    std::fs::write(file, explanation.to_string()).unwrap();
    let reporting = written.report();
    let page = std::fs::read_to_string(&reporting.file).unwrap();
    let front = page.split("</header>").next().unwrap();
    assert!(front.contains("FIFO 50 came nearest"), "{front}");
    let cause = "<li>SoftIRQ HRTIMER: 200\u{a0}µs at worst, 8.00\u{a0}ms in all, 40 late cycles under FIFO \
                 50. Fix: isolate the CPU</li>";
    assert!(front.contains(cause), "{front}");
    let untraced = "<li>The cause of the largest latency of FIFO 50, 700\u{a0}µs: no traced cycle was later than \
                    250\u{a0}µs.</li>";
    assert!(front.contains(untraced), "{front}");
    // To run under FIFO is no advice for a loop that did.
    assert!(!front.contains("thread hog"), "{front}");
    let explanation: Explanation = serde_json::from_value(explanation).unwrap();
    let answer = Answer::new(&reporting.assessment, Some(&explanation));
    let next = serde_json::to_string(&answer.next).unwrap();
    assert!(next.contains("--policy 'FIFO 50'"), "{next}");
}
