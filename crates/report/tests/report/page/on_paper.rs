//! The page printed, on a phone, on a tablet, in the dark, and without scripts.

use super::browser::Browser;
use super::made_up::{MadeUp, usual};
use serde_json::json;
use wakepath_timeline::Policy;

/// The eight policies of `check`, idle and under load, each with a few late cycles.
pub fn eight_policies() -> MadeUp {
    let other = |nice| Policy::Other { nice };
    let policies = [
        other(0),
        other(-19),
        Policy::Batch { nice: 0 },
        Policy::Idle,
        Policy::Fifo { priority: 50 },
        Policy::Fifo { priority: 80 },
        Policy::RoundRobin { priority: 50 },
        Policy::RoundRobin { priority: 80 },
    ];
    let mut made_up = MadeUp::with_spikes(3_000, vec![]);
    made_up.conditions = ["idle", "stress"]
        .into_iter()
        .flat_map(|phase| policies.map(|policy| (phase, policy)))
        .map(|(phase, policy)| {
            let late = |cycle| Some(usual(cycle) + 200_000 * u64::from(cycle % 700 == 500));
            (phase, policy, Box::new(late) as super::made_up::Late)
        })
        .collect();
    made_up
}

/// Six causes of every condition, and its worst cycle.
pub fn explanation() -> String {
    let conditions = eight_policies().conditions.into_iter().enumerate();
    let conditions = conditions.map(|(segment, (phase, policy, _))| {
        let cause = |number: u64| {
            json!({
                "kind": "thread", "cause": format!("thread worker{number} (OTHER), sharing the CPU"),
                "cycles": 3, "late_cycles": 3, "total_ns": 30_000, "late_ns": 30_000, "worst_ns": 10_000,
                "worst_cycle": 500, "remedy": "run the loop under FIFO, RR or DEADLINE: those preempt \
                 all OTHER threads"
            })
        };
        let piece = |number: u64| {
            json!({
                "stretch": "waking → switch-in", "kind": "thread",
                "cause": format!("thread worker{number} (OTHER), sharing the CPU"),
                "from_ns": number * 30_000, "ns": 30_000
            })
        };
        json!({
            "phase": phase, "condition": policy.to_string(), "thread": "loop", "threshold_ns": 100_000,
            "threshold_from": "criterion", "cycles": 2_990, "not_covered": 0, "woken": {}, "late": 4,
            "late_ns": 180_000, "late_explained_ns": 180_000, "all_ns": 9_000_000,
            "all_explained_ns": 9_000_000, "usual": wakepath_explain::Usual::default(),
            "causes": (0..6).map(cause).collect::<Vec<_>>(), "inflation": [], "execution_ns": 1,
            "worst": [{
                "segment": segment, "cycle": 500, "due_ns": 1, "latency_ns": 180_000, "execution_ns": 1,
                "woken": "direct", "pieces": (0..6).map(piece).collect::<Vec<_>>(), "execution": []
            }],
            "median": null, "p999": null
        })
    });
    let conditions: Vec<_> = conditions.collect();
    json!({ "version": 1, "events": 4_321, "events_lost": 0, "conditions": conditions }).to_string()
}

#[test]
fn a_run_of_eight_policies_is_printed_on_ten_pages_at_most() {
    let written = eight_policies().write();
    std::fs::write(written.directory.join("explanation.json"), explanation()).unwrap();
    let reporting = written.report();
    assert_eq!(
        reporting.figures.worst.len(),
        4,
        "a panel for each real-time policy"
    );
    let Some(mut browser) = Browser::showing_as_it_is(&reporting.file, 1280, 900) else {
        return;
    };
    let mut printed = |pages: &str| {
        let how = json!({ "preferCSSPageSize": true, "pageRanges": pages });
        browser.answer("Page.printToPDF", how)
    };
    printed("1").unwrap();
    // Chromium refuses a range that begins after the last page.
    let refused = (11..60).find_map(|page| Some((page, printed(&page.to_string()).err()?)));
    let (page, why) = refused.expect("less than 60 pages");
    assert!(
        why["message"].as_str().unwrap().contains("Page range"),
        "{why}"
    );
    assert!(page <= 11, "{} pages", page - 1);
}

