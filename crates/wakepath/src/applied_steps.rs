//! The steps of a tuning plan that are applied on this machine.

use wakepath_tuning::{Applied, Step, System};

/// Makes this machine have these steps applied and no others.
pub fn apply_only(system: &System, steps: &[Step]) -> Result<Applied, Box<dyn std::error::Error>> {
    if let Some(reverted) = wakepath_tuning::revert(system)?
        && let Some(left) = reverted.left.first()
    {
        return Err(format!("{}: {}", left.action.command(), left.why).into());
    }
    Ok(if steps.is_empty() {
        Applied::default()
    } else {
        wakepath_tuning::apply(steps, system, &mut |_| {})?
    })
}
