//! `wakepath tune apply`, `revert`, `status`.

use super::{agreed, plan};
use crate::command_line::{TuneApply, TunePlace};
use std::fmt::Write;
use std::path::Path;
use std::process::ExitCode;
use wakepath_console::Outcome;
use wakepath_console::terminal::{laid, print, print_result, print_whole, tell_text};
use wakepath_timeline::count::counted;
use wakepath_timeline::one_line;
use wakepath_tuning::{Action, Journal, Step, System};

fn system(root: Option<&Path>) -> System {
    root.map_or_else(System::host, System::at)
}

/// Carries the plan out.
pub fn apply(arguments: &TuneApply) -> Outcome {
    let (mut plan, _) = plan(&arguments.plan)?;
    let names: Vec<&str> = plan.now.iter().map(|step| step.id.as_str()).collect();
    if let Some(unknown) = arguments
        .step
        .iter()
        .find(|wanted| !names.contains(&wanted.as_str()))
    {
        let names = names.join(", ");
        return Err(format!("--step {unknown}: the plan's steps are {names}").into());
    }
    let mut rivals = plan.rivals.clone();
    if !arguments.step.is_empty() {
        // Programs that the plan would pause, and these steps do not.
        let left = plan.now.iter();
        let left = left.filter(|step| !arguments.step.contains(&step.id));
        let paused = left.flat_map(|step| &step.actions);
        let paused = paused.filter(|action| matches!(action, Action::Pause { .. }));
        rivals.extend(paused.map(Action::command));
        plan.now.retain(|step| arguments.step.contains(&step.id));
    }
    if arguments.dry_run {
        print_whole(&commands(&plan.now))?;
        return Ok(ExitCode::SUCCESS);
    }
    if let (Some(rival), false) = (rivals.first(), arguments.despite_rivals) {
        return Err(format!("this would undo it: {rival}; or --despite-rivals").into());
    }
    let system = system(arguments.plan.root.as_deref());
    if !arguments.yes {
        tell_text(&summary(&plan.now));
        if !agreed("write these?")? {
            return Err("nothing written; --yes writes without asking".into());
        }
    }
    let applied = wakepath_tuning::apply(&plan.now, &system, &mut |_| {})?;
    if arguments.plan.json {
        print_result(
            true,
            &format!("{}\n", serde_json::to_string_pretty(&applied)?),
        )?;
    } else {
        let mut text = format!(
            "{} settings changed and read back, {} were so already, {} refused\n",
            applied.changed,
            applied.already,
            applied.refused.len()
        );
        for refusal in &applied.refused {
            writeln!(
                text,
                "refused: {}: {}",
                refusal.action.command(),
                refusal.why
            )?;
        }
        for skipped in &applied.skipped {
            writeln!(text, "skipped: {}: {}", skipped.step, skipped.why)?;
        }
        writeln!(text, "taken back by: wakepath tune revert, or a reboot")?;
        print(&text)?;
    }
    let is_whole = applied.refused.is_empty() && applied.skipped.is_empty();
    Ok(ExitCode::from(if is_whole { 0 } else { 3 }))
}

/// Takes it back.
pub fn revert(place: &TunePlace) -> Outcome {
    let reverted = wakepath_tuning::revert(&system(place.root.as_deref()))?;
    if place.json {
        print_result(
            true,
            &format!("{}\n", serde_json::to_string_pretty(&reverted)?),
        )?;
    } else {
        let mut text = String::new();
        match &reverted {
            None => writeln!(text, "nothing is applied")?,
            Some(reverted) => {
                writeln!(text, "{} settings are as before", reverted.restored)?;
                for left in &reverted.left {
                    let (command, before) = (left.action.command(), &left.before);
                    writeln!(text, "not restored (was {before}): {command}: {}", left.why)?;
                }
            }
        }
        print(&text)?;
    }
    let whole = reverted.is_none_or(|reverted| reverted.left.is_empty());
    Ok(ExitCode::from(if whole { 0 } else { 1 }))
}