#[test]
fn tables_stay_tables_down_to_560_pixels_and_are_cards_on_a_phone() {
    let written = eight_policies().write();
    let reporting = written.report();
    let Some(mut browser) = Browser::showing(&reporting.file, 760, 900) else {
        return;
    };
    browser.value("document.querySelectorAll('details').forEach(one => { one.open = true; })");
    let heads = "[...new Set([...document.querySelectorAll('table.stacks')].map(t => \
                 getComputedStyle(t).display + ' ' + getComputedStyle(t.tHead).position))].join()";
    for (width, wanted) in [
        (1280, "table static"),
        (760, "table static"),
        (561, "table static"),
        (400, "block absolute"),
    ] {
        let screen = json!({
            "width": width, "height": 900, "deviceScaleFactor": 1, "mobile": true
        });
        browser.ask("Emulation.setDeviceMetricsOverride", screen);
        browser
            .value("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))");
        assert_eq!(browser.text(heads), wanted, "{width}");
        let cut = browser.value(
            "[...document.querySelectorAll('.scroll')].filter(s => s.scrollWidth > s.clientWidth + 1)\
             .map(s => s.getAttribute('aria-label') + ' ' + s.scrollWidth + ' of ' + s.clientWidth)",
        );
        assert_eq!(cut, json!([]), "at {width}");
    }
}

#[test]
fn a_run_that_was_not_flown_has_no_word_of_a_flight() {
    let written = MadeUp::with_spikes(1_000, vec![(500, 200_000)]).write();
    let reporting = written.report();
    let page = std::fs::read_to_string(&reporting.file).unwrap();
    let (page, _) = page.split_once("<script").unwrap();
    for word in ["flight", "Flight", "vehicle"] {
        assert!(!page.contains(word), "{word}");
    }
}

#[test]
fn it_prints_fits_a_phone_and_knows_the_dark() {
    let written = MadeUp::with_spikes(3_000, vec![(500, 200_000)]).write();
    let reporting = written.report();
    let Some(mut browser) = Browser::showing(&reporting.file, 390, 800) else {
        return;
    };
    let width = browser.value("document.documentElement.scrollWidth");
    assert!(
        width.as_u64().unwrap() <= 390,
        "{width} pixels wide on a phone"
    );
    // Wider parts scroll separately, and can be reached with the keyboard.
    let stuck = "[...document.querySelectorAll('.scroll')].filter(s => s.scrollWidth > s.clientWidth + 1 && s.tabIndex < 0).length";
    assert_eq!(browser.value(stuck), json!(0));

    let paper = "getComputedStyle(document.documentElement).backgroundColor";
    assert_eq!(browser.text(paper), "rgb(255, 255, 255)");
    let dark = json!({ "features": [{ "name": "prefers-color-scheme", "value": "dark" }] });
    browser.ask("Emulation.setEmulatedMedia", dark);
    assert_eq!(browser.text(paper), "rgb(20, 24, 29)");

    // On paper it is light whatever the screen was, and without what only a pointer can use.
    let print = json!({ "media": "print", "features": [{ "name": "prefers-color-scheme", "value": "dark" }] });
    browser.ask("Emulation.setEmulatedMedia", print);
    assert_eq!(browser.text(paper), "rgb(255, 255, 255)");
    assert_eq!(
        browser.text("getComputedStyle(document.querySelector('.explorer')).display"),
        "none"
    );
    assert_ne!(
        browser.text("getComputedStyle(document.querySelector('svg')).display"),
        "none"
    );
    let pdf = browser.ask("Page.printToPDF", json!({ "printBackground": false }));
    let pdf = pdf["data"].as_str().unwrap();
    // `%PDF-` in base64, and more than an empty page.
    assert!(
        pdf.starts_with("JVBERi0") && pdf.len() > 50_000,
        "{} characters",
        pdf.len()
    );
    assert_eq!(browser.complaints(), Vec::<String>::new());
}
