//! A report for a terminal: grouped, worst first. Colour and width are left to the reader's
//! terminal, whose columns are the width asked for in the format (`{report:80}`), else a hundred.

use crate::{Check, Judged, Report, Severity, State};
use std::fmt::{self, Display, Formatter};
use wakepath_timeline::columns::{self, width};

const WIDTH: usize = 100;

/// Problems shown in short.
const MOST_IN_SHORT: usize = 8;

impl Report {
    /// One screen: the serious problems in a line or two each, the rest counted.
    pub fn in_short(&self, columns: usize) -> String {
        let line = |start: &str, text: &str| {
            let indent = " ".repeat(width(start));
            columns::wrapped(text, start, &indent, columns)
        };
        let tally = &self.tally;
        let mut text = line("for ", &self.subject.describe());
        text += &format!(
            "{} bad, {} unknown, {} good, {} do not apply here\n\n",
            tally.bad, tally.unknown, tally.good, tally.does_not_apply
        );
        let serious: Vec<&Judged> = self.bad().filter(|judged| !minor(judged)).collect();
        // Found and fix in a line each, at two lines of each kind.
        let room = 2 * columns.saturating_sub(6);
        for judged in serious.iter().take(MOST_IN_SHORT) {
            let found = judged.finding.found.split("; ").next().unwrap_or_default();
            let what = format!("{}: {found}", judged.title);
            let severity = format!(" ({})", judged.severity.word());
            // The severity is not what is cut.
            let what = columns::cut(&what, room.saturating_sub(width(&severity)));
            text += &line(&format!("  {:<3} ", judged.id), &(what + &severity));
            let (when, fix) = if judged.remedy_now.is_empty() {
                ("fix, at boot", &judged.remedy_at_boot)
            } else {
                ("fix", &judged.remedy_now)
            };
            if !fix.is_empty() {
                text += &fix_lines(&format!("{when}: {fix}"), columns, 2);
            }
        }
        let left = serious.len().saturating_sub(MOST_IN_SHORT);
        let minor = self.bad().filter(minor).count();
        let unknown = self.in_state(State::Unknown);
        let ids: Vec<&str> = unknown.map(|judged| judged.id.as_str()).collect();
        let mut rest = Vec::new();
        if left > 0 {
            rest.push(format!("{left} more like these"));
        }
        if minor > 0 {
            rest.push(format!("{minor} minor"));
        }
        if !ids.is_empty() {
            rest.push(format!("unknown: {}", ids.join(" ")));
        }
        if !rest.is_empty() {
            text += &line("  ", &format!("also: {}", rest.join("; ")));
        }
        text.push('\n');
        text + &line(
            "",
            "everything: wakepath doctor --all; one check: wakepath doctor --explain ID; what to change, in order: \
             wakepath tune plan",
        )
    }
}

impl Display for Report {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        wrapped(out, "for ", &self.subject.describe())?;
        let tally = &self.tally;
        writeln!(
            out,
            "{} bad, {} unknown, {} good, {} do not apply here",
            tally.bad, tally.unknown, tally.good, tally.does_not_apply
        )?;
        for severity in [Severity::Grave, Severity::Notable] {
            let bad: Vec<&Judged> = self
                .bad()
                .filter(|judged| judged.severity == severity)
                .collect();
            if bad.is_empty() {
                continue;
            }
            writeln!(out, "\nbad, {}", severity.word())?;
            for judged in bad {
                whole(out, judged)?;
            }
        }
        brief(out, "bad, minor", self.bad().filter(minor))?;
        brief(out, "unknown", self.in_state(State::Unknown))?;
        names(out, "good", self.in_state(State::Good))?;
        names(out, "do not apply here", self.in_state(State::DoesNotApply))?;
        writeln!(out)?;
        wrapped(
            out,
            "",
            "why and what to do, of each: wakepath doctor --explain ID; what to change in which \
             order: wakepath tune plan",
        )
    }
}

