//! `wakepath-fleet serve`: serves the archive's pages, each generated on request.
//!
//! Also the report of every run whose samples are still stored.

use super::Outcome;
use super::archive::{Opened, look};
use super::site::{curves, newest, seen};
use crate::command_line::Serve;
use crate::reports::Reporter;
use crate::served::{Page, serve};
use crate::terminal::{print, tell_line};
use std::net::TcpListener;
use std::process::ExitCode;
use wakepath_fleet_archive::{Catalogue, Store, is_plain};
use wakepath_fleet_site::{Seen, board_page, feed, front_page};

/// Serves until it is ended, without runs that are added in the meantime.
pub fn run(arguments: &Serve) -> Outcome {
    let Opened {
        store,
        all,
        left_out,
    } = look(&arguments.at)?;
    let reporter = Reporter::found(arguments.program.as_deref());
    if reporter.is_none() {
        tell_line("no reports: wakepath is not on the PATH; --program names it");
    }
    let mut seen = seen(&*store, &all, &left_out)?;
    for run in &mut seen.runs {
        run.has_report = reporter.is_some() && !all.retired.contains(&run.run_id);
    }
    let at = arguments.address;
    let listener = TcpListener::bind(at).map_err(|error| format!("{at}: {error}"))?;
    let front = front_page(&seen).into_bytes();
    print(&format!("http://{}/\n", listener.local_addr()?))?;
    let pages = Pages {
        store,
        all,
        seen,
        front,
        reporter,
    };
    serve(&listener, |path| pages.page(path))?;
    Ok(ExitCode::SUCCESS)
}

struct Pages {
    store: Box<dyn Store>,
    all: Catalogue,
    seen: Seen,
    front: Vec<u8>,
    reporter: Option<Reporter>,
}

impl Pages {
    fn page(&self, path: &str) -> Page {
        if matches!(path, "/" | "/index.html") {
            return Page::Html(self.front.clone());
        }
        if path == "/feed.xml" {
            return Page::Atom(feed(&self.seen).into_bytes());
        }
        let parts = path.strip_suffix(".html").unwrap_or_default();
        match parts.rsplit_once('/') {
            Some(("/board", board)) if is_plain(board) => self.board(board),
            Some(("/report", run)) if is_plain(run) => self.report(run),
            _ => Page::Unknown,
        }
    }

    fn board(&self, board: &str) -> Page {
        if !self.seen.runs.iter().any(|run| run.board == board) {
            return Page::Unknown;
        }
        let newest = newest(&self.seen, board);
        let drawn = newest.map(|run| Ok((run, curves(&*self.store, &self.all, &run.run_id)?)));
        let drawn: Result<_, Box<dyn std::error::Error>> = drawn.transpose();
        match drawn {
            Ok(drawn) => {
                let drawn = drawn
                    .as_ref()
                    .map(|(run, curves)| (&*run.run_id, &**curves));
                Page::Html(board_page(&self.seen, board, drawn).into_bytes())
            }
            Err(error) => Page::Wrong(error.to_string()),
        }
    }

    fn report(&self, run: &str) -> Page {
        let mut records = self.all.records.iter();
        let found = records.find(|record| record.run_id == run);
        match (found, &self.reporter) {
            (Some(record), Some(reporter)) => {
                match reporter.page(&*self.store, &self.all, record) {
                    Ok(page) => Page::Html(page),
                    Err(why) => Page::Wrong(why),
                }
            }
            _ => Page::Unknown,
        }
    }
}
