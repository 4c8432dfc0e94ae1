//! `cpu` and `cpus`: where a thread or a load runs.

use super::form::Cpus;
use super::visitor::Keys;
use wakepath_timeline::CpuSet;

/// The two keys; nothing given is left open.
pub(crate) fn declare(keys: &mut Keys<'_>, without: &'static str, cpus: &mut Option<CpuSet>) {
    let known = keys.context.known;
    let form = |is_one| Cpus { known, is_one };
    let mut cpu = None;
    let about = "CPU to run on.";
    keys.optional("cpu", form(true), without, about, &mut cpu);
    let about = "CPUs to run on, such as \"1\", \"2-3\" or \"0,2-3\". Not with `cpu`.";
    keys.optional("cpus", form(false), without, about, cpus);
    keys.not_both(&[("cpu", "cpus")]);
    if keys.given("cpu").is_some() && keys.given("cpus").is_some() {
        let problem = "conflicts with cpu: both select CPUs";
        keys.refuse_key("cpus", problem, "give one of the two");
    }
    if cpu.is_some() {
        *cpus = cpu;
    }
}
