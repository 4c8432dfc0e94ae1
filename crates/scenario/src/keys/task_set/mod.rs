//! A set of tasks that is analysed, not measured: `wakepath schedulability`.

mod costs;
mod linked;
mod structure;
mod task;

use structure::{NamedChain, admission, chain, reservation, reservation_blank};
use task::SetTask;

use super::document::with_root;
use super::form::{Text, whole};
use super::shape::Shape;
use super::visitor::{self, Context, Keys, read, written_in_short};
use crate::error::Findings;
use crate::task_set::{Executions, MeasuredExecution, TaskSet, ToldExecution};
use crate::units::Complaint;
use task::Terms;
use wakepath_schedulability::sched_deadline::KernelLimit;
use wakepath_schedulability::{Chain, Method, Reservation};

/// The most tasks of a set.
const MOST_TASKS: usize = 256;
const REMEDY: &str = "give [[tasks]], each with name, execution and period";
const METHODS: &[&str] = &["P-FP", "G-FP", "P-EDF", "G-EDF", "C-EDF", "SCHED_DEADLINE"];

/// A set as its file has it.
struct SetFile {
    method: Option<Method>,
    cpus: u16,
    tasks: Vec<SetTask>,
    chains: Vec<NamedChain>,
    reservations: Vec<Reservation>,
    set: TaskSet,
}

/// The set of a file.
pub(crate) fn task_set_file(
    text: &str,
    assigned: bool,
    executions: &Executions<'_>,
    findings: &mut Findings,
) -> Option<TaskSet> {
    with_root(text, findings, |root, findings| {
        let context = Context::default();
        let file = read(root, context, findings, blank(), |keys, file| {
            declare(keys, file, assigned, executions);
        });
        file.map(|file| file.set)
    })
}

/// The set as a table that reads back as it.
pub(crate) fn task_set_table(set: &TaskSet) -> toml::Table {
    let mut reservations: Vec<Reservation> = Vec::new();
    for own in set.tasks.iter().filter_map(|task| task.reservation.clone()) {
        if reservations.iter().all(|known| known.name != own.name) {
            reservations.push(own);
        }
    }
    let name = |place: &usize| set.tasks[*place].name.clone();
    let chain = |chain: &Chain| NamedChain {
        name: chain.name.clone(),
        tasks: chain.tasks.iter().map(name).collect(),
        deadline_ns: chain.deadline_ns,
    };
    let mut file = SetFile {
        method: Some(set.method),
        cpus: set.cpus,
        tasks: set.tasks.iter().cloned().map(SetTask::from).collect(),
        chains: set.chains.iter().map(chain).collect(),
        reservations,
        set: set.clone(),
    };
    written_in_short(&mut file, |keys, file| {
        declare(keys, file, false, &nothing_read);
    })
}

/// As data, for the reference page.
pub(crate) fn described() -> super::shape::Table {
    visitor::described(blank(), |keys, file| {
        declare(keys, file, false, &nothing_read);
    })
}

fn nothing_read(_: &MeasuredExecution) -> Result<ToldExecution, Box<dyn std::error::Error>> {
    Err("nothing is read".into())
}

fn blank() -> SetFile {
    SetFile {
        method: None,
        cpus: 1,
        tasks: Vec::new(),
        chains: Vec::new(),
        reservations: Vec::new(),
        set: TaskSet {
            method: Method::PartitionedFixedPriority,
            cpus: 1,
            tasks: Vec::new(),
            chains: Vec::new(),
            admission: KernelLimit::default(),
            overheads: None,
            notes: Vec::new(),
        },
    }
}

