//! Forks of the watched program: afterwards the kernel copies each page that one of its threads writes to.

use std::collections::HashMap;
use std::sync::Arc;
use wakepath_timeline::{Thread, What};

/// The thread that forked last, by process.
#[derive(Debug, Default)]
pub(crate) struct Forks(HashMap<u32, Arc<Thread>>);

impl Forks {
    /// Takes the next event: of the thread that is current, and its process.
    pub fn event(&mut self, what: &What, current: Option<&Thread>, process: Option<u32>) {
        let What::SystemCallEntry { name, .. } = what else {
            return;
        };
        match (&**name, process, current) {
            ("fork", Some(process), Some(by)) => {
                self.0.insert(process, Arc::new(by.clone()));
            }
            // A new program has memory of its own.
            ("execve" | "execveat", Some(process), _) => {
                self.0.remove(&process);
            }
            _ => {}
        }
    }

    /// The thread that forked last in a process.
    pub fn by(&self, process: u32) -> Option<&Arc<Thread>> {
        self.0.get(&process)
    }
}
