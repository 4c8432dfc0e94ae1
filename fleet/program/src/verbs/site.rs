//! `wakepath-fleet site`: the archive as pages.

use super::archive::{Opened, look};
use super::standings::LeftOut;
use super::{Outcome, changes};
use crate::command_line::Site;
use crate::reports::Reporter;
use crate::terminal::{print, tell_line};
use std::collections::BTreeMap;
use std::path::Path;
use std::process::ExitCode;
use wakepath_directory::{Directory, Trust};
use wakepath_fleet_archive::{Catalogue, FleetArchiveError, RunRecord, Store};
use wakepath_fleet_site::{Curve, Seal, Seen, SeenRun, board_page, feed, front_page};
use wakepath_timeline::count::counted;

/// Writes them; a page is replaced whole.
pub fn run(arguments: &Site) -> Outcome {
    let Opened {
        store,
        all,
        left_out,
    } = look(&arguments.at)?;
    let mut seen = seen(&*store, &all, &left_out)?;
    let trust = if arguments.at.of.trust_directory {
        Trust::Any
    } else {
        Trust::Own
    };
    let output = Directory::make(&arguments.output, trust)?;
    let boards = Directory::make(&arguments.output.join("board"), trust)?;
    let put = |directory: &Directory, name: &str, text: &str| {
        let path = directory.path_of(name);
        let put = directory.put(name, text.as_bytes());
        put.map_err(|error| format!("{}: {error}", path.display()))
    };
    if arguments.reports > 0 {
        let reports = Directory::make(&arguments.output.join("report"), trust)?;
        for run in written(&*store, &all, &seen, arguments, &reports)? {
            seen.runs[run].has_report = true;
        }
    }
    let names = seen.boards();
    for board in &names {
        let newest = newest(&seen, board);
        let curves = match newest {
            Some(run) => curves(&*store, &all, &run.run_id)?,
            None => Vec::new(),
        };
        let newest = newest.map(|run| (&*run.run_id, &*curves));
        put(
            &boards,
            &format!("{board}.html"),
            &board_page(&seen, board, newest),
        )?;
    }
    put(&output, "feed.xml", &feed(&seen))?;
    // Last, because it links to all others.
    put(&output, "index.html", &front_page(&seen))?;
    let index = Path::new(&arguments.output).join("index.html");
    print(&format!(
        "{}: {}\n",
        index.display(),
        counted(names.len() as u64, "board", "boards")
    ))?;
    Ok(ExitCode::SUCCESS)
}

/// Writes the requested reports; returns the runs that have one.
fn written(
    store: &dyn Store,
    all: &Catalogue,
    seen: &Seen,
    arguments: &Site,
    reports: &Directory,
) -> Result<Vec<usize>, Box<dyn std::error::Error>> {
    let reporter = Reporter::found(arguments.program.as_deref());
    let reporter = reporter.ok_or("no reports: wakepath is not on the PATH; --program names it")?;
    let mut left: BTreeMap<&str, usize> = BTreeMap::new();
    let mut written = Vec::new();
    for (place, run) in seen.runs.iter().enumerate().rev() {
        let left = left.entry(&run.board).or_insert(arguments.reports);
        let mut records = all.records.iter();
        let record = records.find(|record| record.run_id == run.run_id);
        let Some(record) = record.filter(|_| *left > 0) else {
            continue;
        };
        *left -= 1;
        match reporter.page(store, all, record) {
            Ok(page) => {
                let name = format!("{}.html", run.run_id);
                let path = reports.path_of(&name);
                let put = reports.put(&name, &page);
                put.map_err(|error| format!("{}: {error}", path.display()))?;
                written.push(place);
            }
            // The others are written all the same.
            Err(why) => tell_line(&format!("{}: no report: {why}", run.run_id)),
        }
    }
    Ok(written)
}

/// Data for the pages.
pub fn seen(
    store: &dyn Store,
    all: &Catalogue,
    left_out: &LeftOut,
) -> Result<Seen, FleetArchiveError> {
    let run = |record: &RunRecord| {
        let seal = match left_out.why.get(&record.run_id) {
            Some(why) => Seal::Wrong(why.clone()),
            None if !all.sealed.contains_key(&record.run_id) => Seal::None,
            None if left_out.is_asked => Seal::Verified,
            None => Seal::Unchecked,
        };
        SeenRun::new(record, seal)
    };
    let runs = all.records.iter().map(run).collect();
    Ok(Seen::new(runs, changes::found(store, all, left_out)?))
}

/// A board's newest run that can be trusted.
pub fn newest<'a>(seen: &'a Seen, board: &str) -> Option<&'a SeenRun> {
    let mut runs = seen.runs.iter().rev();
    runs.find(|run| run.board == board && !run.is_invalid())
}

/// Counts of each microsecond, by thread. A latency of 1.001 µs counts as 1 µs.
pub fn curves(
    store: &dyn Store,
    all: &Catalogue,
    run: &str,
) -> Result<Vec<Curve>, Box<dyn std::error::Error>> {
    let Some(record) = all.records.iter().find(|record| record.run_id == run) else {
        return Ok(Vec::new());
    };
    let latencies = all.latencies(store, record)?;
    let mut curves = Vec::new();
    for row in record.threads.iter().filter(|row| !row.traced) {
        let Some(values) = latencies.get(&(row.segment, row.thread)) else {
            continue;
        };
        let mut points: BTreeMap<i64, u64> = BTreeMap::new();
        for &(ns, samples) in values {
            *points.entry(ns.div_euclid(1000)).or_default() += samples.max(0) as u64;
        }
        curves.push(Curve {
            name: format!("{}, {}, {}", row.name, row.policy, row.phase),
            points: points.into_iter().collect(),
        });
    }
    Ok(curves)
}
