//! The reason for a wait: the service whose answer the thread got, or the callback of the thread that woke it.

use crate::account::{Account, During, Wait, Window};
use crate::{Kind, Run, Seen, Taken};

impl Account {
    /// With what its longest wait was for, if the calls show that.
    pub(crate) fn with_reason(self, seen: &Seen, window: &Window) -> Self {
        let longest = self.longest.map(|wait| meanwhile(seen, window, wait));
        Self { longest, ..self }
    }
}

fn meanwhile(seen: &Seen, window: &Window, wait: Wait) -> Wait {
    let began_ns = wait.ended_ns.saturating_sub(wait.ns);
    let until = |at_ns: u64| seen.runs.partition_point(|run| run.from_ns <= at_ns);
    let back = |at_ns: u64| seen.runs[..until(at_ns)].iter().rev().take(4096);
    // Taken by the thread itself after its wait, or by the one that woke it before.
    let answer = back(window.to_ns).find_map(|run| {
        let own = run.thread == window.thread && run.from_ns >= wait.ended_ns;
        let waker =
            Some(run.thread) == wait.thread && (began_ns..=wait.ended_ns).contains(&run.from_ns);
        match &seen.callbacks[run.callback].kind {
            Kind::Handled {
                taken: Taken::Answer,
                name,
            } if own || waker => Some(name),
            _ => None,
        }
    });
    let longest = |is_it: &dyn Fn(&Run) -> bool| {
        let runs = back(wait.ended_ns).filter(|run| is_it(run));
        let all = runs.map(|run| (run.within(began_ns, wait.ended_ns), run.callback));
        let found = all.max().filter(|(ns, _)| ns * 2 >= wait.ns && *ns > 0);
        found.map(|(_, number)| seen.callbacks[number].to_string())
    };
    let during = match answer {
        Some(name) => {
            let serves = |run: &Run| {
                let kind = &seen.callbacks[run.callback].kind;
                matches!(kind, Kind::Service { service } if service == name)
            };
            let server = longest(&serves);
            Some(During::Answer(
                server.unwrap_or_else(|| format!("service {name}")),
            ))
        }
        None => longest(&|run| Some(run.thread) == wait.thread).map(During::Ran),
    };
    Wait { during, ..wait }
}
