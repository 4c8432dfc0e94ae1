//! The calling thread on LITMUS^RT.
//!
//! Sets its parameters and policy, and waits for its jobs. Only the core's scheduler runs it then;
//! for everything else it uses Linux as before. Only threads prepared by [`crate::Preparation`] are
//! on it.

mod abi;
mod calls;
mod watchdog;

use crate::affinity;
use abi::{Request, Task, Way};
use calls::Page;
use std::cell::RefCell;
use std::fs::File;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use wakepath_timeline::{Enforcement, JobRelease, LitmusPlugin, LitmusTask, Policy};

pub(crate) use watchdog::{spins, watch};

/// Why a thread can't run on LITMUS^RT.
#[derive(Debug, thiserror::Error)]
pub enum LitmusError {
    /// The kernel has no such core.
    #[error(
        "this kernel has no LITMUS^RT: there is no {}; boot one that was built from LITMUS^RT's sources",
        abi::ACTIVE_PLUGIN
    )]
    NotThere,
    /// This user has no right to it.
    #[error(
        "{path} can't be opened: {0}; run as root, or give your user access to it",
        path = abi::CONTROL
    )]
    Device(#[source] io::Error),
    /// It answers neither known kind of request.
    #[error(
        "this LITMUS^RT is asked in no way that this wakepath knows: it knows requests to {} (2016.1 and \
         later) and the system calls of x86-64 before",
        abi::CONTROL
    )]
    UnknownInterface,
    /// Another plugin schedules.
    #[error(
        "LITMUS^RT's active plugin is {active}: echo {wanted} > {path} as root, or let a scenario do it with \
         litmus-plugin = \"switch\"",
        path = abi::ACTIVE_PLUGIN
    )]
    OtherPlugin {
        /// The one that is active.
        active: String,
        /// The one that the policy is of.
        wanted: LitmusPlugin,
    },
    /// The policy needs the loop's period.
    #[error("the policy has no period: give one (`Policy::of_a_loop`)")]
    NoPeriod,
    /// A plugin that keeps its tasks on one CPU, and a thread that has several.
    #[error(
        "{plugin} keeps a task on one CPU, and the thread may run on {cpus}; pin it to one, or name its partition"
    )]
    NoPartition {
        /// The plugin.
        plugin: LitmusPlugin,
        /// The thread's CPUs, in words.
        cpus: String,
    },
    /// The CPU releases jobs and runs none.
    #[error(
        "CPU {0} is LITMUS^RT's release master and runs no tasks; give another CPU, or echo NO_CPU > {path} and set \
         the plugin again",
        path = abi::RELEASE_MASTER
    )]
    ReleaseMaster(u16),
    /// The core has not admitted the task.
    #[error(
        "LITMUS^RT's {plugin} does not admit the task on CPU {cpu} ({source}); it asks for a CPU that it schedules and \
         0 < budget ≤ deadline, period"
    )]
    NotAdmitted {
        /// The plugin.
        plugin: LitmusPlugin,
        /// The CPU.
        cpu: u16,
        /// The kernel's error.
        source: io::Error,
    },
    /// The parameters read back differ from those set: another layout.
    #[error(
        "LITMUS^RT reads back other parameters than were set: this version's interface is unknown"
    )]
    OtherLayout,
    /// A step of entering it failed.
    #[error("LITMUS^RT refuses to {step}: {source}")]
    Refused {
        /// The request.
        step: &'static str,
        /// Its error.
        source: io::Error,
    },
}

/// A task of the core.
#[derive(Debug)]
pub(crate) struct OnLitmus {
    way: Way,
    control: File,
    page: Page,
    release: JobRelease,
    plugin: LitmusPlugin,
    period_ns: u64,
    /// How often the thread has waited, for its watchdog.
    waits: AtomicU32,
}

/// The calling thread's place. A thread that ends leaves the core first.
struct Place(Option<Arc<OnLitmus>>);

