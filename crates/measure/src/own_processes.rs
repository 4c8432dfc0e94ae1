//! Wakepath's own processes and their threads while a segment is traced, from /proc: this one, and
//! those of its descendants that run its program or the one with an EtherCAT master. Identified by number and start time.

use rustix::param::clock_ticks_per_second;
use rustix::time::{ClockId, clock_gettime};
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use wakepath_archive::{OwnProcess, OwnProcessThread, OwnRole};
use wakepath_rt::clock;
use wakepath_timeline::ProcessStat;

/// Those that were seen.
#[derive(Debug, Default)]
pub(crate) struct OwnProcesses {
    /// By number and start.
    seen: BTreeMap<(u32, u64), OwnProcess>,
    /// Files of this program and of the one with an EtherCAT master, once looked for.
    programs: Option<Vec<DeviceAndInode>>,
}

impl OwnProcesses {
    /// Looks at them once more.
    pub(crate) fn look(&mut self) {
        let own = std::process::id();
        let all = stats("/proc");
        let mut family = vec![own];
        let mut index = 0;
        while let Some(&parent) = family.get(index) {
            family.extend(
                all.iter()
                    .filter(|of| of.parent == parent)
                    .map(|of| of.number),
            );
            index += 1;
        }
        let programs = self.programs.get_or_insert_with(|| {
            let of_master = wakepath_ethercat::program().ok();
            let of_master = of_master.and_then(|path| file_of(&path));
            [program_of(own), of_master].into_iter().flatten().collect()
        });
        let now_ns = clock::monotonic_ns();
        let boot = BootClock::now(now_ns);
        let mut alive = Vec::new();
        for of in all.iter().filter(|of| family.contains(&of.number)) {
            let direct = of.parent == own;
            let role = match of.number == own {
                true => Some(OwnRole::Measuring),
                // A controller's host is another program; who is started here directly is ours.
                false
                    if direct || program_of(of.number).is_some_and(|of| programs.contains(&of)) =>
                {
                    role_of(of.number)
                }
                false => None,
            };
            let Some(role) = role else { continue };
            alive.push((of.number, of.start_ticks));
            let process = self
                .seen
                .entry((of.number, of.start_ticks))
                .or_insert_with(|| OwnProcess {
                    role,
                    process: of.number,
                    start_ticks: of.start_ticks,
                    threads: Vec::new(),
                });
            // A forked process takes its own role a moment later.
            process.role = role;
            add_threads(process, &boot, now_ns);
        }
        for (key, gone) in &mut self.seen {
            if !alive.contains(key) {
                for thread in &mut gone.threads {
                    thread.to_ns.get_or_insert(now_ns);
                }
            }
        }
    }

    /// All that were seen.
    pub(crate) fn all(&self) -> Vec<OwnProcess> {
        self.seen.values().cloned().collect()
    }
}

fn add_threads(process: &mut OwnProcess, boot: &BootClock, now_ns: u64) {
    let found = stats(&format!("/proc/{}/task", process.process));
    let mut alive = Vec::new();
    for of in found {
        let from_ns = boot.monotonic_ns(of.start_ticks);
        alive.push(of.number);
        let known = process
            .threads
            .iter()
            .any(|thread| thread.thread == of.number && thread.to_ns.is_none());
        if !known {
            process.threads.push(OwnProcessThread {
                thread: of.number,
                from_ns,
                to_ns: None,
            });
        }
    }
    for thread in &mut process.threads {
        if !alive.contains(&thread.thread) {
            thread.to_ns.get_or_insert(now_ns);
        }
    }
}

/// How far ticks since boot are from `CLOCK_MONOTONIC`, which stands still while the machine sleeps.
struct BootClock {
    ahead_ns: u64,
    tick_ns: u64,
}

impl BootClock {
    fn now(monotonic_ns: u64) -> Self {
        let boot = clock_gettime(ClockId::Boottime);
        let boot_ns = boot.tv_sec as u64 * 1_000_000_000 + boot.tv_nsec as u64;
        Self {
            ahead_ns: boot_ns.saturating_sub(monotonic_ns),
            tick_ns: 1_000_000_000 / clock_ticks_per_second().max(1),
        }
    }

    fn monotonic_ns(&self, ticks: u64) -> u64 {
        (ticks * self.tick_ns).saturating_sub(self.ahead_ns)
    }
}

/// A process or thread, from its `stat`.
struct Stat {
    number: u32,
    parent: u32,
    start_ticks: u64,
}

/// All processes or threads in a directory; those that end during the reading are left out.
fn stats(directory: &str) -> Vec<Stat> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    let numbers = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    numbers
        .filter_map(|number: u32| {
            let stat = fs::read(format!("{directory}/{number}/stat")).ok()?;
            let stat = ProcessStat::parse(&stat)?;
            Some(Stat {
                number,
                parent: stat.number(4)?,
                start_ticks: stat.number(22)?,
            })
        })
        .collect()
}

/// The file that a process runs.
fn program_of(process: u32) -> Option<DeviceAndInode> {
    file_of(Path::new(&format!("/proc/{process}/exe")))
}

fn file_of(path: &Path) -> Option<DeviceAndInode> {
    let file = fs::metadata(path).ok()?;
    Some((file.dev(), file.ino()))
}

type DeviceAndInode = (u64, u64);

/// By the hidden verb that it was started with.
fn role_of(process: u32) -> Option<OwnRole> {
    let words = fs::read(format!("/proc/{process}/cmdline")).ok()?;
    let mut words = words.split(|&byte| byte == 0).skip(1);
    if words.next()? != b"internal" {
        return None;
    }
    Some(match words.next()? {
        b"recorder" => OwnRole::Recorder,
        b"probe" => OwnRole::Probe,
        b"loop" => OwnRole::Loop,
        b"load-supervisor" => OwnRole::LoadSupervisor,
        // A ring acts for devices: its effect on the loop is intended.
        b"load-worker" | b"ethercat-ring" => OwnRole::LoadWorker,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_process_is_known_with_a_thread_that_comes_and_goes() {
        let mut own = OwnProcesses::default();
        let before_ns = clock::monotonic_ns();
        let (end, ended) = std::sync::mpsc::channel::<()>();
        let thread = std::thread::spawn(move || {
            let id = rustix::thread::gettid().as_raw_nonzero().get() as u32;
            let _ = ended.recv();
            id
        });
        own.look();
        end.send(()).unwrap();
        let id = thread.join().unwrap();
        // The kernel takes it out of /proc a moment after it is joined.
        let task = format!("/proc/self/task/{id}");
        while std::path::Path::new(&task).exists() {
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
        own.look();
        let all = own.all();
        let this = all
            .iter()
            .find(|of| of.process == std::process::id())
            .unwrap();
        assert_eq!(this.role, OwnRole::Measuring);
        let seen = this.threads.iter().find(|of| of.thread == id).unwrap();
        // Ticks are 10 ms as a rule.
        assert!(seen.from_ns + 100_000_000 > before_ns, "{seen:?}");
        assert!(
            seen.to_ns.is_some_and(|to_ns| to_ns > before_ns),
            "{seen:?}"
        );
        let main = this.threads.iter().find(|of| of.thread == this.process);
        assert_eq!(main.unwrap().to_ns, None);
    }
}
