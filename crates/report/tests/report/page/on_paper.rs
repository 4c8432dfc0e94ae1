//! The page printed, on a phone, in the dark, and without scripts.

use super::browser::Browser;
use super::made_up::MadeUp;
use serde_json::json;

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
    // What is wider scrolls by itself, and can be reached with the keyboard.
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