impl Place {
    fn clear(&mut self) {
        if self.0.take().is_some() {
            watchdog::end();
            // If the kernel refuses, the thread's end removes it.
            let _ = calls::set_policy(libc::SCHED_OTHER);
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.clear();
    }
}

thread_local! {
    static HERE: RefCell<Place> = const { RefCell::new(Place(None)) };
}

/// The calling thread's place on the core, if it is there.
pub(crate) fn of_this_thread() -> Option<Arc<OnLitmus>> {
    HERE.with_borrow(|place| place.0.clone())
}

/// Takes the calling thread off the core, if it is there.
pub(crate) fn leave() {
    HERE.with_borrow_mut(Place::clear);
}

/// Puts the calling thread on the core, and reads back the policy in effect.
///
/// # Errors
/// The missing prerequisite, or the request that the core refused. The thread is then as before.
pub(crate) fn enter(policy: Policy) -> Result<Policy, LitmusError> {
    leave();
    let (plugin, asked) = policy.of_litmus().ok_or(LitmusError::NotThere)?;
    let active = std::fs::read_to_string(abi::ACTIVE_PLUGIN).map_err(|_| LitmusError::NotThere)?;
    let control = File::options()
        .read(true)
        .write(true)
        .open(abi::CONTROL)
        .map_err(LitmusError::Device)?;
    let way = calls::way(&control).ok_or(LitmusError::UnknownInterface)?;
    if active.trim() != plugin.name() {
        return Err(LitmusError::OtherPlugin {
            active: active.trim().to_owned(),
            wanted: plugin,
        });
    }
    let cpu = partition(policy, plugin)?;
    let mut task = told(policy, asked, cpu)?;
    let page = Page::map(&control).map_err(refused("map the thread's control page"))?;

    let thread = rustix::thread::gettid().as_raw_nonzero().get();
    calls::task(way, &control, Request::SetTask, thread, &mut task)
        .map_err(refused("take the task's parameters"))?;
    let number = abi::policy_number(linux());
    calls::set_policy(number).map_err(|source| LitmusError::NotAdmitted {
        plugin,
        cpu,
        source,
    })?;
    let place = Arc::new(OnLitmus {
        way,
        control,
        page,
        release: asked.release,
        plugin,
        period_ns: task.period,
        waits: AtomicU32::new(0),
    });
    HERE.with_borrow_mut(|here| here.0 = Some(Arc::clone(&place)));

    let mut effective = Task::default();
    calls::task(
        way,
        &place.control,
        Request::GetTask,
        thread,
        &mut effective,
    )
    .map_err(refused("tell the task's parameters"))?;
    if effective != task || calls::policy() != number {
        leave();
        return Err(LitmusError::OtherLayout);
    }
    Ok(policy)
}

/// The CPU for the thread's admission.
fn partition(policy: Policy, plugin: LitmusPlugin) -> Result<u16, LitmusError> {
    let own = affinity::current().map_err(refused("read the thread's CPUs"))?;
    let several = || LitmusError::NoPartition {
        plugin,
        cpus: format!("{} CPUs", own.len()),
    };
    let cpu = match (policy.litmus_partition(), &own[..]) {
        (Some(cpu), _) if !own.contains(&cpu) => return Err(several()),
        (Some(cpu), _) => cpu,
        (None, [cpu]) => *cpu,
        (None, _) if plugin == LitmusPlugin::GsnEdf => affinity::this_cpu(),
        (None, _) => return Err(several()),
    };
    if plugin != LitmusPlugin::GsnEdf && own.len() > 1 {
        affinity::pin(&[cpu]).map_err(refused("set the thread's CPUs"))?;
    }
    let master = std::fs::read_to_string(abi::RELEASE_MASTER).unwrap_or_default();
    if master.trim().parse() == Ok(cpu) && plugin != LitmusPlugin::GsnEdf {
        Err(LitmusError::ReleaseMaster(cpu))
    } else {
        Ok(cpu)
    }
}

/// The task's parameters for the core.
fn told(policy: Policy, asked: LitmusTask, cpu: u16) -> Result<Task, LitmusError> {
    let period = asked.period_ns.ok_or(LitmusError::NoPeriod)?;
    let whole = asked.of_a_loop(period);
    Ok(Task {
        execution_cost: whole.budget_ns.unwrap_or(period),
        period,
        relative_deadline: whole.deadline_ns.unwrap_or(period),
        cpu: cpu.into(),
        priority: match policy {
            Policy::LitmusPFp { priority, .. } => priority.into(),
            _ => abi::LOWEST_PRIORITY,
        },
        class: abi::SOFT,
        budget_policy: match asked.enforcement {
            Enforcement::None => 0,
            Enforcement::Quantum => 1,
            Enforcement::Precise => 2,
        },
        // A periodic task's sleep is no release, and the first release of a job is by a sleep.
        release_policy: abi::SPORADIC,
        ..Task::default()
    })
}

/// The running kernel's version, or 0 if unknown.
fn linux() -> (u32, u32) {
    let release = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    let mut numbers = release
        .split(|c: char| !c.is_ascii_digit())
        .map(|number| number.parse().unwrap_or(0));
    (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0))
}

