//! The page shows the archive's numbers, and requests nothing from anyone.

use super::browser::Browser;
use super::made_up::MadeUp;
use serde_json::{Value, json};

#[test]
fn the_figures_are_there_and_their_values_are_the_archives() {
    let spikes = vec![(1_234, 933_333), (4_321, 444_444)];
    let written = MadeUp::with_spikes(6_000, spikes).write();
    let reporting = written.report();
    let Some(mut browser) = Browser::showing(&reporting.file, 1280, 900) else {
        return;
    };

    let figures: Vec<String> = reporting
        .figures
        .all()
        .map(|figure| figure.name.clone())
        .collect();
    let shown = browser
        .value("[...document.querySelectorAll('svg[data-figure]')].map(f => f.dataset.figure)");
    let mut shown: Vec<&str> = shown
        .as_array()
        .unwrap()
        .iter()
        .filter_map(Value::as_str)
        .collect();
    let mut expected: Vec<&str> = figures.iter().map(String::as_str).collect();
    shown.sort_unstable();
    expected.sort_unstable();
    assert_eq!(shown, expected);
    for name in [
        "exceedance-latency-stress",
        "histogram-response-idle",
        "boxes-latency",
        "averages-latency",
        "time-other-nice-0",
    ] {
        assert!(
            expected.contains(&name),
            "{name} is not drawn: {expected:?}"
        );
    }
    // A limit's line is below the figures that it crosses.
    let crossed = "[...document.querySelectorAll('text.clear')].filter(t => { \
                   const limit = t.closest('svg').querySelector('line.limit'); \
                   return !getComputedStyle(t).paintOrder.startsWith('stroke') || limit && \
                   !(limit.compareDocumentPosition(t) & Node.DOCUMENT_POSITION_FOLLOWING); }).length";
    assert_eq!(browser.value(crossed), json!(0));
    let boxes = "document.querySelectorAll('[data-figure=boxes-latency] text.clear').length";
    assert_eq!(browser.value(boxes), json!(4));
    // Every path has places, none of them broken.
    let broken = "[...document.querySelectorAll('svg *')].filter(e => [...e.attributes].some(a => /NaN|Infinity|undefined/.test(a.value))).length";
    assert_eq!(browser.value(broken), json!(0));
    assert!(
        browser
            .value("document.querySelectorAll('svg path').length")
            .as_u64()
            .unwrap()
            > 10
    );

    for (number, judgement) in reporting.assessment.conditions.iter().enumerate() {
        let segment = &reporting.run.manifest.segments[number];
        let samples = reporting.run.samples(segment.segment, 0).unwrap();
        let judged = || samples.iter().filter(|sample| sample.cycle >= 10);
        let latest = judged().map(|sample| sample.latency_ns()).max().unwrap();
        let longest = judged().map(|sample| sample.response_ns()).max().unwrap();
        let data = format!("wakepath.runs[0].conditions[{number}]");
        assert_eq!(
            browser.value(&format!("{data}.measures.latency.tail[0][0]")),
            json!(latest)
        );
        assert_eq!(
            browser.value(&format!("{data}.measures.response.tail[0][0]")),
            json!(longest)
        );
        let finest = format!("Math.max(...{data}.measures.latency.finest.max)");
        assert_eq!(browser.value(&finest), json!(latest));
        let counted = format!("{data}.measures.latency.bins.reduce((sum, bin) => sum + bin[2], 0)");
        assert_eq!(browser.value(&counted), json!(judged().count()));
        let late = format!("{data}.late.index.length");
        assert_eq!(browser.value(&late), json!(judgement.cycles.missed()));
    }
    // The table says them too: the largest latency under load, with its unit.
    let text = browser.text("document.querySelector('.measured').textContent");
    assert!(text.contains("933 µs"), "{text}");
    // And the verdict is at the top.
    let head = browser.text("document.querySelector('h1').textContent");
    assert_eq!(head, format!("made-up: {}", reporting.assessment.outcome));

    assert_eq!(browser.complaints(), Vec::<String>::new());
    let asked = browser.requests();
    let own = format!("file://{}", reporting.file.display());
    assert!(asked.iter().all(|url| *url == own), "{asked:?}");
}

