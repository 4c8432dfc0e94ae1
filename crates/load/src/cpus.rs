//! Which CPUs a load may use. It pins nothing but the calling thread.

use crate::LoadError;
use crate::ended::Ended;
use rustix::thread::CpuSet as Affinity;
use wakepath_timeline::CpuSet;

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
    let mut all = Affinity::new();
    for cpu in 0..Affinity::MAX_CPU {
        all.set(cpu);
    }
    rustix::thread::sched_setaffinity(None, &all)
}

/// CPUs on which the calling thread may run.
pub(crate) fn current() -> rustix::io::Result<Vec<u16>> {
    let set = rustix::thread::sched_getaffinity(None)?;
    Ok((0..Affinity::MAX_CPU)
        .filter(|&cpu| set.is_set(cpu))
        .filter_map(|cpu| u16::try_from(cpu).ok())
        .collect())
}

/// Pins the calling thread to `cpus` and checks that the kernel took all of them.
pub(crate) fn pin(cpus: &[u16]) -> Result<(), Ended> {
    let mut set = Affinity::new();
    for &cpu in cpus
        .iter()
        .filter(|&&cpu| usize::from(cpu) < Affinity::MAX_CPU)
    {
        set.set(usize::from(cpu));
    }
    rustix::thread::sched_setaffinity(None, &set).map_err(|error| Ended::NotPinned {
        wanted: CpuSet::from(cpus).to_string(),
        source: error.into(),
    })?;
    let got = current().map_err(Ended::system("cannot read the affinity"))?;
    if got == cpus {
        Ok(())
    } else {
        Err(Ended::OtherCpus {
            wanted: CpuSet::from(cpus).to_string(),
            allowed: CpuSet::from(&got[..]).to_string(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
