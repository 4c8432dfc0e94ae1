//! Facts of this machine as a run needs them.

use wakepath_console::option_value::{InvalidValue, OptionError};
use wakepath_load::{Cache, Caches};
use wakepath_machine::{Facts, Root};

/// Refuses CPUs that this machine does not have.
pub fn refuse_offline(cpus: &[u16]) -> Result<(), OptionError> {
    let facts = Facts::read(&Root::host());
    let Some(online) = facts.varying.cpu_time.online.known() else {
        return Ok(());
    };
    match cpus.iter().find(|&&cpu| !online.contains(cpu)) {
        Some(cpu) => Err(OptionError::new(
            "--cpu",
            cpu,
            InvalidValue::NotOnline(online.clone()),
        )),
        None => Ok(()),
    }
}

/// The clock source by the machine's facts.
pub fn clock_source(facts: &Facts) -> String {
    facts
        .varying
        .clock_source
        .current
        .known()
        .cloned()
        .unwrap_or_else(|| "unknown".into())
}

/// The data caches as the loads need them; the largest of a level where cores differ.
pub fn caches(facts: &Facts) -> Caches {
    let known = facts
        .fixed
        .cpus
        .caches
        .known()
        .map_or(&[][..], Vec::as_slice);
    let level = |level| {
        let data = known
            .iter()
            .filter(|cache| cache.level == level && cache.kind != "Instruction");
        data.filter_map(|cache| {
            Some(Cache {
                bytes: cache.bytes?,
                shared_by_cpus: cache.cpus.len() as u32,
            })
        })
        .max_by_key(|cache| cache.bytes)
    };
    Caches {
        l1d: level(1),
        l2: level(2),
        l3: level(3),
    }
}