/// A fix, indented by six columns: its words on as many lines as `most` leaves, and a command after them on lines of
/// its own that are never broken or cut, so that it can be pasted.
pub fn fix_lines(fix: &str, columns: usize, most: usize) -> String {
    const INDENT: &str = "      ";
    let room = columns.saturating_sub(INDENT.len());
    let (words, command) = if width(fix) <= room {
        (fix, "")
    } else {
        parted(fix)
    };
    // A shell reads on after `&&`.
    let command = command
        .split_inclusive("&& ")
        .filter(|part| !part.is_empty());
    let command: Vec<&str> = command.map(str::trim_end).collect();
    let lines = most.saturating_sub(command.len()).max(1);
    let laid = |left: usize| columns::wrapped(&columns::cut(words, left), INDENT, INDENT, columns);
    let mut left = lines.saturating_mul(room).min(width(words));
    let mut text = laid(left);
    // Lines broken between words hold less than their columns.
    while text.lines().count() > lines && left > room / 2 {
        left -= 1;
        text = laid(left);
    }
    for part in command {
        text += &format!("{INDENT}  {part}\n");
    }
    text
}

/// A fix as its words and the command after them, which is empty if there is none.
fn parted(fix: &str) -> (&str, &str) {
    let begins = [
        ": sudo ",
        ": echo ",
        ": sysctl ",
        ": systemctl ",
        ": wakepath ",
    ];
    let found = begins.iter().filter_map(|begin| fix.find(begin)).min();
    let Some(at) = found else {
        return (fix, "");
    };
    let (words, command) = (&fix[..=at], &fix[at + 2..]);
    // An explanation after it, or a choice, is no part of a command.
    if command.contains([',', ';']) {
        (fix, "")
    } else {
        (words, command)
    }
}

fn minor(judged: &&Judged) -> bool {
    judged.severity == Severity::Minor
}

/// A bad check with its reason and remedies.
fn whole(out: &mut Formatter<'_>, judged: &Judged) -> fmt::Result {
    let found = format!(
        "{} · {}: {}",
        judged.group.word(),
        judged.title,
        judged.finding.found
    );
    wrapped(out, &format!("  {:<3} ", judged.id), &found)?;
    wrapped(out, "      read in  ", &judged.finding.path)?;
    let why = match &judged.for_this_loop {
        Some(figures) => format!("{figures}. {}", judged.why),
        None => judged.why.clone(),
    };
    wrapped(out, "      why      ", &why)?;
    if !judged.remedy_now.is_empty() {
        wrapped(out, "      now      ", &judged.remedy_now)?;
    }
    if !judged.remedy_at_boot.is_empty() {
        wrapped(out, "      at boot  ", &judged.remedy_at_boot)?;
    }
    Ok(())
}

/// One line each.
fn brief<'a>(
    out: &mut Formatter<'_>,
    heading: &str,
    checks: impl Iterator<Item = &'a Judged>,
) -> fmt::Result {
    let mut any = false;
    for judged in checks {
        if !std::mem::replace(&mut any, true) {
            writeln!(out, "\n{heading}")?;
        }
        let path = if judged.finding.path.is_empty() {
            String::new()
        } else {
            format!(" ({})", judged.finding.path)
        };
        let text = format!("{}: {}{path}", judged.title, judged.finding.found);
        wrapped(out, &format!("  {:<3} ", judged.id), &text)?;
    }
    Ok(())
}

/// Ids and titles alone.
fn names<'a>(
    out: &mut Formatter<'_>,
    heading: &str,
    checks: impl Iterator<Item = &'a Judged>,
) -> fmt::Result {
    let titles: Vec<String> = checks
        .map(|judged| format!("{} {}", judged.id, judged.title))
        .collect();
    if titles.is_empty() {
        return Ok(());
    }
    writeln!(out, "\n{heading}")?;
    wrapped(out, "  ", &titles.join(", "))
}

/// Breaks a text at blanks; lines after the first are indented as the first begins.
fn wrapped(out: &mut Formatter<'_>, start: &str, text: &str) -> fmt::Result {
    let columns = out.width().unwrap_or(WIDTH);
    let indent = " ".repeat(width(start));
    out.write_str(&columns::wrapped(text, start, &indent, columns))
}

