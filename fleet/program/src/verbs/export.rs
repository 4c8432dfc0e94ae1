//! `wakepath-fleet export`: the archive as other systems read it.

use super::archive::{Opened, look};
use super::{Outcome, site};
use crate::command_line::{Export, ExportForm};
use crate::terminal::print;
use std::process::ExitCode;
use wakepath_fleet_site::{kcidb, open_metrics};

/// Prints it.
pub fn run(arguments: &Export) -> Outcome {
    let known = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
    if arguments.origin.is_empty() || !arguments.origin.chars().all(known) {
        let origin = &arguments.origin;
        return Err(format!("--origin {origin:?}: small letters, digits and `_` alone").into());
    }
    let Opened {
        store,
        all,
        left_out,
    } = look(&arguments.at)?;
    let seen = site::seen(&*store, &all, &left_out)?;
    print(&match arguments.form {
        ExportForm::Openmetrics => open_metrics(&seen),
        ExportForm::Kcidb => kcidb(&seen, &arguments.origin).to_string() + "\n",
    })?;
    Ok(ExitCode::SUCCESS)
}
