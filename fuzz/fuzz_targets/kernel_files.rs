//! Any text as a file of /proc or /sys: a process may name itself as it likes, a driver its
//! interrupt. Nothing panics or takes memory beyond the text's own length.
#![no_main]

use libfuzzer_sys::fuzz_target;
use wakepath_machine::CpuList;
use wakepath_readiness::{InterruptLines, Process, mask};
use wakepath_tuning::Compare;

fuzz_target!(|text: &str| {
    if let Some(process) = Process::parse(1, text) {
        assert!(text.contains(&process.name));
    }
    for line in InterruptLines::parse(text) {
        assert!(line.action.len() <= text.len());
    }
    if let Ok(cpus) = mask(text) {
        assert!(cpus.len() <= text.len() * 4);
    }
    if let Ok(cpus) = text.parse::<CpuList>() {
        // As written again it means the same.
        assert_eq!(cpus.to_string().parse::<CpuList>().as_ref(), Ok(&cpus));
    }
    for compare in [
        Compare::Text,
        Compare::Cpus,
        Compare::Mask,
        Compare::Chosen,
        Compare::Word,
        Compare::Words,
    ] {
        assert!(
            compare == Compare::Word || compare.same(text, text),
            "{compare:?}"
        );
    }
});
