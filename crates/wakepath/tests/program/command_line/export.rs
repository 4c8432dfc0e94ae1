//! A run in other forms: each says what the archive says, and what the reference says of it.

use crate::started::{Finished, Place, Start, loop_cpu, not_run};
use std::path::{Path, PathBuf};

wakepath_test_program::tests![
    csv_has_every_sample_of_the_archive,
    json_metrics_and_markdown_say_the_same,
    the_reference_names_every_member_and_column,
    an_unknown_format_and_a_closed_pipe,
    a_recovered_run_is_exported_and_what_it_lacks_is_said,
    mcap_is_read_by_another_reader_sample_by_sample,
    metrics_are_taken_by_promtool,
    a_condition_is_a_test_case_of_a_ci_server,
];

fn a_run(place: &Place) -> PathBuf {
    let file = place.path().join("scenario.toml");
    let scenario = format!(
        "name = \"export\"\nrate = \"500 Hz\"\ncycles = 200\nwarm-up = \"20 ms\"\ncpu = {}\n\
         policies = [\"OTHER\"]\ncriterion = {{ miss-fraction = \"90 %\" }}\n",
        loop_cpu()
    );
    std::fs::write(&file, scenario).unwrap();
    let directory = place.path().join("run");
    let words = [Path::new("--directory"), &directory, &file];
    Start::command(&["run"])
        .with(&words)
        .finish()
        .assert_code(0);
    directory
}

fn export(run: &Path, format: &str) -> Finished {
    let finished = Start::command(&["export", "--format", format])
        .with(&[run])
        .finish();
    finished.assert_code(0);
    finished
}

fn csv_has_every_sample_of_the_archive() {
    let place = Place::new();
    let directory = a_run(&place);
    let run = wakepath_archive::Run::open(&directory).unwrap();
    let samples = run.samples(0, 0).unwrap();
    let csv = export(&directory, "csv").output;
    let lines: Vec<Vec<&str>> = csv.lines().map(|line| line.split(',').collect()).collect();
    assert_eq!(lines.len(), samples.len() + 1);
    let column = |name: &str| lines[0].iter().position(|head| *head == name).unwrap();
    for (line, sample) in lines[1..].iter().zip(&samples) {
        assert_eq!(line[column("cycle")], sample.cycle.to_string());
        assert_eq!(line[column("due_ns")], sample.due_ns.to_string());
        assert_eq!(line[column("latency_ns")], sample.latency_ns().to_string());
        assert_eq!(line[column("warm_up")] == "1", sample.is_warm_up());
    }
}

fn metrics_are_taken_by_promtool() {
    let what = "metrics_are_taken_by_promtool";
    let place = Place::new();
    let directory = a_run(&place);
    let file = place.path().join("wakepath.prom");
    std::fs::write(&file, export(&directory, "openmetrics").output).unwrap();
    let checked = std::process::Command::new("promtool")
        .args(["check", "metrics"])
        .stdin(std::fs::File::open(&file).unwrap())
        .output();
    let Ok(checked) = checked else {
        not_run(what, "there is no promtool here");
    };
    let said = String::from_utf8_lossy(&checked.stderr);
    assert!(checked.status.success() && said.is_empty(), "{said}");
}

fn a_condition_is_a_test_case_of_a_ci_server() {
    let place = Place::new();
    let directory = a_run(&place);
    let xml = export(&directory, "junit").output;
    let json = export(&directory, "json").json();
    assert!(xml.starts_with("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n"));
    let outcome = json["conditions"][0]["outcome"].as_str().unwrap();
    let failures = u8::from(outcome == "failed");
    let errors = u8::from(["undecided", "invalid"].contains(&outcome));
    let suite = format!(
        "<testsuite name=\"export\" tests=\"1\" failures=\"{failures}\" errors=\"{errors}\" "
    );
    assert!(xml.contains(&suite), "{suite}\n{xml}");
    assert!(
        xml.contains("<testcase name=\"OTHER nice 0, idle\" classname=\"wakepath.export\" time=\""),
        "{xml}"
    );
    // Read by another reader, if there is one.
    let script = "import sys, xml.etree.ElementTree as t; s = t.parse(sys.argv[1]).getroot()[0]; \
                  print(s.tag, len(s.findall('testcase')), s.attrib['tests'])";
    let file = place.path().join("junit.xml");
    std::fs::write(&file, &xml).unwrap();
    let read = std::process::Command::new("python3")
        .args(["-c", script])
        .arg(&file)
        .output();
    let Ok(read) = read else {
        not_run(
            "a_condition_is_a_test_case_of_a_ci_server",
            "there is no python3 here",
        );
    };
    assert_eq!(String::from_utf8_lossy(&read.stdout), "testsuite 1 1\n");
}

fn a_recovered_run_is_exported_and_what_it_lacks_is_said() {
    let running = Start::scenario(&format!(
        "rate = \"500 Hz\"\nduration = \"60 s\"\nwarm-up = \"0 ms\"\ncpu = {}\n\
         policies = [\"OTHER\"]\n",
        loop_cpu()
    ))
    .start();
    running.wait_until_recorded(0, 100);
    running.kill_all();
    let killed = running.finish();
    killed.wait_until_nobody_is_left();
    crate::started::ask("recover", &killed.directory).assert_code(0);
    let recorded = killed.samples(0).len();
    assert!(recorded >= 100);
    for format in ["csv", "json", "openmetrics", "markdown", "junit"] {
        let exported = export(&killed.directory, format);
        let notes: Vec<&str> = exported.complaints.lines().collect();
        assert!(notes[0].contains("note: "), "{}", exported.said());
        assert!(
            exported.complaints.contains("the run was cut short"),
            "{}",
            exported.said()
        );
        match format {
            "csv" => assert_eq!(exported.output.lines().count(), recorded + 1),
            // Cut short, it is never passed.
            "json" => assert_ne!(exported.json()["outcome"], "passed"),
            _ => assert!(!exported.output.is_empty()),
        }
    }
}

