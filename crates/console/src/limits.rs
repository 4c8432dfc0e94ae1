//! Limits that the kernel enforces by ending a process, turned into errors that can be reported and
//! handled. It raises none of them.

use rustix::io::Errno;
use rustix::process::{Resource, getrlimit};
use signal_hook::consts::SIGXFSZ;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use wakepath_machine::Root;

/// Has a file that reaches the limit of its size (`ulimit -f`) end a write with an error, as a full
/// disk does, instead of ending the process silently. A handler and not "ignore": a program
/// that this process starts or becomes begins with the default.
pub fn report_instead_of_dying() {
    // If that fails, the limit acts as before.
    let _ = signal_hook::flag::register(SIGXFSZ, Arc::new(AtomicBool::new(false)));
}

/// The limit that a failure met and how it is raised, where its text has the system's number of one.
pub fn named(text: &str) -> Option<String> {
    let has = |error: Errno| text.contains(&format!("(os error {})", error.raw_os_error()));
    if has(Errno::MFILE) {
        let most = getrlimit(Resource::Nofile).current;
        let most = most.map_or(String::new(), |most| format!(" is {most}"));
        return Some(format!(
            "the limit of open files{most}: raise it (ulimit -n, or LimitNOFILE= of the service)"
        ));
    }
    has(Errno::AGAIN).then(|| match most_tasks() {
        Some((group, most)) => format!(
            "the control group {group} is limited to {most} processes and threads: raise its pids.max \
             (TasksMax= of the service)"
        ),
        None => {
            "the limit of processes and threads is reached: raise it (ulimit -u, pids.max of the \
                 control group)"
                .into()
        }
    })
}

/// The lowest limit of tasks of this process's control group and those above it.
fn most_tasks() -> Option<(String, u64)> {
    let root = Root::host();
    let groups = root.text("/proc/self/cgroup");
    let groups = groups.known()?.lines();
    let of_tasks = groups.filter_map(|line| {
        let (number, rest) = line.split_once(':')?;
        let (controllers, path) = rest.split_once(':')?;
        let is_pids = controllers.split(',').any(|of| of == "pids");
        (number == "0" || is_pids).then(|| (is_pids, path.to_owned()))
    });
    let mut found: Vec<(u64, String)> = Vec::new();
    for (is_pids, path) in of_tasks {
        let mount = if is_pids {
            "/sys/fs/cgroup/pids"
        } else {
            "/sys/fs/cgroup"
        };
        let mut group = path.as_str();
        loop {
            let read = root.number::<u64>(&format!("{mount}{group}/pids.max"));
            found.extend(read.known().map(|&most| (most, group.to_owned())));
            match group.rsplit_once('/') {
                Some((above, _)) => group = above,
                None => break,
            }
        }
    }
    let (most, group) = found.into_iter().min()?;
    let group = if group.is_empty() { "/".into() } else { group };
    Some((group, most))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_is_named_with_what_raises_it() {
        let of = |error: Errno| named(&std::io::Error::from(error).to_string());
        let files = of(Errno::MFILE).unwrap();
        assert!(
            files.contains("open files is ") && files.contains("ulimit -n"),
            "{files}"
        );
        assert!(of(Errno::AGAIN).unwrap().contains("pids.max"));
        assert_eq!(of(Errno::NOENT), None);
    }
}
