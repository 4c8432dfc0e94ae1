//! The first page: for a reader who was not there, and for paper.

use super::browser::Browser;
use super::made_up::MadeUp;
use serde_json::json;
use wakepath_archive::Invocation;
use wakepath_report::{Titles, page};
use wakepath_verdict::Outcome;

const HOSTILE: &str = "<b>Arm</b>\" & co";

#[test]
fn the_first_page_says_it_all_and_the_chapters_are_folded() {
    let written = MadeUp::with_spikes(3_000, vec![(500, 200_000)]).write();
    let reporting = written.report();
    let titles = Titles {
        title: Some("Loop of the arm".into()),
        customer: Some(HOSTILE.into()),
        author: Some("An engineer".into()),
        unfolded: false,
    };
    let page = reporting.page(&titles);
    assert!(
        !page.contains("<b>Arm"),
        "what is written on it is not markup"
    );
    for kept in [
        "due every 1\u{a0}ms",
        "≤\u{a0}100\u{a0}µs",
        "once in 2.99\u{a0}s",
    ] {
        assert!(
            page.contains(kept),
            "{kept}: a line may end before the unit"
        );
    }
    std::fs::write(&reporting.file, page).unwrap();
    let Some(mut browser) = Browser::showing_as_it_is(&reporting.file, 1280, 900) else {
        return;
    };
    let seen = browser.text("document.querySelector('main').innerText");
    for part in [
        "for <b>Arm</b>\" & co · by An engineer",
        "Loop of the arm: PASSED",
        "Run this loop under FIFO 50: 2 policies passed, this run can't distinguish them, and it is \
         the usual one.",
        "Of 2990 due times, it missed nothing",
        // The bound is next to a count of 0, as on the terminal.
        "0 (≤ 0.",
        "due every 1 ms",
        "3 November 2026, 10:15 UTC; 2990 due times of each policy in each phase",
        "wake-up latency ≤ 100 µs",
        "What this run does not show",
        "Events rarer than once in 2.99 s",
        "wakepath run made-up.toml",
    ] {
        assert!(seen.contains(part), "{part}\n{seen}");
    }
    // Chapters stay out of the way, one link or press away.
    assert!(!seen.contains("Clopper"), "{seen}");
    let open = "document.querySelectorAll('details.chapter[open]').length";
    assert_eq!(browser.value(open), json!(0));
    browser.value("document.querySelector('nav a[href=\"#statistics-0\"]').click()");
    browser.value("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))");
    assert_eq!(browser.value(open), json!(1));
    let seen = browser.text("document.querySelector('main').innerText");
    assert_eq!(seen.matches("Clopper").count(), 1, "{seen}");
    browser.value("document.querySelector('button.unfold').click()");
    let all = browser.value("document.querySelectorAll('details.chapter').length");
    assert_eq!(browser.value(open), all);
    assert_eq!(browser.complaints(), Vec::<String>::new());
}

#[test]
fn nothing_is_cut_at_any_width_and_words_on_figures_can_be_read() {
    let written = MadeUp::with_spikes(3_000, vec![(500, 70_000_000)]).write();
    let reporting = written.report();
    let Some(mut browser) = Browser::showing(&reporting.file, 1400, 900) else {
        return;
    };
    for width in [1400, 1000, 760, 640, 580, 400] {
        let screen = json!({
            "width": width, "height": 900, "deviceScaleFactor": 1, "mobile": false
        });
        browser.ask("Emulation.setDeviceMetricsOverride", screen);
        browser
            .value("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))");
        let wide = browser.value("document.documentElement.scrollWidth");
        assert!(wide.as_u64().unwrap() <= width, "{wide} at {width}");
        let cut = browser.value(
            "[...document.querySelectorAll('.scroll')].filter(s => s.scrollWidth > s.clientWidth + 1)\
             .map(s => s.getAttribute('aria-label') + ' ' + s.scrollWidth + ' of ' + s.clientWidth)",
        );
        assert_eq!(cut, json!([]), "at {width}");
        let beyond = browser.value(
            "[...document.querySelectorAll('svg.figure text')].filter(t => { \
             const b = t.getBoundingClientRect(), f = t.closest('svg').getBoundingClientRect(); \
             return b.left < f.left - 2 || b.right > f.right + 2; }).map(t => t.textContent)",
        );
        assert_eq!(beyond, json!([]), "at {width}");
        let small = browser.value(
            "Math.min(...[...document.querySelectorAll('svg.figure')].map(f => \
             f.getBoundingClientRect().width / f.viewBox.baseVal.width))",
        );
        assert!(
            small.as_f64().unwrap() > 0.8,
            "figures at {small} at {width}"
        );
    }
}

#[test]
fn how_to_repeat_a_run_fills_the_room_below_the_figure_and_comes_last_on_a_narrow_screen() {
    let written = MadeUp::with_spikes(3_000, vec![(500, 200_000)]).write();
    let reporting = written.report();
    let Some(mut browser) = Browser::showing_as_it_is(&reporting.file, 1400, 900) else {
        return;
    };
    let places = "[...document.querySelectorAll('.front h2')].map(h => [h.textContent, \
                  h.getBoundingClientRect()]).map(([name, b]) => ({name, x: b.x, y: b.y}))";
    let mut seen = |width: u64| {
        let screen = json!({
            "width": width, "height": 900, "deviceScaleFactor": 1, "mobile": false
        });
        browser.ask("Emulation.setDeviceMetricsOverride", screen);
        browser
            .value("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))");
        let places = browser.value(places);
        let names = [
            "How late the loop woke",
            "What this run does not show",
            "How to repeat it",
        ];
        names.map(|name| {
            let mut all = places.as_array().unwrap().iter();
            let own = all.find(|place| place["name"] == name).unwrap();
            [&own["x"], &own["y"]].map(|at| at.as_f64().unwrap())
        })
    };
    let [[figure, _], [limits, _], [repeat, _]] = seen(1400);
    assert!(repeat == figure && limits > figure);
    let [[figure, top], [limits, middle], [repeat, end]] = seen(760);
    assert!(repeat == figure && limits == figure);
    assert!(top < middle && middle < end);
}

