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
        let text = with_usual_sections(&String::from_utf8(text)?) + MAN_END;
        std::fs::write(directory.join(name), text).map_err(failed)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// The page with its text after the options under the headings of man-pages(7), instead of one heading "extra".
fn with_usual_sections(page: &str) -> String {
    let Some((before, extra)) = page.split_once(".SH EXTRA\n") else {
        return page.to_owned();
    };
    let (extra, after) = match extra.find("\n.SH ") {
        Some(end) => extra.split_at(end + 1),
        None => (extra, ""),
    };
    let mut text = before.to_owned();
    for part in extra.split("\n\n").map(str::trim_end) {
        if part.starts_with("Exit codes:") {
            text += &format!(".SH EXIT STATUS\n{part}\n");
        } else if let Some((_, examples)) = part
            .split_once(":\n")
            .filter(|_| part.starts_with("Example"))
        {
            text += &format!(".SH EXAMPLES\n.nf\n{examples}\n.fi\n");
        } else {
            let heading = if text.contains(".SH NOTES") {
                ".PP"
            } else {
                ".SH NOTES"
            };
            text += &match part.contains("\n  ") {
                true => format!("{heading}\n.nf\n{part}\n.fi\n"),
                false => format!("{heading}\n{part}\n"),
            };
        }
    }
    text + after
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exit_codes_and_examples_have_their_headings_and_keep_their_lines() {
        let command = clap::Command::new("x")
            .version("1")
            .after_help("Exit codes: 0 done, 1 error.\n\nExamples:\n  x a     what it is\n  x --b");
        let mut text = Vec::new();
        clap_mangen::Man::new(command).render(&mut text).unwrap();
        let page = with_usual_sections(&String::from_utf8(text).unwrap());
        let expected = ".SH EXIT STATUS\nExit codes: 0 done, 1 error.\n.SH EXAMPLES\n.nf\n  x a     what it is\n  \
                        x \\-\\-b\n.fi\n.SH VERSION\n";
        assert!(page.contains(expected), "{page}");
        assert!(!page.contains("EXTRA"), "{page}");
        assert_eq!(with_usual_sections("as it was"), "as it was");
    }
}
