//! `cpu` and `cpus`: where a thread or a load runs.

use super::form::Cpus;
use super::visitor::Keys;
use wakepath_timeline::CpuSet;

/// The two keys, each with what holds without it and its meaning; nothing given is left open.
pub(crate) fn declare(
    keys: &mut Keys<'_>,
    one: (&'static str, &'static str),
    several: (&'static str, &'static str),
    cpus: &mut Option<CpuSet>,
) {
    let known = keys.context.known;
    let form = |is_one| Cpus { known, is_one };
    let mut cpu = None;
    keys.optional("cpu", form(true), one.0, one.1, &mut cpu);
    keys.optional("cpus", form(false), several.0, several.1, cpus);
    keys.not_both(&[("cpu", "cpus")]);
    if keys.given("cpu").is_some() && keys.given("cpus").is_some() {
        let problem = "conflicts with cpu: both set where to run";
        keys.refuse_key("cpus", problem, "give one of the two");
    }
    if cpu.is_some() {
        *cpus = cpu;
    }
}
