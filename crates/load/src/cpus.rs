//! Which CPUs a load may use, and their names as text. It pins nothing but the calling thread.

use crate::LoadError;
use rustix::thread::CpuSet;

/// CPUs that this process could use if it asked for all of them: those that are online and that
/// its cgroup allows, whatever the present affinity.
pub(crate) fn usable() -> Result<Vec<u16>, LoadError> {
    // Affinity belongs to a thread: a short-lived one can ask for everything and look at the answer.
    let asked = std::thread::Builder::new()
        .name("usable-cpus".into())
        .stack_size(64 * 1024)
        .spawn(|| {
            allow_all()?;
            current()
        })
        .map_err(|error| LoadError::system("start a thread", error))?;
    let answer = asked
        .join()
        .map_err(|_| LoadError::Supervisor("could not list CPUs".into()))?;
    answer.map_err(|error| LoadError::system("read the usable CPUs", error))
}

/// Lets the calling thread run on every CPU that its cgroup allows.
pub(crate) fn allow_all() -> rustix::io::Result<()> {
    let mut all = CpuSet::new();
    for cpu in 0..CpuSet::MAX_CPU {
        all.set(cpu);
    }
    rustix::thread::sched_setaffinity(None, &all)
}

/// CPUs on which the calling thread may run.
pub(crate) fn current() -> rustix::io::Result<Vec<u16>> {
    let set = rustix::thread::sched_getaffinity(None)?;
    Ok((0..CpuSet::MAX_CPU)
        .filter(|&cpu| set.is_set(cpu))
        .filter_map(|cpu| u16::try_from(cpu).ok())
        .collect())
}

/// Pins the calling thread to `cpus` and checks that the kernel took all of them.
pub(crate) fn pin(cpus: &[u16]) -> Result<(), String> {
    let mut set = CpuSet::new();
    for &cpu in cpus
        .iter()
        .filter(|&&cpu| usize::from(cpu) < CpuSet::MAX_CPU)
    {
        set.set(usize::from(cpu));
    }
    rustix::thread::sched_setaffinity(None, &set)
        .map_err(|error| format!("cannot run on CPUs {}: {error}", list(cpus)))?;
    let got = current().map_err(|error| format!("cannot read the affinity: {error}"))?;
    if got == cpus {
        Ok(())
    } else {
        Err(format!(
            "asked for CPUs {}, the kernel allows {}",
            list(cpus),
            list(&got)
        ))
    }
}

/// CPUs as the kernel writes them: "0-2,5".
pub(crate) fn list(cpus: &[u16]) -> String {
    let mut ranges: Vec<(u16, u16)> = Vec::new();
    for &cpu in cpus {
        match ranges.last_mut() {
            Some((_, last)) if last.checked_add(1) == Some(cpu) => *last = cpu,
            _ => ranges.push((cpu, cpu)),
        }
    }
    let texts: Vec<String> = ranges
        .iter()
        .map(|&(first, last)| {
            if first == last {
                first.to_string()
            } else {
                format!("{first}-{last}")
            }
        })
        .collect();
    texts.join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cpu_lists_read_as_the_kernel_writes_them() {
        assert_eq!(list(&[0, 1, 2, 5]), "0-2,5");
        assert_eq!(list(&[3]), "3");
        assert_eq!(list(&[]), "");
    }

    #[test]
    fn a_pinned_thread_still_learns_of_all_usable_cpus() {
        let all = usable().unwrap();
        let seen = std::thread::spawn(move || {
            pin(&all[..1]).unwrap();
            (all, usable().unwrap(), current().unwrap())
        });
        let (all, usable, current) = seen.join().unwrap();
        assert_eq!(usable, all);
        assert_eq!(current, all[..1]);
    }
}
