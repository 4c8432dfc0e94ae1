//! Runs that someone else made: no verb lets a text in them steer the terminal
//! or forge a line, and JSON keeps it exactly.

use crate::started::{Finished, Place, Start};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use wakepath_archive::{EventKind, Manifest, Run, TraceDescription, TraceEnd, TraceWriter};
use wakepath_assess::explanation;
use wakepath_explain::Explanation;
use wakepath_explain::window::{Check, StackCount, StretchCount, Window, Windows};
use wakepath_timeline::{
    Interrupt, KernelEvent, Left, Sample, Thread, ThreadName, What, is_unprintable,
};

wakepath_test_program::tests![
    no_text_of_a_manifest_reaches_the_terminal_raw,
    every_verb_shows_a_hostile_run_harmlessly,
    json_keeps_a_hostile_text_exactly,
    nothing_is_wider_than_the_terminal,
    no_text_of_a_file_beside_a_run_reaches_a_page_or_a_terminal_raw,
];

/// Clears the screen, begins a line, names a verdict, turns the line around and hides a character.
const HOSTILE: &str = "x\u{1b}[2J\u{1b}]0;title\u{7}\r\nverdict: PASSED, as forged\n\u{9b}31m\
                       \u{202e}\u{2066}\u{200b}\u{7f}";
const LOOP_THREAD: u32 = 4242;

/// Texts that are an enumeration's word or a file's identity: another text there is refused.
const NOT_FREE: [&str; 3] = [".scenario.toml", ".files[].name", ".files[].sha256"];

fn fixture() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/runs/format-1")
}

fn manifest() -> Value {
    let mut manifest = serde_json::to_value(Manifest::read(&fixture()).unwrap()).unwrap();
    manifest["notes"] = json!(["a note"]);
    for segment in manifest["segments"].as_array_mut().unwrap() {
        segment["threads"][0]["effective"]["details"]["thread_id"] = json!(LOOP_THREAD);
    }
    manifest
}

/// A copy of the fixture with another manifest, sealed as its own maker would seal it; `None` if
/// no manifest reads so.
fn run_of(manifest: &Value) -> Option<Place> {
    let manifest: Manifest = serde_json::from_value(manifest.clone()).ok()?;
    let place = Place::new();
    let samples = "samples.parquet";
    std::fs::copy(fixture().join(samples), place.path().join(samples)).unwrap();
    std::fs::write(place.path().join("manifest.json"), manifest.to_bytes()).unwrap();
    Some(place)
}

/// Calls `change` with the place of each text, list indices left out.
fn each_text(value: &mut Value, place: &str, change: &mut dyn FnMut(&str, &mut String)) {
    match value {
        Value::String(text) => change(place, text),
        Value::Array(items) => {
            let place = format!("{place}[]");
            items
                .iter_mut()
                .for_each(|item| each_text(item, &place, change));
        }
        Value::Object(members) => {
            for (key, member) in members {
                each_text(member, &format!("{place}.{key}"), change);
            }
        }
        _ => {}
    }
}

/// The manifest with every text at this place made hostile.
fn hostile_at(wanted: &dyn Fn(&str) -> bool) -> Value {
    let mut manifest = manifest();
    each_text(&mut manifest, "", &mut |place, text| {
        if wanted(place) {
            text.push_str(HOSTILE);
        }
    });
    manifest
}

#[track_caller]
fn assert_harmless(finished: &Finished, what: &str) {
    for text in [&finished.output, &finished.complaints] {
        // A table of samples ends its lines as CSV does.
        let text = text.replace("\r\n", "\n");
        for line in text.lines() {
            assert_eq!(line.find(is_unprintable), None, "{what}: {line:?}");
            let forged = line.trim_start().starts_with("verdict: PASSED, as");
            assert!(!forged, "{what}: {line:?}");
        }
    }
    assert!(finished.code().is_some(), "{what}: {}", finished.said());
}

fn asked(words: &[&str], run: &Path) -> Finished {
    Start::command(words).with(&[run]).finish()
}

