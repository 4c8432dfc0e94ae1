//! Any text as the journal of applied settings: it is refused with the number of a line that is there,
//! or read; what is read can be gone through in reverse as `revert` does.
#![no_main]

use libfuzzer_sys::fuzz_target;
use wakepath_tuning::History;

fuzz_target!(|text: &str| {
    match History::parse(text) {
        Ok(history) => {
            for record in history.records.iter().rev() {
                let (action, before) = (&record.action, &record.before);
                let compare = action.compare();
                let _ = compare.same(before, &action.value());
                let _ = compare.writable(before);
                let _ = action.command();
            }
        }
        Err((line, why)) => {
            assert!(line >= 1 && line <= text.lines().count(), "{line}: {why}");
        }
    }
});
