//! CPUs that a load can use.
//!
//! It pins only the calling thread.

use crate::LoadError;
use crate::ended::Ended;
use wakepath_rt::affinity;
use wakepath_timeline::CpuSet;

/// CPUs that this process could use if it requested all of them: those that are online and allowed
/// by its cgroup, whatever the present affinity.
pub(crate) fn usable() -> Result<Vec<u16>, LoadError> {
    // Affinity belongs to a thread: a short-lived one can ask for everything and look at the answer.
    let asked = std::thread::Builder::new()
        .name("usable-cpus".into())
        .stack_size(64 * 1024)
        .spawn(|| {
            affinity::widen()?;
            affinity::current()
        })
        .map_err(|error| LoadError::system("start a thread", error))?;
    let answer = asked
        .join()
        .map_err(|_| LoadError::Supervisor("could not list CPUs".into()))?;
    answer.map_err(|error| LoadError::system("read the usable CPUs", error))
}

/// Pins the calling thread to `cpus` and checks that the kernel took all of them.
pub(crate) fn pin(cpus: &[u16]) -> Result<(), Ended> {
    affinity::pin(cpus).map_err(|source| Ended::NotPinned {
        wanted: CpuSet::from(cpus).to_string(),
        source,
    })?;
    let got = affinity::current().map_err(Ended::system("cannot read the affinity"))?;
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
            (all, usable().unwrap(), affinity::current().unwrap())
        });
        let (all, usable, current) = seen.join().unwrap();
        assert_eq!(usable, all);
        assert_eq!(current, all[..1]);
    }
}
