//! Shows schedules: next time, outcome of the latest job, and missed times.

use super::{Outcome, jobs, now};
use crate::terminal::print;
use crate::verbs::known;
use serde_json::json;
use std::process::ExitCode;
use wakepath_evidence::written;
use wakepath_fleet_boards::{Inventory, Journal, Schedule};

struct Shown<'a> {
    schedule: &'a Schedule,
    next: Option<u64>,
    last: Option<(String, String)>,
    missed: Vec<u64>,
}

/// Shows them, asking no board.
pub fn show(inventory: &Inventory, journal: &Journal, as_json: bool) -> Outcome {
    let mut all = Vec::new();
    for schedule in &inventory.schedules {
        let jobs = jobs(journal, schedule, now())?;
        let last = match jobs.last() {
            Some((job, _)) => Some((job.clone(), known::counts(&journal.records(job)?))),
            None => None,
        };
        let times: Vec<u64> = jobs.iter().map(|(_, time)| *time).collect();
        all.push(Shown {
            schedule,
            next: schedule.next(now()),
            last,
            missed: missed(schedule, &times, now()),
        });
    }
    print(&if as_json {
        let all: Vec<_> = all.iter().map(Shown::to_json).collect();
        format!("{:#}\n", json!({ "schedules": all }))
    } else {
        all.iter().map(Shown::text).collect()
    })?;
    Ok(ExitCode::SUCCESS)
}

/// Times since the first known job at which none was begun, and which are over.
fn missed(schedule: &Schedule, times: &[u64], now: u64) -> Vec<u64> {
    let Some(first) = times.first() else {
        return Vec::new();
    };
    let mut all = schedule.between(*first, now.saturating_sub(schedule.within));
    all.retain(|time| !times.contains(time));
    all
}

impl Shown<'_> {
    fn text(&self) -> String {
        let name = &self.schedule.name;
        let next = self.next.map_or("never".into(), written);
        let mut text = format!(
            "{name}: {} on {}, next {next}\n",
            self.schedule.scenario,
            self.schedule.on.join(" or ")
        );
        if let Some((job, counts)) = &self.last {
            text += &format!("  {job}: {counts}\n");
        }
        for time in &self.missed {
            text += &format!("  missed {}: not called in time\n", written(*time));
        }
        text
    }

    fn to_json(&self) -> serde_json::Value {
        json!({
            "name": self.schedule.name,
            "scenario": self.schedule.scenario,
            "on": self.schedule.on,
            "next": self.next.map(written),
            "last_job": self.last.as_ref().map(|(job, _)| job),
            "last_counts": self.last.as_ref().map(|(_, counts)| counts),
            "missed": self.missed.iter().copied().map(written).collect::<Vec<_>>(),
        })
    }
}
