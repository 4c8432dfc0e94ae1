//! `wakepath lab check`: the run of a baseline once more, and what takes longer than it did.

use super::comparison::Compared;
use super::counted;
use super::run::{guest_cpus, measure};
use crate::command_line::{LabCheck, LabGuests};
use crate::verbs::{Outcome, measured, print};
use std::fmt::Write;
use std::process::ExitCode;
use std::time::SystemTime;
use wakepath_lab::{Baseline, Change, GuestCounts, PathPart, stretch_changes};

/// Boots what the baseline names, and holds its counts against it.
pub fn run(arguments: &LabCheck) -> Outcome {
    let baseline = counted::read(&arguments.baseline)?;
    let order = &baseline.order;
    let kernel = match arguments.kernel.as_slice() {
        [] => order.kernels.clone(),
        given if given.len() == order.kernels.len() => given.to_vec(),
        given => {
            let (asked, there) = (given.len(), order.kernels.join(", "));
            return Err(
                format!("{asked} kernels in place of those of the baseline: {there}").into(),
            );
        }
    };
    let options = LabGuests {
        kernel,
        variant: order.variants.clone(),
        architecture: order.architecture.clone(),
        cpus: order.cpus,
        before: order.before.clone(),
        ns_per_instruction: order.ns_per_instruction,
        memory: order.memory_mib,
        host: arguments.host.clone(),
    };
    let source = arguments.baseline.display().to_string();
    let cpus = guest_cpus(order.cpus);
    let (scenario, _) = measured::read_scenario(&order.scenario, &source, &cpus)?;
    let directory = match &arguments.directory {
        Some(directory) => directory.clone(),
        None => measured::default_directory(&format!("lab-{}", scenario.name), SystemTime::now()),
    };
    measured::refuse_used(&directory)?;
    let compared = measure(&options, &scenario, &order.seeds, &directory)?;
    if let Some(broken) = compared.iter().find(|one| !one.is_whole()) {
        let why = match &broken.assessment {
            Err(error) => error.clone(),
            Ok(found) => format!("its run is {}", found.outcome),
        };
        return Err(format!("{}: {why}", broken.guest).into());
    }
    let order = counted::order(&options, &scenario, &order.seeds);
    let now = counted::baseline(order, &compared)?;
    let changes = baseline.changes(&now, arguments.allow / 100.0)?;
    let longer = changes.iter().any(|change| change.longer);
    print(&match arguments.json {
        true => to_json(&changes, longer)?,
        false => to_text(&baseline, &now, &changes, &compared),
    })?;
    if arguments.write {
        counted::write(&arguments.baseline, &now)?;
        eprintln!("baseline written anew: {source}");
        return Ok(ExitCode::SUCCESS);
    }
    Ok(ExitCode::from(if longer { 2 } else { 0 }))
}

fn to_json(changes: &[Change], longer: bool) -> Result<String, serde_json::Error> {
    let result = serde_json::json!({
        "outcome": "virtual-time", "longer": longer, "changes": changes,
    });
    Ok(serde_json::to_string_pretty(&result)? + "\n")
}

fn to_text(before: &Baseline, now: &Baseline, changes: &[Change], compared: &[Compared]) -> String {
    let mut text = String::new();
    for ((old, new), compared) in before.guests.iter().zip(&now.guests).zip(compared) {
        let mine: Vec<&Change> = changes.iter().filter(|c| c.guest == new.guest).collect();
        let _ = match mine.is_empty() {
            true => writeln!(text, "{}: every count as in the baseline", new.guest),
            false => writeln!(text, "{}: {}", new.guest, compared.directory),
        };
        if mine.is_empty() {
            continue;
        }
        for (name, value) in &new.provenance {
            let was = old.provenance.get(name);
            if was != Some(value) {
                let was = was.map_or("nothing", String::as_str);
                let _ = writeln!(text, "  {name}: {was} → {value}");
            }
        }
        conditions(&mut text, old, new, &mine);
    }
    let verdict = match (
        changes.is_empty(),
        changes.iter().any(|change| change.longer),
    ) {
        (true, _) => "THE SAME: nothing takes longer or shorter",
        (false, true) => "LONGER: what is marked takes more virtual time than in the baseline",
        (false, false) => "NOT LONGER: what changed is shorter, or within what is allowed",
    };
    let _ = writeln!(text, "virtual time, no machine's latencies; {verdict}");
    text
}

fn conditions(text: &mut String, old: &GuestCounts, new: &GuestCounts, changes: &[&Change]) {
    for (old, new) in old.conditions.iter().zip(&new.conditions) {
        let mine: Vec<&&Change> = changes
            .iter()
            .filter(|change| change.condition == new.condition)
            .collect();
        if mine.is_empty() {
            continue;
        }
        let _ = writeln!(text, "  {}", new.condition);
        for change in &mine {
            let mark = if change.longer {
                "longer  "
            } else {
                "        "
            };
            let (before, now) = (change.before, change.now);
            let _ = writeln!(
                text,
                "    {mark}{} {before} → {now} ({:+})",
                change.count,
                now - before
            );
        }
        for (which, old, new) in [
            ("median", &old.median_path, &new.median_path),
            ("worst cycle", &old.worst_path, &new.worst_path),
        ] {
            paths(text, which, old, new);
        }
    }
}

/// Which stretch of the path changed, the one that grew the most first.
fn paths(text: &mut String, which: &str, old: &[PathPart], new: &[PathPart]) {
    if old.is_empty() || new.is_empty() {
        if which == "median" {
            *text += "      which stretch of the path: not known, one of the two was not traced \
                      (`lab run --trace --baseline FILE`)\n";
        }
        return;
    }
    for change in stretch_changes(old, new) {
        let _ = writeln!(text, "      {which}: {change}");
    }
}
