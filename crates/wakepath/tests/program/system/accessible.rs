//! Pages of real runs judged by axe-core, which `./test` fetches by npm, for screen readers, keyboards and weak eyes.
//! Words on figures, whose background axe does not know, are judged by the report's own test of contrast.

#[path = "../../../../report/tests/report/page/browser.rs"]
#[allow(dead_code)] // Its other pages answer to pointer and keyboard.
mod browser;

use super::watching::Beat;
use crate::command_line::import::{fixture, import};
use crate::started::{Place, Start, ask, loop_cpu, needs_tracing, not_run};
use browser::Browser;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

wakepath_test_program::tests![
    axe_finds_nothing_in_the_pages_of_recordings,
    axe_finds_nothing_in_the_page_of_a_watch,
    what_is_wrong_with_a_page_is_found,
];

/// Widths of a desk and of a phone.
const WIDTHS: [u32; 2] = [1400, 400];

/// WCAG 2.2, levels A and AA, and what axe calls best practice.
const RULES: [&str; 6] = [
    "wcag2a",
    "wcag2aa",
    "wcag21a",
    "wcag21aa",
    "wcag22aa",
    "best-practice",
];

/// Those of them that depend on colours.
const COLOURS: [&str; 2] = ["color-contrast", "link-in-text-block"];

/// The text of axe-core; without it or a browser the test ends as not run.
fn axe() -> String {
    let what = "judging pages by axe-core";
    if ["chromium", "chromium-browser", "google-chrome"]
        .iter()
        .all(|name| wakepath_programs::find(name).is_err())
    {
        not_run(what, "chromium is not installed");
    }
    let file = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../target/axe/node_modules/axe-core/axe.min.js");
    std::fs::read_to_string(file)
        .unwrap_or_else(|_| not_run(what, "no axe-core here, which `./test` fetches by npm"))
}

/// Findings in these pages at each width, in the light and in the dark, everything unfolded.
fn findings(axe: &str, pages: &[PathBuf]) -> Vec<String> {
    let Some(mut browser) = Browser::showing_as_it_is(&pages[0], WIDTHS[0], 900) else {
        not_run("judging pages by axe-core", "chromium is not installed");
    };
    let judged_by = |rules: Value| {
        format!(
            "axe.run(document, {{ resultTypes: ['violations'], preload: false, runOnly: {rules} }}).then(({{ violations, passes }}) => ({{
                 judged: passes.length + violations.length,
                 found: violations.flatMap(({{ id, impact, nodes }}) => nodes.map((node) =>
                     `${{id}} (${{impact}}): ${{node.target.flat()}}: ${{node.html.slice(0, 120)}}`
                         + `: ${{node.failureSummary.split('\\n').slice(1).join(';').trim()}}`)) }}))"
        )
    };
    // The dark changes colours alone. Of some 60 rules that apply to a page, axe passes over a few.
    let schemes = [
        ("light", judged_by(json!(RULES)), 10),
        (
            "dark",
            judged_by(json!({ "type": "rule", "values": COLOURS })),
            1,
        ),
    ];
    let mut found = Vec::new();
    for page in pages {
        browser.load(page);
        browser
            .value("document.querySelectorAll('details').forEach(one => { one.open = true; }), 0");
        browser.value(&format!("{axe}; 0"));
        for width in WIDTHS {
            let screen = json!({
                "width": width, "height": 900, "deviceScaleFactor": 1, "mobile": false
            });
            browser.ask("Emulation.setDeviceMetricsOverride", screen);
            for (scheme, judge, least) in &schemes {
                let media =
                    json!({ "features": [{ "name": "prefers-color-scheme", "value": scheme }] });
                browser.ask("Emulation.setEmulatedMedia", media);
                browser.value(
                    "new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))",
                );
                let of = browser.value(judge);
                let name = page.file_name().unwrap().to_string_lossy();
                assert!(of["judged"].as_u64() >= Some(*least), "{name}: {of}");
                let all = of["found"].as_array().unwrap().iter();
                found.extend(
                    all.filter_map(Value::as_str)
                        .map(|one| format!("{name}, {width} px, {scheme}: {one}")),
                );
            }
        }
    }
    found
}