fn declare(keys: &mut Keys<'_>, file: &mut SetFile, assigned: bool, executions: &Executions<'_>) {
    keys.title(
        "a task set",
        "A set of tasks for `wakepath schedulability`: their execution times, periods and scheduling.",
    );
    method(keys, file);
    let (method, cpus) = (file.method, file.cpus);
    keys.tables(
        "reservations",
        (Ok("none"), "CPU time reserved for tasks that name it."),
        &mut file.reservations,
        (
            (1, MOST_TASKS),
            "give [[reservations]], each with name, budget and period",
        ),
        reservation_blank,
        |keys, own, earlier| {
            reservation(keys, own, earlier, method, cpus);
        },
    );
    keys.table(
        "admission",
        (
            "Linux's own: 950 ms of each second, no server",
            "The kernel's limits for SCHED_DEADLINE; `--machine RUN` reads it from a recorded run.",
        ),
        &mut file.set.admission,
        "such as { runtime = \"950 ms\" }",
        admission,
    );
    costs::key(keys, &mut file.set.overheads);
    let terms = Terms {
        // Without reservations that are right, nothing can be held against them.
        method: method.filter(|_| keys.complete()),
        cpus,
        assigned,
        reservations: &file.reservations,
        executions,
    };
    let before = keys.failures();
    keys.tables(
        "tasks",
        (Err(REMEDY), "The tasks."),
        &mut file.tasks,
        ((1, MOST_TASKS), REMEDY),
        SetTask::blank,
        |keys, task, earlier| task::declare(keys, task, earlier, &terms),
    );
    if let Some((root, findings)) = keys.reading()
        && let Some(node) = root.get("tasks")
        && let Ok(items) = node.items(MOST_TASKS, REMEDY)
        && items.len() == file.tasks.len()
        && !linked::link(&items, &mut file.tasks, findings)
    {
        keys.fail();
    }
    let names: Vec<&str> = file
        .tasks
        .iter()
        .map(|own| own.task.name.as_str())
        .collect();
    let linked = keys.failures() == before;
    keys.tables(
        "chains",
        (
            Ok("none"),
            "Tasks that pass a value on, for an end-to-end bound.",
        ),
        &mut file.chains,
        ((1, MOST_TASKS), "give [[chains]], each with name and tasks"),
        NamedChain::default,
        |keys, own, _| chain(keys, own, linked.then_some(names.as_slice())),
    );
    if let (true, Some(method)) = (keys.complete(), file.method) {
        let place = |name: &String| names.iter().position(|known| known == name);
        let chain = |chain: &NamedChain| Chain {
            name: chain.name.clone(),
            tasks: chain.tasks.iter().filter_map(place).collect(),
            deadline_ns: chain.deadline_ns,
        };
        file.set.chains = file.chains.iter().map(chain).collect();
        file.set.method = method;
        file.set.cpus = file.cpus;
        file.set.notes = file
            .tasks
            .iter()
            .filter_map(|own| own.note.clone())
            .collect();
        file.set.tasks = file.tasks.iter().map(|own| own.task.clone()).collect();
    }
}

/// `policy`, `cpus` and `cluster`.
fn method(keys: &mut Keys<'_>, file: &mut SetFile) {
    let mut name = file
        .method
        .map(|method| method.to_string())
        .unwrap_or_default();
    keys.required(
        "policy",
        METHOD,
        "Fixed priorities (SCHED_FIFO) or earliest deadline first, with tasks pinned to CPUs (P), \
         free to move (G), or free within clusters (C); or SCHED_DEADLINE, with the kernel's admission test and the \
         proof.",
        &mut name,
    );
    keys.or(
        "cpus",
        whole(1, 1024),
        1,
        "Number of CPUs for the tasks.",
        &mut file.cpus,
    );
    let mut cluster = match file.method {
        Some(Method::ClusteredEdf(size)) => Some(size),
        Some(Method::Deadline(size)) if size < file.cpus => Some(size),
        _ => None,
    };
    keys.optional(
        "cluster",
        whole(1, 1024),
        "2; with SCHED_DEADLINE all CPUs",
        "CPUs of a cluster with C-EDF, of a root domain with SCHED_DEADLINE: 1 for partitions made \
         with cpusets.",
        &mut cluster,
    );
    let Ok(named) = name.parse::<Method>() else {
        return;
    };
    file.method = Some(match (named, cluster) {
        (Method::ClusteredEdf(_), Some(size)) => Method::ClusteredEdf(size),
        (Method::Deadline(_), Some(size)) => Method::Deadline(size),
        (method, Some(_)) => {
            let problem = format!("conflicts with {method}, which has no clusters");
            let remedy = "leave it out, or give policy = \"C-EDF\" or \"SCHED_DEADLINE\"";
            keys.refuse_value("cluster", problem, remedy);
            method
        }
        (method, None) => method,
    });
}

const METHOD: Text = Text {
    shape: || Shape::Choice(METHODS.to_vec()),
    remedy: "give P-FP, G-FP, P-EDF, G-EDF, C-EDF or SCHED_DEADLINE",
    parse: |name| {
        let problem = "is not a policy that can be analysed";
        let is_one = METHODS.contains(&name).then(|| name.to_owned());
        is_one.ok_or_else(|| Complaint::new(problem, format!("give {}", Method::NAMES)))
    },
};
