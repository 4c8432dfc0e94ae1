//! Real runs on disks of sixty sizes, which fill at sixty points from the first event to the last. Recovered with
//! room again, a run that lacks anything does not pass.

use crate::started::{Place, Start, ask, loop_cpu, not_run};
use std::path::Path;
use std::process::Command;
use wakepath_archive::Run;

const SIZES: u64 = 60;
/// The room that a log keeps for its end: less holds no run.
const LEAST: u64 = 64 * 1024;
/// More than such a run needs.
const MOST: u64 = 768 * 1024;

/// The run, on the disk.
const RUN: &str = "disk/run";
const WORDS: [&str; 5] = ["run", "scenario.toml", "--directory", RUN, "--no-tui"];

fn place() -> Place {
    let place = Place::new();
    let text = format!(
        "name = \"limited\"\nrate = \"500 Hz\"\nduration = \"300 ms\"\nwarm-up = \"20 ms\"\npolicies = [\"OTHER\"]\n\
         cpu = {}\nphases = [{{ name = \"first\" }}, {{ name = \"second\" }}]\n\
         criterion = {{ latency = \"10 s\", deadline = \"10 s\", miss-fraction = \"90 %\" }}\n",
        loop_cpu()
    );
    std::fs::write(place.path().join("scenario.toml"), text).unwrap();
    place
}

/// Mounts a disk with these options, such as its size, or changes one that is already there.
fn disk(place: &Path, options: &str) {
    let path = place.join("disk");
    let _ = std::fs::create_dir(&path);
    let mount = Command::new("mount")
        .args(["-t", "tmpfs", "-o", options, "tmpfs"])
        .arg(&path)
        .output();
    match mount {
        Ok(output) if output.status.success() => {}
        _ => not_run("a disk that fills", "the right to mount one is needed"),
    }
}

/// The parts of a whole run.
fn parts(run: &Run) -> (usize, usize) {
    (run.manifest.facts.len(), run.manifest.segments.len())
}

// Ignored: the stage `planted` of ./test --deep runs it: minutes.
pub fn no_run_on_a_disk_that_filled_passes_at_any_of_sixty_sizes() {
    let place = place();
    disk(place.path(), "size=64m");
    let finished = Start::command_in(place, &WORDS).finish();
    finished.assert_code(0);
    let whole = parts(&Run::open(&finished.place.path().join(RUN)).unwrap());
    unmount(finished.place.path());
    let (mut nothing, mut cut, mut complete) = (0, 0, 0);
    for number in 0..SIZES {
        let bytes = LEAST + (MOST - LEAST) * number / SIZES;
        let place = self::place();
        disk(place.path(), &format!("size={bytes}"));
        let finished = Start::command_in(place, &WORDS).finish();
        disk(finished.place.path(), "remount,size=64m");
        let path = finished.place.path().join(RUN);
        let what = || format!("{bytes} bytes: {}", finished.said());
        let recovered = ask("recover", &path);
        if recovered.code() != Some(0) {
            assert_ne!(finished.code(), Some(0), "{}", what());
            nothing += 1;
        } else {
            let run = Run::open(&path).unwrap();
            let shown = ask("show", &path);
            if run.is_complete() {
                assert_eq!(parts(&run), whole, "{}", what());
                complete += 1;
            } else {
                assert_ne!(shown.code(), Some(0), "{}{}", what(), shown.said());
                assert_ne!(finished.code(), Some(0), "{}", what());
                let is_named = shown.output.contains("the disk is full");
                assert!(is_named, "{}{}", what(), shown.said());
                cut += 1;
            }
        }
        unmount(finished.place.path());
    }
    println!(
        "planted: disks of {SIZES} sizes: {nothing} runs of which nothing was recorded, {cut} that could not go on, none \
         passed; {complete} complete"
    );
    assert!(cut > 0 && complete > 0, "{cut} cut, {complete} complete");
}

fn unmount(place: &Path) {
    let _ = Command::new("umount").arg(place.join("disk")).status();
}
