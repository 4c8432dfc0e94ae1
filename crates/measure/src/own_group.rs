//! The loop's process in the control group that `tune apply` made for its CPUs. Nothing else of a run
//! goes there: loads stay where the plan keeps programs.

use wakepath_machine::Root;
use wakepath_measured_loop::LoopSpec;
use wakepath_probe::Apart;
use wakepath_tuning::{LoopGroup, SettingError};

/// The group does not take the loop's process.
#[derive(Debug, thiserror::Error)]
#[error("the loop's CPU is isolated by `tune apply`, and its group can't be entered: {0}")]
pub(super) struct GroupClosed(#[from] SettingError);

/// Puts the process in if its CPUs are set apart: from elsewhere it may not run on them.
///
/// # Errors
/// When it can't be put there.
pub(super) fn enter(spec: &LoopSpec, pid: u32) -> Result<(), GroupClosed> {
    let Some(group) = LoopGroup::find(&Root::host()) else {
        return Ok(());
    };
    let cpus = spec
        .threads
        .iter()
        .filter_map(|thread| thread.preparation.cpus.as_ref())
        .flatten();
    if cpus.into_iter().any(|&cpu| group.cpus.contains(cpu)) {
        Ok(group.take_in(pid)?)
    } else {
        Ok(())
    }
}

/// The group for the probe, whose self-test runs on the loop's CPU.
pub(super) fn apart() -> Option<Apart> {
    let group = LoopGroup::find(&Root::host())?;
    Some(Apart {
        cpus: group.cpus.numbers().to_vec(),
        home: group.home().ok()?.into(),
        group: group.path.into(),
    })
}
