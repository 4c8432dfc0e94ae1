//! `wakepath-fleet export`: the archive as other systems read it.

use super::standings::LeftOut;
use super::{Outcome, archive, site};
use crate::command_line::{Export, ExportForm};
use crate::terminal::print;
use std::process::ExitCode;
use wakepath_fleet_archive::catalogue;
use wakepath_fleet_site::{kcidb, open_metrics};

/// Prints it.
pub fn run(arguments: &Export) -> Outcome {
    let known = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
    if arguments.origin.is_empty() || !arguments.origin.chars().all(known) {
        let origin = &arguments.origin;
        return Err(format!("--origin {origin:?}: small letters, digits and `_` alone").into());
    }
    let store = archive::open(&arguments.of)?;
    let all = catalogue(&store)?;
    let left_out = LeftOut::of(&store, &all, &arguments.of, &arguments.seals)?;
    left_out.tell();
    let seen = site::seen(&all, &left_out);
    print(&match arguments.form {
        ExportForm::Openmetrics => open_metrics(&seen),
        ExportForm::Kcidb => kcidb(&seen, &arguments.origin).to_string() + "\n",
    })?;
    Ok(ExitCode::SUCCESS)
}