#[test]
fn on_paper_the_first_page_is_one_sheet_and_all_chapters_follow_it() {
    let written = MadeUp::with_spikes(3_000, vec![(500, 200_000)]).write();
    let reporting = written.report();
    let Some(mut browser) = Browser::showing_as_it_is(&reporting.file, 1280, 900) else {
        return;
    };
    // Parts folded inside chapters open for paper too, except those for the screen alone.
    let closed = "(dispatchEvent(new Event('beforeprint')), \
                  document.querySelectorAll('details:not([open]):not(.screen)').length)";
    assert_eq!(browser.value(closed), json!(0));
    browser.value("dispatchEvent(new Event('afterprint'))");
    std::fs::write(&reporting.file, reporting.page(&Titles::default())).unwrap();
    browser.load(&reporting.file);
    let folded = browser.ask("Page.printToPDF", json!({ "preferCSSPageSize": true }));
    // Folded chapters are unfolded for paper, and folded again after it.
    let open = "document.querySelectorAll('details.chapter[open]').length";
    assert_eq!(browser.value(open), json!(0));
    let titles = Titles {
        unfolded: true,
        ..Titles::default()
    };
    std::fs::write(&reporting.file, reporting.page(&titles)).unwrap();
    browser.load(&reporting.file);
    let unfolded = browser.ask("Page.printToPDF", json!({ "preferCSSPageSize": true }));
    let length = |pdf: &serde_json::Value| pdf["data"].as_str().unwrap().len();
    let (folded, unfolded) = (length(&folded), length(&unfolded));
    assert!(
        folded.abs_diff(unfolded) < unfolded / 10,
        "{folded} characters folded, {unfolded} unfolded"
    );
    // A4 without its margins, at 96 pixels an inch.
    let sheet = json!({ "width": 688, "height": 1009, "deviceScaleFactor": 1, "mobile": false });
    browser.ask("Emulation.setDeviceMetricsOverride", sheet);
    browser.ask("Emulation.setEmulatedMedia", json!({ "media": "print" }));
    let high = browser.value("document.querySelector('.front').getBoundingClientRect().height");
    assert!(high.as_f64().unwrap() < 1_009.0, "{high} pixels");
    let wide = "Math.max(...[...document.querySelectorAll('table,svg')].map(t => t.getBoundingClientRect().right))";
    let wide = browser.value(wide);
    assert!(wide.as_f64().unwrap() <= 690.0, "{wide} pixels");
}

#[test]
fn the_reason_stands_beside_a_verdict_that_is_not_passed() {
    let written = MadeUp::with_spikes(3_000, vec![(500, 70_000_000)]).write();
    let page = written.report().page(&Titles {
        title: Some("Arm \"7\"".into()),
        ..Titles::default()
    });
    let front = page.split("</header>").next().unwrap();
    for part in [">why</th>", "stress: the samples contradict themselves"] {
        assert!(
            front.contains(part),
            "{part} {}",
            front.split("<table").nth(1).unwrap()
        );
    }
    // The title is below each printed page too.
    assert!(
        page.contains("@bottom-left{content:\"Arm \\22 7\\22 "),
        "{front}"
    );
}

#[test]
fn a_remark_that_the_lead_is_made_of_is_written_once() {
    let written = MadeUp::with_spikes(3_000, Vec::new()).write();
    let mut reporting = written.report();
    // As if no measured policy held, and others could not be measured.
    reporting.assessment.outcome = Outcome::Undecided;
    reporting.assessment.overall.policies.clear();
    let remarks = ["14 conditions could not be measured", "the clock changed"];
    reporting.assessment.remarks = remarks.map(str::to_owned).into();
    let page = reporting.page(&Titles::default()).to_lowercase();
    for remark in remarks {
        assert_eq!(page.matches(remark).count(), 1, "{remark}");
    }
}

#[test]
fn no_two_landmarks_of_a_page_of_several_runs_have_one_name() {
    let written = MadeUp::with_spikes(300, Vec::new()).write();
    let reporting = written.report();
    let several = [reporting.reported(), reporting.reported()];
    for (runs, own) in [
        (&several[..1], "Chapters"),
        (&several[..], "Chapters, run 2"),
    ] {
        let page = page(runs, &Titles::default());
        let landmarks = page.split("<nav ").chain(page.split("<section "));
        let names =
            landmarks.filter_map(|part| part.split_once('>')?.0.split_once("aria-label=\""));
        let names: Vec<&str> = names
            .filter_map(|(_, name)| name.split('"').next())
            .collect();
        assert!(names.contains(&own), "{names:?}");
        let mut distinct = names.clone();
        distinct.sort_unstable();
        distinct.dedup();
        assert_eq!(distinct.len(), names.len(), "{names:?}");
    }
}

#[test]
fn a_command_that_is_copied_has_the_blanks_that_a_shell_reads() {
    let mut made_up = MadeUp::with_spikes(1_000, vec![]);
    made_up.command = Invocation::of_scenario("at 1 % of 2 ms.toml");
    let reporting = made_up.write().report();
    let page = reporting.page(&Titles::default());
    let commands = page.matches("run &#39;at 1 % of 2 ms.toml&#39;").count();
    assert!(commands >= 2, "on the first page and in its chapter");
    assert!(!page.contains("at 1\u{a0}%"));
}
