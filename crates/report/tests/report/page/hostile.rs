//! Names are the user's, or an attacker's: none of them becomes part of the page.

use super::browser::Browser;
use super::made_up::MadeUp;
use serde_json::json;
use wakepath_report::Origin;

const HOSTILE: &str = "</script><script>window.taken=1</script><img src=x onerror=\"window.taken=1\">\
                       '\"><svg onload=window.taken=1>]]>--><a href=javascript:window.taken=1>";

#[test]
fn a_hostile_name_stays_a_name() {
    let mut made_up = MadeUp::with_spikes(1_000, vec![(500, 900_000)]);
    let clean = made_up.write();
    let clean = clean.report();
    made_up.name = HOSTILE.into();
    made_up.note = HOSTILE.into();
    made_up.command = made_up.command.and(HOSTILE, Some(HOSTILE.into()));
    made_up.thread = HOSTILE.into();
    made_up.load = HOSTILE.into();
    let hostile = made_up.write();
    let hostile = hostile.report();
    let text = std::fs::read_to_string(&hostile.file).unwrap();
    assert!(!text.contains("<img"), "the name is in the page as it is");
    for figure in hostile.figures.all() {
        assert!(
            !figure.to_svg(&Origin::default()).contains("<script"),
            "{}",
            figure.name
        );
    }
    let Some(mut browser) = Browser::showing(&hostile.file, 1280, 900) else {
        return;
    };
    assert_eq!(browser.value("typeof window.taken"), json!("undefined"));
    let heading = browser.text("document.querySelector('h1').textContent");
    assert!(heading.contains(HOSTILE), "{heading}");
    let count = "['script', 'img', 'svg', 'a', 'style', 'meta'].map(name => document.querySelectorAll(name).length)";
    let found = browser.value(count);
    assert_eq!(browser.complaints(), Vec::<String>::new());
    drop(browser);
    let Some(mut browser) = Browser::showing(&clean.file, 1280, 900) else {
        return;
    };
    assert_eq!(found, browser.value(count), "elements came with the name");
}

#[test]
fn what_the_policy_forbids_does_not_run_even_if_it_were_in_the_page() {
    let written = MadeUp::with_spikes(1_000, vec![]).write();
    let reporting = written.report();
    let page = std::fs::read_to_string(&reporting.file).unwrap();
    let broken = page.replacen(
        "<main id=\"content\">",
        "<main id=\"content\"><script>window.taken=1</script><img src=\"https://example.org/x.png\">",
        1,
    );
    assert_ne!(broken, page);
    std::fs::write(&reporting.file, broken).unwrap();
    let Some(mut browser) = Browser::showing(&reporting.file, 1280, 900) else {
        return;
    };
    assert_eq!(browser.value("typeof window.taken"), json!("undefined"));
    // The browser reports both; our own script still runs.
    assert!(browser.complaints().len() >= 2);
    assert_eq!(browser.value("wakepath.explorers.length"), json!(1));
}
