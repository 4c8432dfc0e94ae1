//! The view over the run: no spike is lost at any zoom, and it answers to pointer and keyboard.

use super::browser::Browser;
use super::made_up::{FIFO, MadeUp, OTHER, usual};
use serde_json::json;

#[test]
fn every_planted_spike_is_in_the_picture_at_every_zoom() {
    // Among 200 000: at the very beginning and end, within and at the edges of buckets, and none of
    // them a violation but the last.
    let spikes = vec![
        (10, 55_001),
        (11_111, 55_002),
        (65_536 + 10, 55_003),
        (150_000, 55_004),
        (199_999, 777_777),
    ];
    let written = MadeUp::with_spikes(200_000, spikes.clone()).write();
    let reporting = written.report();
    let stress = reporting
        .pictures
        .iter()
        .position(|picture| picture.name.phase == "stress");
    for level in &reporting.pictures[stress.unwrap()].latency.pyramid.levels {
        for (cycle, latency) in &spikes {
            let bucket = level.buckets[((cycle - 10) / level.size) as usize].unwrap();
            assert_eq!((bucket.max, bucket.at), (*latency as i64, cycle - 10));
        }
    }
    let Some(mut browser) = Browser::showing(&reporting.file, 1280, 900) else {
        return;
    };
    let mut sizes = Vec::new();
    for (cycle, latency) in spikes {
        let mut width = 200_000.0_f64;
        while width >= 8.0 {
            let index = cycle - 10;
            let seen = browser.value(&format!(
                "(() => {{ const e = wakepath.explorers[0]; e.show({index} - {width} / 2, {index} + {width} / 2); \
                 const s = e.shown().find(s => s.condition === {}); \
                 const b = Math.floor({index} / s.size) - s.first; \
                 return [s.max[b], (b + s.first) * s.size + s.at[b], s.size, \
                 e.plot.data.slice(1).some(line => line.includes({latency}))]; }})()",
                stress.unwrap()
            ));
            assert_eq!(seen[0], json!(latency), "{width} around {cycle}");
            assert_eq!(seen[1], json!(index), "{width} around {cycle}");
            assert_eq!(
                seen[3],
                json!(true),
                "{width} around {cycle}: not in what is drawn"
            );
            sizes.push(seen[2].as_u64().unwrap());
            width /= 2.0;
        }
    }
    sizes.sort_unstable();
    sizes.dedup();
    assert!(sizes.len() >= 2, "only buckets of {sizes:?} were looked at");
    assert_eq!(browser.complaints(), Vec::<String>::new());
}

/// Late in cycle 400; away from 701 on, with 702 to 704 skipped.
fn with_misses() -> MadeUp {
    let mut made_up = MadeUp::with_spikes(1_000, vec![]);
    let late = |cycle| match cycle {
        400 => Some(234_567),
        701 => Some(3_900_000),
        702..=704 => None,
        _ => Some(usual(cycle)),
    };
    made_up.conditions = vec![
        ("idle", OTHER, Box::new(|cycle| Some(usual(cycle)))),
        ("stress", OTHER, Box::new(late)),
        ("stress", FIFO, Box::new(|cycle| Some(usual(cycle)))),
    ];
    made_up
}

#[test]
fn hovering_names_the_cycle_its_value_and_what_is_known_of_the_cause() {
    let written = with_misses().write();
    let reporting = written.report();
    let Some(mut browser) = Browser::showing(&reporting.file, 1280, 900) else {
        return;
    };
    browser.value("document.querySelector('.chart').scrollIntoView({block: 'center'})");
    let place_of = |index: f64, value: f64| {
        format!(
            "(() => {{ const p = wakepath.explorers[0].plot, b = p.over.getBoundingClientRect(); \
             return [b.left + p.valToPos({index}, 'x'), b.top + p.valToPos({value}, 'y')]; }})()"
        )
    };
    let place = browser.value(&place_of(390.5, 234_567.0));
    let (x, y) = (place[0].as_f64().unwrap(), place[1].as_f64().unwrap());
    browser.pointer("mouseMoved", x, y, "none", 0);
    browser.value("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))");
    let read = browser.text("document.querySelector('.readout').textContent");
    assert!(
        read.contains("stress, cycle 400 of repetition 1: woke late, latency 234.567 µs"),
        "{read}"
    );
    assert!(read.contains("cause: not traced"), "{read}");
    // A skipped due time suffered a period less than the one before it.
    let place = browser.value(&place_of(693.5, 2_005_000.0));
    browser.pointer(
        "mouseMoved",
        place[0].as_f64().unwrap(),
        place[1].as_f64().unwrap(),
        "none",
        0,
    );
    browser.value("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))");
    let read = browser.text("document.querySelector('.readout').textContent");
    // 2 ms and what cycle 705 was late, 5.9 µs, to a thousandth of the unit.
    let suffered = (usual(705) + 2_000_000) as f64 / 1e6;
    let told = format!("cycle 703 of repetition 1: skipped (3 together), latency {suffered:.3} ms");
    assert!(read.contains(&told), "{read} instead of {told}");
    // Away from any miss: the buckets there.
    let place = browser.value(&place_of(200.5, 5_500.0));
    browser.pointer(
        "mouseMoved",
        place[0].as_f64().unwrap(),
        place[1].as_f64().unwrap(),
        "none",
        0,
    );
    browser.value("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))");
    let read = browser.text("document.querySelector('.readout').textContent");
    let told = format!(
        "idle, cycle 210 of repetition 1: {} µs",
        usual(210) as f64 / 1e3
    );
    assert!(read.contains(&told), "{read} instead of {told}");
    assert_eq!(browser.complaints(), Vec::<String>::new());
}

