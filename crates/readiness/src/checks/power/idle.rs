//! How deep the loop's CPUs may sleep, and who bounds it.

use crate::{Finding, Inspection, Magnitude};
use wakepath_machine::{Misread, NO_LATENCY_REQUEST_US, Reading};

/// The per-CPU bound in µs: none for no bound. `n/a` is a bound of 0.
fn bound_us(seen: &Inspection, cpu: u16) -> Reading<Option<u64>> {
    let path = format!("/sys/devices/system/cpu/cpu{cpu}/power/pm_qos_resume_latency_us");
    seen.root.parsed(&path, |text| match text.trim() {
        "0" => Ok(None),
        "n/a" => Ok(Some(0)),
        number => number
            .parse()
            .map(Some)
            .map_err(|_| Misread::NotOfForm("a number of µs or n/a")),
    })
}

pub(super) fn idle_states(seen: &Inspection) -> Finding {
    let idle = &seen.facts.varying.idle;
    let path = "/sys/devices/system/cpu/cpu*/cpuidle";
    match &idle.groups {
        Reading::Known { .. } => {}
        Reading::Absent { .. }
            if seen.subject.cpus.numbers().iter().any(|cpu| {
                let first = format!("/sys/devices/system/cpu/cpu{cpu}/cpuidle/state0");
                seen.root.exists(&first)
            }) =>
        {
            return Finding::unknown("idle states exist, but can't be parsed", path);
        }
        Reading::Absent { .. } if seen.root.exists("/sys/devices/system/cpu") => {
            let driver = idle.driver.known().map_or("none", String::as_str);
            return Finding::does_not_apply(
                format!("the kernel has no idle states here (driver: {driver})"),
                path,
            );
        }
        other => return Finding::unread(other),
    }
    let mut worst: Option<(u64, String, u16)> = None;
    for &cpu in seen.subject.cpus.numbers() {
        let Some(states) = idle.states_of(cpu) else {
            return Finding::unknown(format!("CPU {cpu} has no idle states"), path);
        };
        let bound = bound_us(seen, cpu).known().copied().flatten();
        for state in states {
            let entered = !state.disabled && bound.is_none_or(|bound| state.latency_us <= bound);
            if entered
                && worst
                    .as_ref()
                    .is_none_or(|(most, ..)| state.latency_us > *most)
            {
                worst = Some((state.latency_us, state.name.clone(), cpu));
            }
        }
    }
    let Some((latency_us, name, cpu)) = worst else {
        return Finding::good("every state is disabled or out of bounds", path);
    };
    let found = format!("deepest that CPU {cpu} may enter: {name}, {latency_us} µs");
    let magnitude = Magnitude::delay_us(latency_us);
    if latency_us.saturating_mul(1_000) > seen.subject.noticeable_ns() {
        Finding::bad(found, path)
            .costing(magnitude)
            .remedied_by(format!(
                "echo {} > /sys/devices/system/cpu/cpu{cpu}/power/pm_qos_resume_latency_us",
                (seen.subject.noticeable_ns() / 1_000).max(1)
            ))
    } else {
        Finding::good(found, path).costing(magnitude)
    }
}

pub(super) fn latency_bound(seen: &Inspection) -> Finding {
    let has_states = seen.facts.varying.idle.groups.known().is_some();
    let mut bounds = Vec::new();
    for &cpu in seen.subject.cpus.numbers() {
        let bound = bound_us(seen, cpu);
        match bound.known() {
            None => return Finding::unread(&bound),
            // No bound, although there are idle states to bound.
            Some(None) if has_states => {
                return Finding::bad(format!("0 on CPU {cpu}: no bound"), bound.path());
            }
            Some(None) => bounds.push("0: no bound, and no idle state to bound".to_owned()),
            Some(Some(0)) => bounds.push("n/a: no latency allowed".to_owned()),
            Some(Some(us)) if us * 1_000 > seen.subject.noticeable_ns() => {
                return Finding::bad(format!("{us} µs on CPU {cpu}"), bound.path())
                    .costing(Magnitude::delay_us(*us));
            }
            Some(Some(us)) => bounds.push(format!("{us} µs")),
        }
    }
    Finding::good(
        bounds.join(", "),
        "/sys/devices/system/cpu/cpu*/power/pm_qos_resume_latency_us",
    )
}

pub(super) fn request_holder(seen: &Inspection) -> Finding {
    let request = &seen.facts.varying.latency_request;
    let Some(&bound) = request.bound_us.known() else {
        return Finding::unread(&request.bound_us);
    };
    let path = request.bound_us.path();
    if bound >= NO_LATENCY_REQUEST_US {
        return Finding::good("no bound requested", path);
    }
    let holders = request.holders.known();
    let who: Vec<String> = holders
        .into_iter()
        .flat_map(|holders| &holders.processes)
        .map(|(pid, name)| format!("{name} ({pid})"))
        .collect();
    let who = if who.is_empty() {
        "a process that this user can't see".to_owned()
    } else {
        who.join(", ")
    };
    // Held by the program itself it is the mission's own, and hides nothing.
    let own = seen.subject.program.as_ref().and_then(|own| own.pid);
    let of_mission = holders.is_some_and(|holders| {
        own.is_some_and(|own| holders.processes.iter().any(|(pid, _)| *pid == own))
    });
    Finding::judged(of_mission, format!("{bound} µs, held by {who}"), path)
}