/// Writes the page of runs; returns its path.
fn page(place: &Place, name: &str, verb: &str, runs: &[&PathBuf]) -> PathBuf {
    let file = place.path().join(name);
    let written = Start::command(&[verb])
        .with(runs)
        .with(&["--output"])
        .with(&[&file])
        .finish();
    assert!(written.code() != Some(1), "{}", written.said());
    file
}

/// OTHER and FIFO, idle and under load.
fn recorded() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/runs/format-1")
}

fn axe_finds_nothing_in_the_pages_of_recordings() {
    let axe = axe();
    let place = Place::new();
    let of = |name: &str, form: &str, file: &str, told: &[&str]| {
        import(&place, name, form, &fixture(file), told).assert_code(0);
        place.path().join(name)
    };
    let ros2 = of("ros2", "ros2", "ros2", &["--policy", "FIFO 50"]);
    let servo = ["--thread", "servo", "--policy", "FIFO 80"];
    let traced = of("traced", "ftrace", "ftrace.txt", &servo);
    let flown = || {
        let flown = Start::scenario(&format!(
            "rate = \"250 Hz\"\nduration = \"400 ms\"\nwarm-up = \"100 ms\"\npolicies = [\"OTHER\"]\ncpu = {}\n\
             criterion = {{ miss-fraction = \"90 %\" }}\n[flight]\nvehicle = \"crazyflie\"\n",
            loop_cpu()
        ))
        .finish();
        assert!(flown.code() != Some(1), "{}", flown.said());
        flown
    };
    let (first, second) = (flown(), flown());
    let flights = [&first.directory, &second.directory];
    let pages = [
        page(&place, "policies.html", "report", &[&recorded()]),
        page(&place, "ros2.html", "report", &[&ros2]),
        page(&place, "traced.html", "report", &[&traced]),
        page(&place, "flight.html", "report", &[&first.directory]),
        page(&place, "several.html", "report", &[&ros2, &traced]),
        page(&place, "comparison.html", "compare", &flights),
    ];
    let found = findings(&axe, &pages);
    assert!(
        found.is_empty(),
        "{} findings:\n{}",
        found.len(),
        found.join("\n")
    );
}

fn axe_finds_nothing_in_the_page_of_a_watch() {
    let axe = axe();
    let what = "the page of a watch";
    needs_tracing(what);
    let beat = Beat::start("axe-servo", 5_000_000);
    let words = ["watch", "--comm", "axe-servo", "--for", "1s"];
    let watched = Start::command(&words)
        .with(&["--latency", "20us", "--directory", "run"])
        .finish();
    beat.end();
    watched.skip_unless_watched(what);
    assert!(watched.code() != Some(1), "{}", watched.said());
    let run = watched.place.path().join("run");
    ask("explain", &run);
    let found = findings(
        &axe,
        &[page(&watched.place, "watch.html", "report", &[&run])],
    );
    assert!(
        found.is_empty(),
        "{} findings:\n{}",
        found.len(),
        found.join("\n")
    );
}

fn what_is_wrong_with_a_page_is_found() {
    let axe = axe();
    let place = Place::new();
    let file = place.path().join("wrong.html");
    let page = "<!doctype html><html lang='en'><meta name='viewport' content='width=device-width'><title>Wrong</title>\
                <style>:root { color-scheme: light dark; }</style><main><h1>Wrong</h1>\
                <details><summary>Folded</summary><p><font color='#888'>pale</font> <font color='#555'>dim</font></p>\
                <img src='data:,'></details></main>";
    std::fs::write(&file, page).unwrap();
    let found = findings(&axe, &[file]);
    let begins: Vec<&str> = found
        .iter()
        .filter_map(|one| Some(one.split_once(" (")?.0))
        .collect();
    assert_eq!(
        begins,
        [
            "wrong.html, 1400 px, light: color-contrast",
            "wrong.html, 1400 px, light: image-alt",
            "wrong.html, 1400 px, dark: color-contrast",
            "wrong.html, 400 px, light: color-contrast",
            "wrong.html, 400 px, light: image-alt",
            "wrong.html, 400 px, dark: color-contrast",
        ],
        "{found:#?}"
    );
}