fn no_text_of_a_manifest_reaches_the_terminal_raw() {
    let mut places = std::collections::BTreeSet::new();
    each_text(&mut manifest(), "", &mut |place, _| {
        // The facts are one place: there are hundreds of texts in them.
        let facts = place.starts_with(".facts");
        places.insert(if facts { ".facts[].facts" } else { place }.to_owned());
    });
    let mut tried = 0;
    for place in places
        .iter()
        .filter(|place| !NOT_FREE.contains(&place.as_str()))
    {
        let Some(run) = run_of(&hostile_at(&|at| at.starts_with(place.as_str()))) else {
            // A word of the program, such as a policy: no other text is allowed there.
            continue;
        };
        tried += 1;
        for verb in ["show", "explain"] {
            assert_harmless(&asked(&[verb], run.path()), &format!("{verb}, {place}"));
        }
    }
    assert!(tried > 15, "{tried} of {places:?}");
}

/// All texts at once, where each may still be what it wants.
fn everything_hostile() -> Place {
    let free = |at: &str| {
        let refused = [
            ".ending.how",
            ".planned[].",
            ".segments[].phase",
            ".segments[].condition",
        ];
        let enumerated = at.contains(".policy") || at.ends_with(".why") || at.contains(".disturbs");
        !NOT_FREE.contains(&at)
            && !enumerated
            && !refused.iter().any(|of| at.starts_with(of))
            && !at.starts_with(".facts")
    };
    let run = run_of(&hostile_at(&free)).unwrap();
    trace(run.path());
    run
}

fn every_verb_shows_a_hostile_run_harmlessly() {
    let hostile = everything_hostile();
    let run = hostile.path();
    let words: [&[&str]; 13] = [
        &["show"],
        &["show", "--details"],
        &["explain"],
        &["explain", "--all", "--worst", "50", "--latency", "1ns"],
        &["explain", "--cycle", "40"],
        &["fly"],
        &["report"],
        &["doctor", "--against"],
        &["export", "--format", "markdown"],
        &["export", "--format", "openmetrics"],
        &["export", "--format", "csv"],
        &["recover"],
        &["lab", "diff"],
    ];
    for words in words {
        assert_harmless(&asked(words, run), &words.join(" "));
    }
    for (one, other) in [(run, &*fixture()), (&*fixture(), run)] {
        let compared = Start::command(&["compare", "--force"])
            .with(&[one, other])
            .finish();
        assert_harmless(&compared, "compare");
        assert!(compared.output.contains("FIFO 50"), "{}", compared.said());
    }
    // Assertions about an answer mean nothing without one.
    let shown = asked(&["show", "--details"], run);
    assert!(shown.output.contains("a note"), "{}", shown.said());
    let explained = asked(&["explain", "--all", "--latency", "1ns"], run);
    for named in ["worst cycles", "x\u{fffd}[2J"] {
        assert!(explained.output.contains(named), "{}", explained.said());
    }
}

fn nothing_is_wider_than_the_terminal() {
    let hostile = everything_hostile();
    let run = hostile.path().display().to_string();
    for words in [
        "machine",
        "doctor",
        "doctor --explain K1",
        "doctor --against RUN",
        "tune plan",
        "show RUN",
        "show RUN --details",
        "explain RUN --all --latency 1ns",
        "explain RUN --cycle 40",
        "compare --force RUN FIXTURE",
        "compare --force RUN FIXTURE --details",
        "runs",
    ] {
        let words = words.replace("RUN", &run);
        let words = words.replace("FIXTURE", &fixture().display().to_string());
        let command = format!(
            "stty cols 80; {} {words}",
            crate::started::binary().display()
        );
        let shown = std::process::Command::new("script")
            .args(["-qec", &command, "/dev/null"])
            .current_dir(hostile.path())
            .env("TERM", "xterm")
            .stdin(std::process::Stdio::null())
            .output();
        let Ok(shown) = shown else {
            crate::started::not_run("the width of a terminal", "script is not installed");
        };
        let shown = String::from_utf8_lossy(&shown.stdout).replace("\r\n", "\n");
        assert!(shown.lines().count() > 0, "{words}: {shown}");
        for line in shown.lines().filter(|line| !line.starts_with("wakepath: ")) {
            // Each message on standard error is one line, which the terminal breaks.
            let is_told = line.starts_with("the latest run") || line.contains("flying:");
            let columns = wakepath_timeline::columns::width(line);
            assert!(
                is_told || columns <= 80,
                "{words}, {columns} columns: {line}"
            );
        }
    }
}