#[test]
fn pointing_at_a_curve_reads_the_share_and_a_press_hides_it() {
    let written = MadeUp::with_spikes(6_000, vec![(1_234, 933_333)]).write();
    let reporting = written.report();
    let Some(mut browser) = Browser::showing(&reporting.file, 1280, 900) else {
        return;
    };
    let figure = "document.querySelector('[data-figure=exceedance-latency-stress]')";
    browser.value(&format!("{figure}.scrollIntoView({{block: 'center'}})"));
    // At 316 µs: one due time of 5 990 under OTHER, none under FIFO.
    let place = browser.value(&format!(
        "(() => {{ const f = {figure}, b = f.getBoundingClientRect(), d = f.dataset; \
         const x = Number(d.from) + (5.5 - d.low) / (d.high - d.low) * (d.to - d.from); \
         return [b.left + x * b.width / f.viewBox.baseVal.width, b.top + b.height / 2]; }})()"
    ));
    let (x, y) = (place[0].as_f64().unwrap(), place[1].as_f64().unwrap());
    browser.pointer("mouseMoved", x, y, "none", 0);
    browser.value("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))");
    let tip = browser.text("[...document.querySelectorAll('body > .tip')].pop().textContent");
    assert!(tip.contains("OTHER nice 0: 0.0167 %"), "{tip}");
    assert!(tip.contains("FIFO 50: none"), "{tip}");

    let key = format!("{figure}.querySelector('[data-key]')");
    browser.value(&format!(
        "{key}.dispatchEvent(new MouseEvent('click', {{bubbles: true}}))"
    ));
    assert_eq!(
        browser.text(&format!("{key}.getAttribute('aria-pressed')")),
        "false"
    );
    let hidden = format!("getComputedStyle({figure}.querySelector('[data-condition]')).display");
    assert_eq!(browser.text(&hidden), "none");
    assert_eq!(browser.complaints(), Vec::<String>::new());
}

#[test]
fn whoever_can_not_see_it_is_told() {
    let written = MadeUp::with_spikes(3_000, vec![(500, 200_000)]).write();
    let reporting = written.report();
    let Some(mut browser) = Browser::showing(&reporting.file, 1280, 900) else {
        return;
    };
    for (what, wanted) in [
        ("document.documentElement.lang", json!("en-GB")),
        (
            "[...document.querySelectorAll('svg')].filter(f => !f.getAttribute('aria-label')).length",
            json!(0),
        ),
        (
            "[...document.querySelectorAll('table')].filter(t => !t.caption).length",
            json!(0),
        ),
        (
            "[...document.querySelectorAll('section')].filter(s => !document.getElementById(s.getAttribute('aria-labelledby'))).length",
            json!(0),
        ),
        (
            "[...document.querySelectorAll('select')].filter(s => s.labels.length === 0).length",
            json!(0),
        ),
        ("document.querySelectorAll('h1').length", json!(1)),
        (
            "new Set([...document.querySelectorAll('[id]')].map(e => e.id)).size === document.querySelectorAll('[id]').length",
            json!(true),
        ),
        (
            "[...document.querySelectorAll('a[href^=\"#\"]')].filter(a => !document.getElementById(a.hash.slice(1))).length",
            json!(0),
        ),
        (
            "(() => { let last = 1, skipped = 0; for (const h of document.querySelectorAll('h1,h2,h3')) { const n = Number(h.tagName[1]); if (n > last + 1) skipped++; last = n; } return skipped; })()",
            json!(0),
        ),
    ] {
        assert_eq!(browser.value(what), wanted, "{what}");
    }
    // The first stop of the tabulator leads past the head.
    browser.ask(
        "Input.dispatchKeyEvent",
        json!({ "type": "keyDown", "key": "Tab", "code": "Tab", "windowsVirtualKeyCode": 9 }),
    );
    assert_eq!(browser.text("document.activeElement.className"), "skip");
}

#[test]
fn the_page_says_each_gate_of_the_worst_case_with_its_statistic() {
    let written = MadeUp::with_spikes(6_000, vec![(1_234, 933_333)]).write();
    let page = std::fs::read_to_string(written.report().file).unwrap();
    let page = page.replace('\u{a0}', " ");
    let run = wakepath_archive::Run::open(&written.directory).unwrap();
    let order = wakepath_assess::BoundOrder::default();
    let bounds = wakepath_assess::Bounds::new(&run, &order).unwrap();
    let (_, chapter) = page.split_once("id=\"worst-case-0\"").unwrap();
    let (chapter, _) = chapter.split_once("</section>").unwrap();
    assert!(!bounds.conditions.is_empty());
    for condition in &bounds.conditions {
        assert!(condition.examined.gates.len() > 1, "{condition:?}");
        for gate in &condition.examined.gates {
            let escaped = gate.finding.replace('&', "&amp;").replace('<', "&lt;");
            let escaped = escaped.replace('>', "&gt;");
            assert!(chapter.contains(&escaped), "{}: {escaped}", gate.name);
        }
    }
    assert!(chapter.contains("933 µs"), "{chapter}");
}