impl OnLitmus {
    /// Whether the thread can run on other CPUs than the one that it was admitted on.
    pub(crate) fn migrates(&self) -> bool {
        self.plugin.migrates()
    }

    /// Waits until `due_ns` and returns whether a signal interrupted it. `None` if the core's jobs
    /// don't match the loop's due times (yet) and the loop has to sleep: the sleep releases a job
    /// at `due_ns`, and the core counts on from there.
    #[inline]
    pub(crate) fn job_at(&self, due_ns: u64) -> Option<bool> {
        self.waits.fetch_add(1, Ordering::Relaxed);
        if self.release == JobRelease::Sleep {
            return None;
        }
        let (release_ns, job) = self.page.job();
        let jobs = jobs_between(release_ns, due_ns, self.period_ns)?;
        let waited = calls::wait_for_job(self.way, &self.control, job.wrapping_add(jobs));
        waited.ok().map(|()| false)
    }
}

/// How often the calling thread has waited; `None` if it is not on the core. Takes no lock and
/// allocates nothing, because a signal handler can call it.
fn waits_here() -> Option<u32> {
    let waits = HERE.try_with(|place| {
        let place = place.try_borrow().ok()?;
        Some(place.0.as_ref()?.waits.load(Ordering::Relaxed))
    });
    waits.ok().flatten()
}

/// Number of jobs from the one released at `release_ns` to the one released at `due_ns`; `None` if
/// that is not a later job.
fn jobs_between(release_ns: u64, due_ns: u64, period_ns: u64) -> Option<u32> {
    let apart = due_ns.checked_sub(release_ns)?;
    match (apart / period_ns, apart % period_ns) {
        (jobs @ 1.., 0) => u32::try_from(jobs).ok(),
        _ => None,
    }
}

fn refused(step: &'static str) -> impl FnOnce(io::Error) -> LitmusError {
    move |source| LitmusError::Refused { step, source }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_job_is_waited_for_only_where_one_is_released_at_the_due_time() {
        assert_eq!(jobs_between(1_000, 2_000, 1_000), Some(1));
        assert_eq!(jobs_between(1_000, 4_000, 1_000), Some(3));
        assert_eq!(jobs_between(1_001, 2_000, 1_000), None);
        assert_eq!(jobs_between(2_000, 2_000, 1_000), None);
        assert_eq!(jobs_between(3_000, 2_000, 1_000), None);
    }

    #[test]
    fn a_task_is_told_as_its_policy_says() {
        let asked = LitmusTask {
            budget_ns: Some(200_000),
            enforcement: Enforcement::Precise,
            ..LitmusTask::default()
        };
        let policy = |task| Policy::LitmusPFp {
            priority: 10,
            partition: None,
            task,
        };
        assert!(matches!(
            told(policy(asked), asked, 1),
            Err(LitmusError::NoPeriod)
        ));
        let asked = asked.of_a_loop(1_000_000);
        let task = told(policy(asked), asked, 1).unwrap();
        assert_eq!((task.execution_cost, task.period), (200_000, 1_000_000));
        assert_eq!((task.relative_deadline, task.cpu), (1_000_000, 1));
        assert_eq!((task.priority, task.budget_policy), (10, 2));
    }

    #[test]
    fn a_kernel_without_the_core_is_told_so_and_the_thread_stays_as_it_was() {
        if std::path::Path::new(abi::ACTIVE_PLUGIN).exists() {
            return;
        }
        let task = LitmusTask::default().of_a_loop(1_000_000);
        let error = enter(Policy::LitmusGsnEdf { task }).unwrap_err();
        assert!(error.to_string().contains("no LITMUS^RT"), "{error}");
        assert!(of_this_thread().is_none());
    }
}