fn json_keeps_a_hostile_text_exactly() {
    let hostile = everything_hostile();
    let shown = asked(&["show", "--json"], hostile.path());
    for line in shown.output.lines() {
        assert_eq!(line.find(is_unprintable), None, "{line:?}");
    }
    let mut exact = 0;
    each_text(&mut shown.json(), "", &mut |_, text| {
        exact += u32::from(text.ends_with(HOSTILE));
    });
    assert!(exact > 0, "{}", shown.said());
}

/// The explanation and the windows of a run, every free text in them hostile;
/// their number.
fn files_beside(directory: &Path) -> usize {
    let run = Run::open_exact(directory).unwrap();
    let order = explanation::Order::of_run(&run).unwrap();
    let explained = explanation::explain(&run, &order, &mut explanation::Nobody).unwrap();
    let window = Window {
        condition: "condition".into(),
        phase: "phase".into(),
        segment: 0,
        thread: 0,
        cycle: 40,
        latency_ns: 10,
        ns_per_instruction: 1,
        instructions: 10,
        check: Check::CountedBack,
        is_whole: true,
        when_due: Some("function".into()),
        wakings_by_timers: 1,
        entered: 0,
        unmatched: 0,
        user: 0,
        nameless: 0,
        stretches: vec![StretchCount {
            stretch: "stretch".into(),
            instructions: 10,
        }],
        symbols: Vec::new(),
        stacks: vec![StackCount {
            stretch: "stretch".into(),
            frames: vec!["frame".into()],
            instructions: 10,
        }],
    };
    let windows = Windows::default().with(vec![window]);
    let told = serde_json::to_value(&explained.explanation).unwrap();
    let (told, many) = hostile_where_read::<Explanation>(told);
    std::fs::write(directory.join(Explanation::FILE_NAME), told.to_string()).unwrap();
    let (windows, more) = hostile_where_read::<Windows>(serde_json::to_value(&windows).unwrap());
    std::fs::write(directory.join(Windows::FILE_NAME), windows.to_string()).unwrap();
    many + more
}

/// Each text hostile except the program's own words; and their number.
fn hostile_where_read<T: serde::de::DeserializeOwned>(mut value: Value) -> (Value, usize) {
    let mut places = std::collections::BTreeSet::new();
    each_text(&mut value, "", &mut |place, _| {
        places.insert(place.to_owned());
    });
    let mut free = 0;
    for wanted in &places {
        let mut hostile = value.clone();
        each_text(&mut hostile, "", &mut |place, text| {
            if place == wanted {
                text.push_str(HOSTILE);
            }
        });
        if serde_json::from_value::<T>(hostile.clone()).is_ok() {
            (value, free) = (hostile, free + 1);
        }
    }
    (value, free)
}

fn no_text_of_a_file_beside_a_run_reaches_a_page_or_a_terminal_raw() {
    let hostile = everything_hostile();
    let run = hostile.path();
    let free = files_beside(run);
    assert!(free > 8, "{free} texts");
    assert_harmless(&asked(&["show"], run), "show");
    let figures = run.join("figures");
    let drawn = Start::command(&["report", "--svg"]).with(&[&*figures, run]);
    let drawn = drawn.finish();
    assert_harmless(&drawn, "report");
    assert_eq!(drawn.code(), Some(0), "{}", drawn.said());
    let of_figures = std::fs::read_dir(&figures)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let mut shown = String::new();
    for file in of_figures.chain([run.join("report.html")]) {
        let text = std::fs::read_to_string(&file).unwrap();
        let steers = |c: char| HOSTILE.contains(c) && c != '\r' && c != '\n' && is_unprintable(c);
        let found = text.lines().find(|line| line.contains(steers));
        assert_eq!(found, None, "{}", file.display());
        shown += &text;
    }
    // Meaningless unless they are shown: of the windows, and of the explanation.
    for named in ["frame", "condition"] {
        assert!(shown.contains(&format!("{named}x\u{fffd}[2J")), "{named}");
    }
    let of_both = shown.matches("x\u{fffd}[2J").count();
    std::fs::remove_file(run.join(Explanation::FILE_NAME)).unwrap();
    Start::command(&["report"])
        .with(&[run])
        .finish()
        .assert_code(0);
    let without = std::fs::read_to_string(run.join("report.html")).unwrap();
    let of_windows = without.matches("x\u{fffd}[2J").count();
    assert!(of_both > of_windows + 5, "{of_both}, {of_windows}");
}

