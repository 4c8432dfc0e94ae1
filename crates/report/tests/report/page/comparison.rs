//! The page of a comparison: both sides' distributions over each other, as they were counted.

use super::browser::Browser;
use super::made_up::compared;
use serde_json::json;
use wakepath_assess::{Difference, Weight};
use wakepath_report::{comparison_figures, comparison_page};

const HOSTILE: &str = "</script><img src=x onerror=\"window.taken=1\">";

#[test]
fn both_sides_are_over_each_other_and_every_value_is_there() {
    let comparison = compared([HOSTILE, "second"]);
    let page = comparison_page(&comparison);
    assert!(!page.contains("<img"));
    // Four conditions, each with a histogram and its tail.
    assert_eq!(comparison_figures(&comparison).len(), 8);
    let place = tempfile::tempdir().unwrap();
    let file = place.path().join("comparison.html");
    std::fs::write(&file, page).unwrap();
    let Some(mut browser) = Browser::showing(&file, 1280, 900) else {
        return;
    };
    assert_eq!(
        browser.text("document.querySelector('h1').textContent"),
        "Comparison: inconclusive"
    );
    let body = browser.text("document.body.textContent");
    assert!(
        body.contains("One run per side can't distinguish a change from chance"),
        "{body}"
    );
    // OTHER under load is the third condition: its sides are the fifth and sixth shape.
    for (shape, largest) in [(4, 900_000), (5, 950_000)] {
        let data = format!("wakepath.runs[0].conditions[{shape}].measures.latency");
        let found = browser.value(&format!(
            "[{data}.count, {data}.bins.reduce((sum, bin) => sum + bin[2], 0), {data}.tail[0][0]]"
        ));
        assert_eq!(found, json!([2_990, 2_990, largest]));
    }
    let figure = "document.querySelector('[data-figure=exceedance-latency-other-nice-0-stress]')";
    let names = browser.value(&format!(
        "[...{figure}.querySelectorAll('[data-key]')].map(key => key.dataset.label)"
    ));
    assert_eq!(names, json!(["base", "against"]));
    // At 316 µs: one of 2 990 against two.
    browser.value(&format!("{figure}.scrollIntoView({{block: 'center'}})"));
    let at = browser.value(&format!(
        "(() => {{ const f = {figure}, b = f.getBoundingClientRect(), d = f.dataset; \
         const x = Number(d.from) + (5.5 - d.low) / (d.high - d.low) * (d.to - d.from); \
         return [b.left + x * b.width / f.viewBox.baseVal.width, b.top + b.height / 2]; }})()"
    ));
    let (x, y) = (at[0].as_f64().unwrap(), at[1].as_f64().unwrap());
    browser.pointer("mouseMoved", x, y, "none", 0);
    browser.value("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))");
    let tip = browser.text("[...document.querySelectorAll('body > .tip')].pop().textContent");
    assert!(
        tip.contains("base: 0.0334 %") && tip.contains("against: 0.0669 %"),
        "{tip}"
    );
    assert_eq!(browser.value("typeof window.taken"), json!("undefined"));
    assert_eq!(browser.requests().len(), 1);
    assert_eq!(browser.complaints(), Vec::<String>::new());
}

#[test]
fn the_finding_comes_first_and_all_else_is_folded_behind_it() {
    let page = comparison_page(&compared(["first", "second"]));
    let at = |text: &str| page.find(text).unwrap_or_else(|| panic!("no {text}"));
    let front = at("<header class=\"front\"");
    let chapters = at("<nav aria-label=\"Chapters\"");
    assert!(front < at("<h1>Comparison: ") && at("The figures that differ most; ") < chapters);
    // As the terminal says it: the maximum with how many due times it is the largest of.
    assert!(at("max of 2990 due times") < chapters);
    assert_eq!(
        page.matches("<details class=\"chapter\"><summary>").count(),
        4
    );
    assert!(!page.contains("<details class=\"chapter\" open>"));
    for id in ["differences", "metrics", "distributions", "method"] {
        assert!(
            at(&format!("href=\"#{id}\"")) < at(&format!("<section id=\"{id}\"")),
            "{id}"
        );
    }
}

#[test]
fn nothing_of_it_is_cut_at_any_width() {
    let mut comparison = compared(["first", "second"]);
    comparison.differences.push(Difference {
        part: "loads",
        what: "work of load memory, stress".into(),
        base: "421 MiB/s and a few words more".into(),
        against: "302 MiB/s and a few words more".into(),
        weight: Weight::Explains,
    });
    let place = tempfile::tempdir().unwrap();
    let file = place.path().join("comparison.html");
    std::fs::write(&file, comparison_page(&comparison)).unwrap();
    let Some(mut browser) = Browser::showing(&file, 1400, 900) else {
        return;
    };
    for width in [1400, 760, 400] {
        let screen = json!({
            "width": width, "height": 900, "deviceScaleFactor": 1, "mobile": false
        });
        browser.ask("Emulation.setDeviceMetricsOverride", screen);
        let wide = browser.value("document.documentElement.scrollWidth");
        assert!(wide.as_u64().unwrap() <= width, "{wide} at {width}");
        let cut = browser.value(
            "[...document.querySelectorAll('.scroll')].filter(s => s.scrollWidth > s.clientWidth + 1)\
             .map(s => s.getAttribute('aria-label') + ' ' + s.scrollWidth + ' of ' + s.clientWidth)",
        );
        assert_eq!(cut, json!([]), "at {width}");
    }
}
