//! A loop's thread while it is measured: read back from the kernel, so that what its program changes is seen. It changes
//! nothing itself.

use wakepath_rt::announcement::Announced;
use wakepath_rt::image::{Image, process_of};
use wakepath_rt::{Effective, of_thread};
use wakepath_timeline::{CpuSet, one_line};

/// A loop's thread as it was when it began, and what its program made of it since.
pub(super) struct Watched {
    pub(super) announced: Announced,
    pub(super) began: Effective,
    pub(super) changed: Option<String>,
    /// Its process, and what that ran when the loop began.
    process: Option<(u32, Image)>,
    /// Whether its process runs another program by now, in which the loop is not.
    pub(super) was_replaced: bool,
}

impl Watched {
    /// Of a loop that is about to begin.
    pub(super) fn new(announced: Announced, began: Effective) -> Self {
        let process = process_of(announced.thread_id);
        Self {
            process: process.and_then(|of| Some((of, Image::new(of)?))),
            announced,
            began,
            changed: None,
            was_replaced: false,
        }
    }

    /// Reads the thread back: what its program changed is named once.
    pub(super) fn look(&mut self) {
        self.was_replaced |= self
            .process
            .is_some_and(|(process, image)| image.was_replaced(process));
        if self.changed.is_some() || self.was_replaced {
            return;
        }
        let (began, of) = (&self.began, &self.announced);
        let Ok(is) = of_thread::effective_of(of) else {
            return;
        };
        let name = one_line(&of.name);
        let which = |before: String, after: String| {
            Some(format!(
                "its program changed the loop `{name}` while it was measured: {after} instead of {before}"
            ))
        };
        self.changed = if is.policy != began.policy {
            which(began.policy.to_string(), is.policy.to_string())
        } else if is.cpus != began.cpus {
            let cpus = |cpus: &[u16]| format!("CPU {}", CpuSet::from(cpus));
            which(cpus(&began.cpus), cpus(&is.cpus))
        } else {
            None
        };
    }
}
