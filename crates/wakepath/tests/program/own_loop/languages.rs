//! Loops in Rust, C++ and Python at 1 kHz in one recording, each a process of its own: one is killed, one stopped for
//! a while, and nothing of the others is lost. Ten seconds of it with the other tests; as long as
//! `WAKEPATH_LANGUAGES_SECONDS` says, ten minutes without, in the stage `languages` of `./test --deep`. Needs g++, and
//! the package for Python as the stage `python` leaves it.

use super::*;
use crate::started::kill;
use rustix::process::Signal;
use wakepath_archive::ThreadEnd;
use wakepath_test_program::not_run;

wakepath_test_program::tests![
    a_loop_that_is_killed_and_one_that_is_stopped_cost_the_others_no_sample;
    ten_minutes_of_three_languages_lose_no_sample_of_a_loop_that_lives,
];

/// One of them is stopped for so long.
const STOPPED: Duration = Duration::from_secs(2);

fn a_loop_that_is_killed_and_one_that_is_stopped_cost_the_others_no_sample() {
    three_languages(8, 1);
}

fn ten_minutes_of_three_languages_lose_no_sample_of_a_loop_that_lives() {
    let seconds = std::env::var("WAKEPATH_LANGUAGES_SECONDS");
    let seconds = seconds.map_or(600, |text| text.parse().expect("a number of seconds"));
    // Stopped and continued some twenty times.
    three_languages(seconds, 20);
}

/// The package for Python, where the stage for it laid it out, and an interpreter that takes it.
pub fn python_package() -> PathBuf {
    let tests = libraries();
    let package = tests
        .ancestors()
        .map(|target| target.join("python/package"))
        .find(|package| package.join("wakepath").is_dir());
    let Some(package) = package else {
        not_run("no package for Python here: `cargo xtask test --only python` builds it");
    };
    let imported = Command::new("python3")
        .args(["-c", "import wakepath; wakepath.Loop"])
        .env("PYTHONPATH", &package)
        .output();
    match imported {
        Ok(output) if output.status.success() => package,
        Ok(output) => not_run(format!(
            "this python3 takes no loop of wakepath: {}",
            String::from_utf8_lossy(&output.stderr)
        )),
        Err(error) => not_run(format!("no python3 here: {error}")),
    }
}

/// Records the three for `seconds`; the one in Python is stopped `stops` times, the one in C++ is killed
/// half-way.
fn three_languages(seconds: u64, stops: u32) {
    let package = python_package();
    let place = Place::new();
    let source = place.path().join("source.cpp");
    std::fs::write(
        &source,
        "#include <wakepath.hpp>\n\
         int main() {\n\
             wakepath::Loop(\"cpp\", std::chrono::milliseconds(1)).run([](const wakepath_cycle &) {});\n\
         }\n",
    )
    .unwrap();
    built(&place, "g++", &["-std=c++17"], &source);
    std::fs::write(
        place.path().join("loop.py"),
        "import wakepath\n\
         with wakepath.Loop('python', rate_hz=1000) as loop:\n\
         \x20   for cycle in loop:\n\
         \x20       pass\n",
    )
    .unwrap();
    let rust = libraries().join("../examples/one_kilohertz");
    let text = format!(
        "#!/bin/sh\n{rust:?} rust & echo $! > rust.pid\n./my-loop & echo $! > cpp.pid\n\
         python3 loop.py & echo $! > python.pid\nwait\n"
    );
    std::fs::write(place.path().join("all.sh"), text).unwrap();
    let task = |name: &str| {
        format!(
            "[[tasks]]\nname = {name:?}\nrate = \"1 kHz\"\n\
             work = {{ kind = \"program\", command = [\"/bin/sh\", \"all.sh\"] }}\n"
        )
    };
    let text = format!(
        "duration = \"{seconds} s\"\nwarm-up = \"100 ms\"\npolicies = [\"OTHER\"]\n{}{}{}",
        task("rust"),
        task("cpp"),
        task("python")
    );
    let running = Start::scenario_in(place, &text)
        .environment("PYTHONPATH", package.to_str().unwrap())
        .start();
    running.wait_until_recorded(0, 500);
    let below = running.directory().parent().unwrap().to_owned();
    let process = |name: &str| {
        let text = std::fs::read_to_string(below.join(format!("{name}.pid"))).unwrap();
        text.trim().parse::<i32>().unwrap()
    };
    let (python, cpp) = (process("python"), process("cpp"));
    // Stops within the first nine tenths, which leaves the last one time to catch up.
    let apart = Duration::from_secs(seconds).mul_f64(0.9) / stops;
    let apart = apart.saturating_sub(STOPPED + Duration::from_secs(1));
    let mut killed_at_ns = 0;
    for stop in 0..stops {
        std::thread::sleep(apart / 2);
        if stop == stops / 2 {
            kill(cpp, Signal::KILL);
            killed_at_ns = wakepath_rt::clock::monotonic_ns();
        }
        kill(python, Signal::STOP);
        std::thread::sleep(STOPPED);
        kill(python, Signal::CONT);
        std::thread::sleep(apart / 2);
    }
    let finished = running.finish_within(Duration::from_secs(seconds + 60));
    // The killed one makes the run invalid, and the run reports it; the others remain.
    finished.assert_code(1);
    let run = finished.run();
    let segment = &run.manifest.segments[0];
    let mut counts = Vec::new();
    for end in &segment.threads {
        let samples = run.samples(0, end.thread).unwrap();
        let name = end.name.as_str();
        let taken = Some(samples.len() as u64);
        assert_eq!(
            (end.lost, end.written, end.appended),
            (Some(0), taken, taken),
            "{name}"
        );
        assert!(samples.is_sorted_by(|a, b| a.cycle < b.cycle), "{name}");
        let last = samples.last().expect("a sample");
        let skipped = end.skipped.expect("its skipped periods");
        let dues = 1000 * seconds + 100;
        match name {
            "cpp" => {
                assert!(
                    matches!(end.ended, Some(ThreadEnd::Failed { .. })),
                    "{:?}",
                    end.ended
                );
                // To the last cycle before it died.
                let late_ns = killed_at_ns.saturating_sub(last.end_ns);
                assert!(
                    late_ns < 1_000_000_000,
                    "its last sample is {late_ns} ns older than its death"
                );
                assert_eq!(samples.len() as u64 + skipped, last.cycle + 1);
            }
            _ => {
                assert_eq!(end.ended, Some(ThreadEnd::AllCycles), "{name}");
                assert_eq!(
                    (samples.len() as u64 + skipped, end.expected),
                    (dues, dues),
                    "{name}"
                );
            }
        }
        if name == "python" {
            // As many long silences as it was stopped, and each within one gap between two samples.
            let silent = samples
                .windows(2)
                .filter(|two| two[1].wake_ns - two[0].end_ns >= STOPPED.as_nanos() as u64 * 9 / 10);
            assert_eq!(silent.count(), stops as usize);
        }
        counts.push(format!(
            "{name}: {} due times, {} samples, {skipped} skipped, 0 lost",
            samples.len() as u64 + skipped,
            samples.len()
        ));
    }
    println!("languages: {seconds} s at 1 kHz; {}", counts.join("; "));
}