/// Says what is applied and whether it still holds.
pub fn status(place: &TunePlace) -> Outcome {
    let system = system(place.root.as_deref());
    let mut text = String::new();
    let mut holds = true;
    let mut settings = Vec::new();
    match Journal::open(system.directory())? {
        None => writeln!(text, "nothing is applied")?,
        Some(journal) => {
            if !journal.history.complete {
                holds = false;
                writeln!(
                    text,
                    "the application was cut short; take it back: wakepath tune revert"
                )?;
            }
            let mut kept = 0;
            let mut waiting = Vec::new();
            let records = &journal.history.records;
            for (index, record) in records.iter().enumerate() {
                let action = &record.action;
                let value = action.value();
                let now = system.read(action).unwrap_or_else(|why| why.to_string());
                let same = action.compare().same(&now, &value) || action.follows_another();
                let effective = effective(&system, action);
                let elsewhere = effective.as_ref().is_some_and(|cpus| *cpus != value);
                settings.push(serde_json::json!({
                    "step": record.step, "change": action, "before": record.before,
                    "now": now, "as_written": same, "effective": effective,
                    "refused": record.refused,
                }));
                // A change is in the journal before it is made.
                let may_be_unmade = !journal.history.complete && index + 1 == records.len();
                match &record.refused {
                    None if !same && may_be_unmade && now == record.before => {
                        holds = false;
                        writeln!(text, "not made: {}: still {now}", action.command())?;
                    }
                    Some(why) => writeln!(text, "refused: {}: {why}", action.command())?,
                    None if !same => {
                        holds = false;
                        writeln!(text, "changed since: {}: now {now}", action.command())?;
                    }
                    None => kept += 1,
                }
                if let (true, Action::Interrupt { number, device, .. }, Some(cpus)) = (
                    elsewhere && same && record.refused.is_none(),
                    action,
                    effective,
                ) {
                    let device = one_line(device);
                    let name = device.split_whitespace().next_back().unwrap_or_default();
                    waiting.push(format!("{number} {name} (still on CPU {cpus})"));
                }
            }
            if !waiting.is_empty() {
                writeln!(
                    text,
                    "moved with their next interrupt: {}",
                    waiting.join(", ")
                )?;
            }
            writeln!(text, "{kept} settings are as written")?;
        }
    }
    let booted = super::boot::status(&system, &mut text)?;
    print_result(
        place.json,
        &if place.json {
            format!(
                "{}\n",
                serde_json::to_string_pretty(
                    &serde_json::json!({ "settings": settings, "boot": booted })
                )?
            )
        } else {
            text
        },
    )?;
    Ok(ExitCode::from(if holds { 0 } else { 2 }))
}

/// Where the kernel really sends an interrupt, which may lag behind what was written.
fn effective(system: &System, action: &Action) -> Option<String> {
    let Action::Interrupt { number, .. } = action else {
        return None;
    };
    let path = format!("/proc/irq/{number}/effective_affinity_list");
    system.root().text(&path).known().cloned()
}

/// The steps with their effect, cost and number of settings, and how to see every command.
fn summary(steps: &[Step]) -> String {
    let mut text = String::new();
    for step in steps {
        let Step {
            id, effect, cost, ..
        } = step;
        let settings = step.actions.len() as u64;
        let settings = counted(settings, "setting", "settings");
        let _ = writeln!(text, "{id} ({settings}): {effect}; cost: {cost}");
    }
    text + "every command: wakepath tune apply --dry-run, with the same options\n"
}

/// The steps with the commands that would do the same.
pub(super) fn commands(steps: &[Step]) -> String {
    let mut text = String::new();
    for step in steps {
        let Step {
            id, effect, cost, ..
        } = step;
        text += &laid(&format!("{id}: {effect}; cost: {cost}\n"));
        for action in &step.actions {
            let _ = writeln!(text, "  {}", action.command());
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_agreed_to_is_a_sentence_for_each_step_and_no_list_of_commands() {
        let directory = |path: &str| Action::Directory { path: path.into() };
        let step = Step {
            id: "cpusets".into(),
            checks: vec!["B5".into()],
            reason: "any program can run there".into(),
            effect: "other programs run elsewhere".into(),
            cost: "the CPU is taken".into(),
            undo: "the old sets".into(),
            actions: vec![directory("/one"), directory("/two")],
        };
        assert_eq!(
            summary(&[step]),
            "cpusets (2 settings): other programs run elsewhere; cost: the CPU is taken\n\
             every command: wakepath tune apply --dry-run, with the same options\n"
        );
    }
}
