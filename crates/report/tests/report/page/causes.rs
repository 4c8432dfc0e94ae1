//! Causes ranked, timelines and causes under the pointer, of a run with a stored explanation.

use super::browser::Browser;
use super::made_up::MadeUp;
use serde_json::json;

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
    let usual = wakepath_explain::Usual::default();
    json!({
        "version": 1, "events": 4321, "events_lost": 0,
        "conditions": [{
            "phase": "stress", "condition": "OTHER nice 0", "thread": "loop",
            "threshold_ns": 100_000, "threshold_from": "criterion", "cycles": 990, "not_covered": 0,
            "woken": {}, "late": 1, "late_ns": 300_000, "late_explained_ns": 300_000,
            "all_ns": 9_000_000, "all_explained_ns": 9_000_000, "usual": usual,
            "causes": [cause], "inflation": [], "execution_ns": 1,
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
    assert!(reporting.figures.worst[0].alternative.contains("260 µs"));
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