#[test]
fn dragging_zooms_a_double_click_shows_all_and_keys_go_from_miss_to_miss() {
    let written = with_misses().write();
    let reporting = written.report();
    let Some(mut browser) = Browser::showing(&reporting.file, 1280, 900) else {
        return;
    };
    let view = "wakepath.explorers[0].view";
    browser.value("document.querySelector('.chart').scrollIntoView({block: 'center'})");
    assert_eq!(browser.value(view), json!([0, 990]));
    let place = browser.value(
        "(() => { const p = wakepath.explorers[0].plot, b = p.over.getBoundingClientRect(); \
         return [b.left + p.valToPos(300, 'x'), b.left + p.valToPos(500, 'x'), b.top + 80]; })()",
    );
    let [from, to, y] = [0, 1, 2].map(|at| place[at].as_f64().unwrap());
    browser.pointer("mouseMoved", from, y, "none", 0);
    browser.pointer("mousePressed", from, y, "left", 1);
    browser.pointer("mouseMoved", (from + to) / 2.0, y, "left", 0);
    browser.pointer("mouseMoved", to, y, "left", 0);
    browser.pointer("mouseReleased", to, y, "left", 1);
    let zoomed = browser.value(view);
    let near = |at: usize, wanted: f64| (zoomed[at].as_f64().unwrap() - wanted).abs() < 3.0;
    assert!(near(0, 300.0) && near(1, 500.0), "{zoomed}");
    for clicks in [1, 2] {
        browser.pointer("mousePressed", from, y, "left", clicks);
        browser.pointer("mouseReleased", from, y, "left", clicks);
    }
    assert_eq!(browser.value(view), json!([0, 990]));

    browser.pointer("mouseMoved", 5.0, 5.0, "none", 0);
    browser.value("wakepath.explorers[0].at = undefined; document.querySelector('.chart').focus()");
    for cycle in [400, 701, 702, 703, 704] {
        browser.key("n");
        let read = browser.text("document.querySelector('.readout').textContent");
        assert!(
            read.contains(&format!("cycle {cycle} of")),
            "{read} instead of {cycle}"
        );
    }
    browser.key("n");
    assert_eq!(
        browser.text("document.querySelector('.readout').textContent"),
        "no later miss"
    );
    browser.key("p");
    let read = browser.text("document.querySelector('.readout').textContent");
    assert!(read.contains("cycle 703 of"), "{read}");
    browser.key("+");
    let width = browser
        .value(&format!("{view}[1] - {view}[0]"))
        .as_f64()
        .unwrap();
    assert!(width <= 201.0, "{width}");
    browser.key("0");
    assert_eq!(browser.value(view), json!([0, 990]));
    // Another policy, another time: it shows what was chosen.
    browser.value(
        "for (const [choice, value] of [['policy', 'FIFO 50'], ['measure', 'execution']]) { \
         const s = document.querySelector(`[data-choice=${choice}]`); s.value = value; \
         s.dispatchEvent(new Event('change')); }",
    );
    let largest = browser.value("Math.max(...wakepath.explorers[0].shown()[0].max)");
    assert_eq!(largest, json!(10_499));
    assert_eq!(browser.complaints(), Vec::<String>::new());
}
