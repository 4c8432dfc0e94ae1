//! The loop's process in the control group that `tune apply` made for its CPUs. Nothing else of a run
//! goes there: loads stay where the plan keeps programs.

use wakepath_machine::Root;
use wakepath_measured_loop::LoopSpec;
use wakepath_probe::Apart;
use wakepath_tuning::LoopGroup;

/// Puts the process in if its CPUs are set apart: from elsewhere it may not run on them.
///
/// # Errors
/// Why it can't be put there.
pub(super) fn enter(spec: &LoopSpec, pid: u32) -> Result<(), String> {
    let Some(group) = LoopGroup::find(&Root::host()) else {
        return Ok(());
    };
    let cpus = spec
        .threads
        .iter()
        .filter_map(|thread| thread.preparation.cpus.as_ref())
        .flatten();
    match cpus.into_iter().any(|&cpu| group.cpus.contains(cpu.into())) {
        false => Ok(()),
        true => group.take_in(pid).map_err(|why| {
            format!("the loop's CPU is set apart by `tune apply`, and its group is closed: {why}")
        }),
    }
}

/// What the probe needs to know of it: its self-test runs on the loop's CPU.
pub(super) fn apart() -> Option<Apart> {
    let group = LoopGroup::find(&Root::host())?;
    let cpus = group.cpus.numbers().iter();
    Some(Apart {
        cpus: cpus.filter_map(|&cpu| u16::try_from(cpu).ok()).collect(),
        home: group.home().ok()?.into(),
        group: group.path.into(),
    })
}
