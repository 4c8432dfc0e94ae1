//! Man pages, made from the definition of a command line.

use crate::Outcome;
use std::path::Path;
use std::process::ExitCode;

/// Sections that every man page ends with.
const MAN_END: &str = "\
.SH FILES
.TP
\\fIwakepath\\-runs/\\fR
Runs, each a directory, below the working directory.
.TP
\\fI/run/wakepath/journal\\fR
Settings changed by \\fBwakepath tune apply\\fR, with their former values.
.SH SEE ALSO
.BR wakepath (1),
.BR cyclictest (8),
.BR rtla (1),
.BR chrt (1),
.BR taskset (1),
.BR sched (7)
";

/// Writes a man page for the command and one for each command below it that is not hidden.
pub fn write(mut command: clap::Command, directory: &Path) -> Outcome {
    let failed = |error: std::io::Error| format!("{}: {error}", directory.display());
    if !directory.is_dir() {
        return Err(format!("{}: no such directory", directory.display()).into());
    }
    command.build();
    let mut open = vec![command];
    while let Some(command) = open.pop() {
        open.extend(
            command
                .get_subcommands()
                .filter(|of| !of.is_hide_set())
                .cloned(),
        );
        let page = clap_mangen::Man::new(command);
        let name = page.get_filename();
        let mut text = Vec::new();
        page.render(&mut text).map_err(failed)?;
        text.extend_from_slice(MAN_END.as_bytes());
        std::fs::write(directory.join(name), text).map_err(failed)?;
    }
    Ok(ExitCode::SUCCESS)
}