fn json_metrics_and_markdown_say_the_same() {
    let place = Place::new();
    let directory = a_run(&place);
    let json = export(&directory, "json").json();
    let cycles = &json["conditions"][0]["cycles"];
    let max_ns = cycles["latency_as_scheduled"]["max"].as_i64().unwrap();
    let metrics = export(&directory, "openmetrics").output;
    assert!(metrics.ends_with("# EOF\n"), "{metrics}");
    let labels = "policy=\"OTHER nice 0\",phase=\"idle\"";
    let max = format!(
        "wakepath_wake_up_latency_seconds{{{labels},quantile=\"1\"}} {}\n",
        max_ns as f64 / 1e9
    );
    assert!(metrics.contains(&max), "{max}{metrics}");
    let due = format!("wakepath_due_times{{{labels}}} 200\n");
    assert!(metrics.contains(&due), "{metrics}");
    let markdown = export(&directory, "markdown").output;
    let row = format!(
        "| {} | {} |",
        wakepath_timeline::duration::three_digits(max_ns),
        json["outcome"].as_str().unwrap()
    );
    assert!(markdown.contains(&row), "{row}\n{markdown}");
}

fn the_reference_names_every_member_and_column() {
    let place = Place::new();
    let directory = a_run(&place);
    let reference = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/exports.md");
    let reference = std::fs::read_to_string(reference).unwrap();
    let json = export(&directory, "json").json();
    let members = |value: &serde_json::Value| -> Vec<String> {
        value.as_object().unwrap().keys().cloned().collect()
    };
    let condition = &json["conditions"][0];
    let csv = export(&directory, "csv").output;
    let columns = csv.lines().next().unwrap().split(',').map(str::to_owned);
    let metrics = export(&directory, "openmetrics").output;
    let families = metrics
        .lines()
        .filter_map(|line| line.strip_prefix("# TYPE "));
    let families = families.filter_map(|line| Some(line.split_once(' ')?.0.to_owned()));
    let all = [
        members(&json),
        members(condition),
        members(&condition["cycles"]),
    ];
    let names = all.concat().into_iter().chain(columns).chain(families);
    let missing: Vec<String> = names
        .filter(|name| !reference.contains(&format!("`{name}`")))
        .collect();
    assert_eq!(missing, [""; 0], "not in exports.md");
}

fn an_unknown_format_and_a_closed_pipe() {
    let place = Place::new();
    let directory = a_run(&place);
    let refused = Start::command(&["export", "--format", "pdf"])
        .with(&[&directory])
        .finish();
    refused.assert_code(1);
    assert!(
        refused.complaints.contains("openmetrics"),
        "{}",
        refused.said()
    );
    for format in ["csv", "json", "openmetrics", "markdown", "junit", "mcap"] {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let finished = Start::command(&["export", "--format", format])
            .with(&[&directory])
            .output_to(writer.into())
            .finish();
        finished.assert_code(0);
        assert_eq!(finished.complaints, "", "{format}: {}", finished.said());
    }
}

/// Reads with Foxglove's own library for Python, and prints topic, log time, publish time and latency.
const READER: &str = r#"
import json, sys
from mcap.reader import make_reader
with open(sys.argv[1], "rb") as file:
    reader = make_reader(file)
    for schema, channel, message in reader.iter_messages(log_time_order=False):
        assert schema.encoding == "jsonschema", schema
        json.loads(schema.data)
        data = json.loads(message.data)
        if schema.name == "wakepath.Cycle":
            print(channel.topic, message.log_time, message.publish_time, data["latency_ns"])
"#;

fn mcap_is_read_by_another_reader_sample_by_sample() {
    let place = Place::new();
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/runs/format-1");
    let file = place.path().join("run.mcap");
    let exported = Start::command(&["export", "--format", "mcap"])
        .with(&[&directory])
        .output_to(std::fs::File::create(&file).unwrap().into())
        .finish();
    exported.assert_code(0);
    let bytes = std::fs::read(&file).unwrap();
    let magic = b"\x89MCAP0\r\n";
    assert!(
        bytes.starts_with(magic) && bytes.ends_with(magic),
        "{} bytes",
        bytes.len()
    );
    let python = std::process::Command::new("python3")
        .args(["-c", "import mcap.reader"])
        .output();
    if !python.is_ok_and(|found| found.status.success()) {
        crate::started::not_run(
            "an MCAP file read by Foxglove's library",
            "python3 has no module mcap: pip install mcap",
        );
    }
    let read = std::process::Command::new("python3")
        .args(["-c", READER])
        .arg(&file)
        .output()
        .unwrap();
    assert!(
        read.status.success(),
        "{}",
        String::from_utf8_lossy(&read.stderr)
    );
    let mut theirs: Vec<String> = String::from_utf8(read.stdout)
        .unwrap()
        .lines()
        .map(str::to_owned)
        .collect();
    let run = wakepath_archive::Run::open(&directory).unwrap();
    let mut ours = Vec::new();
    for segment in &run.manifest.segments {
        for thread in &segment.threads {
            for sample in run.samples(segment.segment, thread.thread).unwrap() {
                let condition = segment.condition.replace(' ', "_");
                ours.push(format!(
                    "/{}/{condition}/{} {} {} {}",
                    segment.phase,
                    thread.name,
                    sample.wake_ns,
                    sample.due_ns,
                    sample.latency_ns()
                ));
            }
        }
    }
    ours.sort();
    theirs.sort();
    assert_eq!(ours, theirs);
}