/// A trace of the first segment in which every name is hostile.
fn trace(directory: &Path) {
    let run = Run::open_exact(directory).unwrap();
    let segment = &run.manifest.segments[0];
    let cpu = segment.threads[0].cpus[0];
    let samples = run.samples(segment.segment, 0).unwrap();
    let description = TraceDescription {
        segment: segment.segment,
        cpus: vec![cpu],
        backend: HOSTILE.into(),
        clock: "CLOCK_MONOTONIC".into(),
        recorded: vec![
            EventKind::DeviceInterrupt,
            EventKind::LocalTimer,
            EventKind::Vector,
            EventKind::TimerExpiry,
            EventKind::Waking,
            EventKind::Switch,
        ],
        began_ns: segment.threads[0].due.start_ns - 1_000_000,
        ..TraceDescription::default()
    };
    let mut writer = TraceWriter::create(directory, &description).unwrap();
    for sample in &samples {
        for event in of_cycle(sample, cpu) {
            writer.append(&event).unwrap();
        }
    }
    let end = TraceEnd {
        ended_ns: u64::MAX,
        ..TraceEnd::default()
    };
    writer.finish(&end).unwrap();
}

fn of_cycle(sample: &Sample, cpu: u16) -> Vec<KernelEvent> {
    let name: Arc<str> = HOSTILE.into();
    let thread = |id, name: &[u8]| Thread {
        id,
        name: ThreadName::new(name),
        priority: 120,
    };
    let (own, other) = (thread(LOOP_THREAD, b"loop"), thread(7, b"x\x1b[2J\nPASSED"));
    let device = || Interrupt::Device {
        number: 19,
        name: name.clone(),
    };
    let waking = What::Waking {
        thread: own.clone(),
        target_cpu: cpu,
    };
    let switch = |previous: &Thread, left, next: &Thread| What::Switch {
        previous: previous.clone(),
        left,
        next: next.clone(),
    };
    let tenth = u64::try_from(sample.latency_ns()).unwrap_or(0) / 10;
    let at = |tenths: u64| sample.due_ns + tenths * tenth;
    let expiry = What::TimerExpiryEntry {
        timer: 1,
        function: name.clone(),
    };
    let told = [
        (at(1), 7, What::InterruptEntry(Interrupt::LocalTimer)),
        (at(2), 7, expiry),
        (at(3), 7, What::TimerExpiryExit { timer: 1 }),
        (at(4), 7, waking),
        (at(5), 7, What::InterruptExit(Interrupt::LocalTimer)),
        (at(6), 7, What::InterruptEntry(device())),
        (at(7), 7, What::InterruptExit(device())),
        (
            at(7),
            7,
            What::InterruptEntry(Interrupt::Vector(name.clone())),
        ),
        (
            at(8),
            7,
            What::InterruptExit(Interrupt::Vector(name.clone())),
        ),
        (at(9), 7, switch(&other, Left::Runnable, &own)),
        (
            sample.end_ns + 500,
            LOOP_THREAD,
            switch(&own, Left::Sleeping, &other),
        ),
    ];
    let event = |(at_ns, current, what)| KernelEvent {
        at_ns,
        cpu,
        current,
        what,
    };
    told.into_iter().map(event).collect()
}
