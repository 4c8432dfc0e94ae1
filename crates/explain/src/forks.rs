//! Forks of the watched program: afterwards the kernel copies each page that one of its threads writes to.

use foldhash::HashMap;
use std::sync::Arc;
use wakepath_timeline::{Thread, What};

/// The thread that forked last, by process.
#[derive(Debug, Default)]
pub(crate) struct Forks(HashMap<u32, Arc<Thread>>);

impl Forks {
    /// Takes the next event. `current`: the thread that is current; `process`: finds its process.
    pub fn event(
        &mut self,
        what: &What,
        current: Option<&Thread>,
        process: impl Fn() -> Option<u32>,
    ) {
        let What::SystemCallEntry { name, .. } = what else {
            return;
        };
        match &**name {
            "fork" => {
                let forked = process().zip(current);
                self.0
                    .extend(forked.map(|(of, by)| (of, Arc::new(by.clone()))));
            }
            // A new program has memory of its own.
            "execve" | "execveat" => {
                process().and_then(|of| self.0.remove(&of));
            }
            _ => {}
        }
    }

    /// The thread that forked last in a process.
    pub fn by(&self, process: u32) -> Option<&Arc<Thread>> {
        self.0.get(&process)
    }
}
