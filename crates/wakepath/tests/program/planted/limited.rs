//! Real runs whose files may not grow beyond a limit: as on a disk that fills, at sixty points from the first event to
//! the last. Recovered with room again, a run that lacks anything does not pass.

use crate::started::{Place, Start, ask, binary, loop_cpu};
use wakepath_archive::Run;

const SIZES: u64 = 60;
/// The room that a log keeps for its end.
const LEAST: u64 = 64 * 1024;
/// More than such a run needs.
const MOST: u64 = 512 * 1024;

const WORDS: &str = "run scenario.toml --directory run --no-tui";

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

/// What a run has to have to be whole.
fn parts(run: &Run) -> (usize, usize) {
    (run.manifest.facts.len(), run.manifest.segments.len())
}

// Ignored: the stage `planted` of ./test --deep runs it: minutes.
pub fn no_run_whose_file_reached_a_limit_passes_at_any_of_sixty_sizes() {
    let free = Start::shell_in(place(), &format!("exec {} {WORDS}", binary().display())).finish();
    free.assert_code(0);
    let whole = parts(&free.run());
    let (mut nothing, mut cut, mut complete) = (0, 0, 0);
    for number in 0..SIZES {
        let bytes = LEAST + (MOST - LEAST) * number / SIZES;
        // In blocks of 512 bytes, as POSIX has it.
        let line = format!(
            "ulimit -f {}; exec {} {WORDS}",
            bytes / 512,
            binary().display()
        );
        let finished = Start::shell_in(place(), &line).finish();
        let what = || format!("{bytes} bytes: {}", finished.said());
        let recovered = ask("recover", &finished.directory);
        if recovered.code() != Some(0) {
            assert_ne!(finished.code(), Some(0), "{}", what());
            nothing += 1;
            continue;
        }
        let run = finished.run();
        let shown = ask("show", &finished.directory);
        match run.is_complete() {
            true => {
                assert_eq!(parts(&run), whole, "{}", what());
                complete += 1;
            }
            false => {
                assert_ne!(shown.code(), Some(0), "{}{}", what(), shown.said());
                assert_ne!(finished.code(), Some(0), "{}", what());
                let reason = shown.output.contains("limit of a file's size");
                assert!(reason, "{}{}", what(), shown.said());
                cut += 1;
            }
        }
    }
    println!(
        "planted: files limited to {SIZES} sizes: {nothing} runs of which nothing was recorded, {cut} that could not go on, \
         none passed; {complete} complete"
    );
    assert!(cut > 0 && complete > 0, "{cut} cut, {complete} complete");
}
