//! The report of a recorded run: its text, as PDF, and in the browser.

use super::runs::{NAMES, with_runs};
use crate::started::{Place, Start, not_run};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

wakepath_test_program::tests![
    what_is_given_is_written_on_the_first_page,
    a_title_that_says_nothing_or_too_much_is_refused_in_a_line,
    a_report_is_printed_and_nothing_is_left_beside_it,
    a_figure_as_a_file_says_what_it_is_of,
    a_report_is_opened_and_where_it_cannot_be_it_is_written_all_the_same,
];

fn latest() -> std::path::PathBuf {
    Path::new("wakepath-runs").join(NAMES[2])
}

fn what_is_given_is_written_on_the_first_page() {
    let words = [
        "report",
        "--title",
        "Arm <7>",
        "--customer",
        "Field & Co",
        "--author",
        "An engineer",
    ];
    let written = Start::command_in(with_runs(), &words).finish();
    written.assert_code(0);
    let page = written.place.path().join(latest()).join("report.html");
    let page = std::fs::read_to_string(page).unwrap();
    for part in ["Arm &lt;7&gt;: ", "for Field &amp; Co · by An engineer"] {
        assert!(page.contains(part), "{part}");
    }
}

fn a_title_that_says_nothing_or_too_much_is_refused_in_a_line() {
    let long = "x".repeat(201);
    for (text, wanted) in [
        (" ", "--customer: it is empty"),
        (&long, "--customer: 201 characters; at most 200 fit"),
    ] {
        let refused = Start::command_in(with_runs(), &["report", "--customer", text]).finish();
        refused.assert_code(1);
        assert_eq!(refused.errors().len(), 1, "{}", refused.said());
        assert!(refused.complaints.contains(wanted), "{}", refused.said());
        let page = refused.place.path().join(latest()).join("report.html");
        assert!(!page.exists());
    }
}

fn a_report_is_printed_and_nothing_is_left_beside_it() {
    let names = ["chromium", "chromium-browser", "google-chrome-stable"];
    let is_there = names
        .iter()
        .any(|name| wakepath_programs::find(name).is_ok());
    let printed = Start::command_in(with_runs(), &["report", "--pdf"]).finish();
    let beside = printed.place.path().join(latest());
    if !is_there {
        printed.assert_code(1);
        assert_eq!(printed.errors().len(), 1, "{}", printed.said());
        for part in ["--pdf: ", "chromium"] {
            assert!(printed.complaints.contains(part), "{}", printed.said());
        }
        assert!(!beside.join("report.html").exists());
        not_run("printing", "chromium is not installed");
    }
    printed.assert_code(0);
    let pdf = std::fs::read(beside.join("report.pdf")).unwrap();
    assert!(
        pdf.starts_with(b"%PDF-") && pdf.len() > 20_000,
        "{} bytes",
        pdf.len()
    );
    let mut names: Vec<String> = std::fs::read_dir(&beside)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    let wanted = [
        "manifest.json",
        "report.html",
        "report.pdf",
        "samples.parquet",
    ];
    assert_eq!(names, wanted);
}

fn a_figure_as_a_file_says_what_it_is_of() {
    let written = Start::command_in(with_runs(), &["report", "--svg", "figures"]).finish();
    written.assert_code(0);
    let manifest = written.place.path().join(latest()).join("manifest.json");
    let manifest: serde_json::Value =
        serde_json::from_slice(&std::fs::read(manifest).unwrap()).unwrap();
    let svg = written.place.path().join("figures/boxes-latency.svg");
    let svg = std::fs::read_to_string(svg).unwrap();
    // Long lines are broken into several texts.
    let texts: Vec<&str> = svg
        .split("<text ")
        .skip(1)
        .map(|text| text.split(['>', '<']).nth(1).unwrap())
        .collect();
    let texts = texts.join(" ");
    for part in [
        "Wake-up latency by policy and phase",
        manifest["started"].as_str().unwrap(),
        manifest["scenario"]["name"].as_str().unwrap(),
        "Linux ",
    ] {
        assert!(texts.contains(part), "{part} in {texts:.300}");
    }
}

fn a_report_is_opened_and_where_it_cannot_be_it_is_written_all_the_same() {
    let open = |place: Place, browser: &str| {
        Start::command_in(place, &["report", "--open"])
            .environment("DISPLAY", "")
            .environment("WAYLAND_DISPLAY", "")
            .environment("BROWSER", browser)
            .finish()
    };
    let report = Path::new("wakepath-runs")
        .join(NAMES[2])
        .join("report.html");
    let place = with_runs();
    let browser = place.path().join("browser");
    let asked = place.path().join("asked");
    let script = format!("#!/bin/sh\necho \"$1\" > {}\n", asked.display());
    std::fs::write(&browser, script).unwrap();
    std::fs::set_permissions(&browser, PermissionsExt::from_mode(0o755)).unwrap();
    if wakepath_programs::find("xdg-open").is_ok() {
        let opened = open(place, &browser.display().to_string());
        opened.assert_code(0);
        let asked = std::fs::read_to_string(&asked).unwrap();
        assert!(
            asked.trim().ends_with(&*report.to_string_lossy()),
            "{asked}"
        );
    }
    let opened = open(with_runs(), "/bin/false");
    opened.assert_code(0);
    assert!(opened.place.path().join(&report).is_file());
    for part in ["xdg-open", "report.html in a browser yourself"] {
        assert!(opened.complaints.contains(part), "{}", opened.said());
    }
    // Neither desktop nor a browser of the user's own: over SSH, and as root.
    let alone = open(with_runs(), "");
    alone.assert_code(0);
    assert!(alone.place.path().join(&report).is_file());
    let path = alone.place.path().join(&report);
    let wanted = format!("there is no display here; open {}", path.display());
    assert!(alone.complaints.contains(&wanted), "{}", alone.said());
}
