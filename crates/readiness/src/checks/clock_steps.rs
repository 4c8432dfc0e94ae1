//! Whether a time service may step the wall clock while the loop runs, as its files show.

use crate::{Check, Confidence, Finding, Group, Inspection, Process, Severity};

pub const CHECKS: &[Check] = &[Check {
    id: "C3",
    group: Group::Time,
    title: "steps of the wall clock",
    reads: "the processes: chronyd, ntpd, systemd-timesyncd; makestep in chrony.conf, ntpd's -x",
    why: "A step shifts the due times of loops that sleep on CLOCK_REALTIME: no cycles for seconds, or a burst of \
          cycles. CLOCK_MONOTONIC is never stepped.",
    now: "CLOCK_MONOTONIC in the loop; chrony: makestep 1.0 3; ntpd: -x; systemd-timesyncd: timedatectl set-ntp \
          false during operation",
    boot: "",
    weight: Severity::Minor,
    confidence: Confidence::WellKnown,
    judge: steps,
}];

/// chrony's files, as Debian and Fedora have them.
const CHRONY: [&str; 2] = ["/etc/chrony/chrony.conf", "/etc/chrony.conf"];
const CHRONY_FOLDERS: [&str; 2] = ["/etc/chrony/conf.d", "/etc/chrony.d"];

fn steps(seen: &Inspection) -> Finding {
    let path = "/proc/*/stat";
    if seen.processes.all.is_empty() {
        return Finding::unknown("no process is readable", path);
    }
    let running = |name: &'static str| seen.processes.running(&[name]).next().cloned();
    if running("chronyd").is_some() {
        return chrony(seen);
    }
    if let Some(process) = running("ntpd") {
        return ntpd(seen, &process);
    }
    match running("systemd-timesyncd") {
        Some(process) => Finding::bad(
            format!(
                "{} ({}) steps the clock if it is off by more than 0.4 s",
                process.name, process.pid
            ),
            path,
        )
        .remedied_by("timedatectl set-ntp false during operation, or chrony in its place"),
        None => Finding::good("no known time service runs", path),
    }
}

/// chrony steps if configured by `makestep THRESHOLD LIMIT`, for the first LIMIT updates; always if
/// LIMIT is negative (chrony.conf(5)).
fn chrony(seen: &Inspection) -> Finding {
    let in_folders = CHRONY_FOLDERS.iter().flat_map(|folder| {
        let names = seen.root.names(folder);
        let names = names.known().cloned().unwrap_or_default();
        names
            .into_iter()
            .map(move |name| format!("{folder}/{name}"))
    });
    let files = CHRONY
        .iter()
        .map(|file| (*file).to_owned())
        .chain(in_folders);
    let mut last = None;
    let mut any = false;
    for file in files {
        let text = seen.root.text(&file);
        if !text.is_absent() && text.known().is_none() {
            return Finding::unread(&text);
        }
        let Some(text) = text.known() else { continue };
        any = true;
        for line in text.lines() {
            let mut words = line.split_whitespace();
            if words
                .next()
                .is_some_and(|word| word.eq_ignore_ascii_case("makestep"))
            {
                let limit = words.nth(1).and_then(|limit| limit.parse::<i64>().ok());
                last = Some((limit, line.trim().to_owned(), file.clone()));
            }
        }
    }
    match last {
        Some((Some(limit), line, file)) if limit < 0 => Finding::bad(
            format!("chronyd can step the clock at any time: {line}"),
            &file,
        )
        .remedied_by(format!(
            "makestep 1.0 3 in {file}, then systemctl restart chronyd"
        )),
        Some((Some(_), line, file)) => Finding::good(
            format!("chronyd steps the clock only after its start: {line}"),
            file,
        ),
        Some((None, line, file)) => Finding::unknown(format!("not understood: {line}"), file),
        None if any => Finding::good("chronyd has no makestep", CHRONY[0]),
        None => Finding::unknown("chronyd runs, and its chrony.conf was not found", CHRONY[0]),
    }
}

/// ntpd steps offsets of more than 128 ms, with -x of more than 600 s (ntpd(8)).
fn ntpd(seen: &Inspection, process: &Process) -> Finding {
    let path = format!("/proc/{}/cmdline", process.pid);
    let read = seen.root.bytes(&path);
    let Some(bytes) = read.known() else {
        return Finding::unread(&read);
    };
    let mut words = bytes.split(|byte| *byte == 0).skip(1);
    let slews = words.any(|word| match word {
        b"--slew" => true,
        // Letters of options without a value: what follows another one may hold an x too.
        [b'-', letters @ ..] => {
            letters.contains(&b'x') && letters.iter().all(|c| b"46aAbdgGmMnNqx".contains(c))
        }
        _ => false,
    });
    if slews {
        Finding::good("ntpd runs with -x", path)
    } else {
        Finding::bad(
            "ntpd steps the clock if it is off by more than 128 ms",
            path,
        )
        .remedied_by("ntpd -x: in /etc/default/ntpsec or /etc/sysconfig/ntpd")
    }
}
