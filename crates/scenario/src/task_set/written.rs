//! A task set written as the file that reads back as it.

use super::{SetOverheads, TaskSet};
use crate::units::format_size;
use serde::Serialize;
use std::collections::BTreeMap;
use wakepath_schedulability::sched_deadline::KernelLimit;
use wakepath_schedulability::{Arrivals, Method, Server, Task};
use wakepath_timeline::duration::exact_ascii as toml_duration;

/// The file's form, for writing.
#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
struct WrittenSet<'a> {
    policy: String,
    cpus: u16,
    #[serde(skip_serializing_if = "Option::is_none")]
    cluster: Option<u16>,
    tasks: Vec<WrittenTask<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    chains: Vec<WrittenChain<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    reservations: Vec<WrittenReservation<'a>>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    admission: BTreeMap<&'static str, String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    overheads: Option<WrittenOverheads>,
}

#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
struct WrittenOverheads {
    #[serde(flatten)]
    costs: BTreeMap<&'static str, String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    cache_delays: Vec<BTreeMap<&'static str, String>>,
}

#[derive(Serialize)]
struct WrittenChain<'a> {
    name: &'a str,
    tasks: Vec<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    deadline: Option<String>,
}

#[derive(Serialize)]
struct WrittenReservation<'a> {
    name: &'a str,
    budget: String,
    period: String,
    server: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    priority: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cpu: Option<u16>,
}

#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
struct WrittenTask<'a> {
    name: &'a str,
    execution: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    period: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    distances: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    after: Option<&'a str>,
    deadline: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    offset: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    jitter: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    blocking: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    suspension: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    non_preemptive: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    working_set: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    priority: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cpu: Option<u16>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reservation: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    runtime: Option<String>,
}

impl<'a> WrittenTask<'a> {
    fn of(task: &'a Task) -> Self {
        let given = |ns: u64| (ns > 0).then(|| toml_duration(ns));
        let (period, distances) = match &task.arrivals {
            _ if task.after.is_some() => (None, None),
            Arrivals::Sporadic(period_ns) => (Some(toml_duration(*period_ns)), None),
            Arrivals::Distances(list) => (
                None,
                Some(list.iter().map(|ns| toml_duration(*ns)).collect()),
            ),
        };
        Self {
            name: &task.name,
            execution: toml_duration(task.execution_ns),
            period,
            distances,
            after: task.after.as_deref(),
            deadline: toml_duration(task.deadline_ns),
            offset: task.offset_ns.map(toml_duration),
            jitter: given(task.jitter_ns),
            blocking: given(task.blocking_ns),
            suspension: given(task.suspension_ns),
            non_preemptive: given(task.non_preemptive_ns),
            working_set: (task.working_set_bytes > 0).then(|| format_size(task.working_set_bytes)),
            priority: (task.priority > 0).then_some(task.priority),
            cpu: task.cpu,
            reservation: task.reservation.as_ref().map(|own| own.name.as_str()),
            runtime: task.runtime_ns.map(toml_duration),
        }
    }
}

impl TaskSet {
    /// The set as a file that [`TaskSet::parse`] reads back.
    pub fn to_toml(&self) -> String {
        let written = WrittenSet {
            policy: self.method.to_string(),
            cpus: self.cpus,
            cluster: match self.method {
                Method::ClusteredEdf(size) => Some(size),
                Method::Deadline(size) if size < self.cpus => Some(size),
                _ => None,
            },
            tasks: self.tasks.iter().map(WrittenTask::of).collect(),
            chains: self
                .chains
                .iter()
                .map(|chain| WrittenChain {
                    name: &chain.name,
                    tasks: chain
                        .tasks
                        .iter()
                        .map(|&place| self.tasks[place].name.as_str())
                        .collect(),
                    deadline: chain.deadline_ns.map(toml_duration),
                })
                .collect(),
            reservations: self.written_reservations(),
            admission: self.written_admission(),
            overheads: self.overheads.as_ref().map(SetOverheads::written),
        };
        let mut text = String::new();
        for note in &self.notes {
            text += &format!("# {}\n", wakepath_timeline::one_line(note));
        }
        // Text, numbers and lists: nothing of it can't be written.
        text + &toml::to_string(&written).unwrap_or_default()
    }

    fn written_reservations(&self) -> Vec<WrittenReservation<'_>> {
        let mut found: Vec<WrittenReservation<'_>> = Vec::new();
        for own in self
            .tasks
            .iter()
            .filter_map(|task| task.reservation.as_ref())
        {
            if found.iter().any(|known| known.name == own.name) {
                continue;
            }
            found.push(WrittenReservation {
                name: &own.name,
                budget: toml_duration(own.budget_ns),
                period: toml_duration(own.period_ns),
                server: match own.server {
                    Server::Periodic => "periodic",
                    Server::Sporadic => "sporadic",
                    Server::ConstantBandwidth => "constant-bandwidth",
                },
                priority: (own.priority > 0).then_some(own.priority),
                cpu: own.cpu,
            });
        }
        found
    }

    fn written_admission(&self) -> BTreeMap<&'static str, String> {
        let mut written = BTreeMap::new();
        if self.admission == KernelLimit::default() {
            return written;
        }
        let limit = &self.admission;
        let runtime_ns = limit.runtime_ns.unwrap_or(limit.period_ns);
        written.insert("runtime", toml_duration(runtime_ns));
        written.insert("period", toml_duration(limit.period_ns));
        if let Some((runtime_ns, period_ns)) = limit.server {
            written.insert("server-runtime", toml_duration(runtime_ns));
            written.insert("server-period", toml_duration(period_ns));
        }
        written
    }
}

impl SetOverheads {
    fn written(&self) -> WrittenOverheads {
        let costs = [
            ("event", self.event_ns),
            ("release", self.release_ns),
            ("scheduling", self.scheduling_ns),
            ("switch", self.switch_ns),
            ("ipi", self.ipi_ns),
            ("tick", self.tick_ns),
            ("tick-period", self.tick_period_ns),
            ("section", self.section_ns),
            ("cache-delay", self.cache_delay_ns),
        ];
        let costs = costs.into_iter();
        let delays = self.cache_delays.iter().map(|(bytes, ns)| {
            BTreeMap::from([
                ("working-set", format_size(*bytes)),
                ("delay", toml_duration(*ns)),
            ])
        });
        WrittenOverheads {
            costs: costs
                .filter_map(|(name, ns)| Some((name, toml_duration(ns?))))
                .collect(),
            cache_delays: delays.collect(),
        }
    }
}