/// Everything about one check, with what it found here.
pub fn explanation(check: &Check, judged: Option<&Judged>, columns: usize) -> String {
    struct Explained<'a>(&'a Check, Option<&'a Judged>);
    impl Display for Explained<'_> {
        fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
            let Self(check, judged) = self;
            let title = format!("{} {} ({})", check.id, check.title, check.group.word());
            wrapped(out, "", &title)?;
            wrapped(out, "reads      ", check.reads)?;
            wrapped(out, "why        ", check.why)?;
            if !check.now.is_empty() {
                wrapped(out, "now        ", check.now)?;
            }
            if !check.boot.is_empty() {
                wrapped(out, "at boot    ", check.boot)?;
            }
            wrapped(out, "known by   ", check.confidence.words())?;
            let Some(judged) = judged else {
                return Ok(());
            };
            let state = match judged.finding.state {
                State::Bad => format!("bad, {}", judged.severity.word()),
                other => other.word().to_owned(),
            };
            let found = format!("{state}: {}", judged.finding.found);
            wrapped(out, "here       ", &found)?;
            if !judged.finding.path.is_empty() {
                wrapped(out, "read in    ", &judged.finding.path)?;
            }
            if let Some(figures) = &judged.for_this_loop {
                wrapped(out, "this loop  ", figures)?;
            }
            if let Some(now) = &judged.finding.now {
                wrapped(out, "do         ", now)?;
            }
            if let Some(boot) = &judged.finding.at_boot {
                wrapped(out, "do at boot ", boot)?;
            }
            Ok(())
        }
    }
    format!("{:columns$}", Explained(check, judged))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Inspection, LoopAtHand, Report};
    use std::time::Duration;
    use wakepath_machine::Root;

    #[test]
    fn a_command_is_parted_from_its_words_and_a_choice_is_not() {
        let kernel = "fix, at boot: boot a kernel; Debian: sudo apt install linux-image-rt-amd64";
        assert_eq!(parted(kernel).1, "sudo apt install linux-image-rt-amd64");
        let model = "fix: sudo mount -t debugfs d /sys/kernel/debug && echo full | sudo tee /x";
        assert_eq!(parted(model), ("fix:", &model[5..]));
        for words in [
            "fix: swapoff -a",
            "fix: systemctl stop irqbalance, or IRQBALANCE_BANNED_CPULIST=1",
        ] {
            assert_eq!(parted(words), (words, ""));
        }
    }

    #[test]
    fn a_command_is_on_a_line_of_its_own_if_both_do_not_fit() {
        let fix = "fix: boot a kernel; Debian: sudo apt install linux-image-rt-amd64";
        assert_eq!(fix_lines(fix, 100, 2), format!("      {fix}\n"));
        let narrow =
            "      fix: boot a kernel; Debian:\n        sudo apt install linux-image-rt-amd64\n";
        assert_eq!(fix_lines(fix, 60, 2), narrow);
        let both =
            "fix: sudo mount -t debugfs debugfs /sys/kernel/debug && echo full | sudo tee /x";
        let lines = fix_lines(both, 60, 2);
        let wanted = "      fix:\n        sudo mount -t debugfs debugfs /sys/kernel/debug &&\n        echo full | sudo tee /x\n";
        assert_eq!(lines, wanted);
    }

    #[test]
    fn an_explanation_has_what_to_do_here_now_and_at_boot() {
        let fixture = concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/../../fixtures/machines/virtual-two-cpus"
        );
        let subject = LoopAtHand {
            period_ns: 4_000_000,
            latency_ns: None,
            cpus: [1].into_iter().collect(),
            priority: None,
            program: None,
        };
        let seen = Inspection::read(Root::at(fixture), subject, Duration::ZERO);
        let mut judged = Report::new(&seen).checks;
        let judged = judged.iter_mut().find(|judged| judged.id == "K1").unwrap();
        let check = crate::all().find(|check| check.id == "K1").unwrap();
        assert!(!explanation(check, Some(judged), 100).contains("do at boot"));
        judged.finding.at_boot = Some("sudo apt install linux-image-rt-amd64".into());
        let text = explanation(check, Some(judged), 100);
        let line = "do at boot sudo apt install linux-image-rt-amd64\n";
        assert!(text.ends_with(line), "{text}");
    }
}
