//! The clock of the loop's CPUs: who chooses it, and how far it may vary.

use crate::{Finding, Inspection, Magnitude};
use wakepath_machine::FrequencyPolicy;

/// The frequency policies of the loop's CPUs, or why there are none.
fn policies(seen: &Inspection) -> Result<Vec<&FrequencyPolicy>, Finding> {
    let all = &seen.facts.varying.frequency.policies;
    let path = "/sys/devices/system/cpu/cpufreq";
    if all.is_empty() {
        return Err(if seen.root.exists("/sys/devices/system/cpu") {
            Finding::does_not_apply("the kernel does not change the frequency here", path)
        } else {
            Finding::unknown("nothing under /sys/devices/system/cpu", path)
        });
    }
    let mut own = Vec::new();
    for policy in all {
        match policy.cpus.known() {
            None => return Err(Finding::unread(&policy.cpus)),
            Some(cpus) if seen.on_loop(cpus).is_empty() => {}
            Some(_) => own.push(policy),
        }
    }
    if own.is_empty() {
        Err(Finding::unknown("no policy covers the loop's CPU", path))
    } else {
        Ok(own)
    }
}

pub(super) fn governor(seen: &Inspection) -> Finding {
    let policies = match policies(seen) {
        Ok(policies) => policies,
        Err(finding) => return finding,
    };
    let mut steady = Finding::good("performance", policies[0].governor.path());
    for policy in policies {
        let fixed = matches!(
            (policy.minimum_khz.known(), policy.maximum_khz.known()),
            (Some(low), Some(high)) if low == high
        );
        match policy.governor.known() {
            None => return Finding::unread(&policy.governor),
            Some(name) if name == "performance" || fixed => {
                steady.found = if fixed {
                    format!("{name}, range of one frequency")
                } else {
                    name.clone()
                };
            }
            Some(name) => {
                let magnitude = match policy.transition_latency_ns.known() {
                    // The kernel writes UINT_MAX for "unknown" (include/linux/cpufreq.h).
                    Some(&ns) if ns > 0 && ns < u64::from(u32::MAX) => Magnitude::Delay { ns },
                    _ => Magnitude::NotKnown,
                };
                return Finding::bad(
                    format!("{name} on CPU {}", policy.cpus),
                    policy.governor.path(),
                )
                .costing(magnitude)
                .remedied_by(format!("echo performance > {}", policy.governor.path()));
            }
        }
    }
    steady
}

pub(super) fn range(seen: &Inspection) -> Finding {
    let policies = match policies(seen) {
        Ok(policies) => policies,
        Err(finding) => return finding,
    };
    let mut wide = Vec::new();
    for policy in &policies {
        match (policy.minimum_khz.known(), policy.maximum_khz.known()) {
            (Some(low), Some(high)) if low < high => {
                wide.push(format!(
                    "CPU {}: {} to {} MHz",
                    policy.cpus,
                    low / 1000,
                    high / 1000
                ));
            }
            (Some(_), Some(_)) => {}
            (None, _) => return Finding::unread(&policy.minimum_khz),
            (_, None) => return Finding::unread(&policy.maximum_khz),
        }
        if let Some(preference) = policy.energy_preference.known()
            && preference != "performance"
        {
            wide.push(format!("energy preference {preference}"));
        }
    }
    let path = policies[0].minimum_khz.path();
    if wide.is_empty() {
        Finding::good("one frequency", path)
    } else {
        Finding::bad(wide.join("; "), path)
    }
}
