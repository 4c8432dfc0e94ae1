//! Events of one CPU, made by hand: whose timers expire when, who runs when.

use std::collections::BTreeMap;
use wakepath_explain::watch::{Activations, Rhythm, Row, ThreadActivity, row};
use wakepath_timeline::{KernelEvent, Left, Thread, ThreadName, What};

pub const LOOP: u32 = 100;
pub const SLOW: u32 = 200;
pub const HOG: u32 = 300;
pub const START: u64 = 5_000_000_000;
pub const MS: u64 = 1_000_000;
pub const US: u64 = 1_000;

pub fn thread(id: u32) -> Thread {
    let (name, priority) = match id {
        LOOP => ("loop", 19),
        SLOW => ("slow", 29),
        _ => ("hog", 120),
    };
    Thread {
        id,
        name: ThreadName::new(name.as_bytes()),
        priority,
    }
}

/// One CPU on which the hog runs unless something else does.
pub struct Stream {
    pub events: Vec<KernelEvent>,
    current: u32,
}

impl Stream {
    pub fn new() -> Self {
        Self {
            events: Vec::new(),
            current: HOG,
        }
    }

    pub fn at(&mut self, at_ns: u64, what: What) -> &mut Self {
        self.events.push(KernelEvent {
            at_ns,
            cpu: 1,
            current: self.current,
            what,
        });
        self
    }

    pub fn switch(&mut self, at_ns: u64, next: u32, left: Left) -> &mut Self {
        let previous = thread(self.current);
        let next_thread = thread(next);
        self.at(
            at_ns,
            What::Switch {
                previous,
                left,
                next: next_thread,
            },
        );
        self.current = next;
        self
    }

    pub fn wake(&mut self, at_ns: u64, id: u32) -> &mut Self {
        self.at(
            at_ns,
            What::Waking {
                thread: thread(id),
                target_cpu: 1,
            },
        )
    }

    /// The running thread programs the timer of `id` for `expires_ns`.
    pub fn program(&mut self, at_ns: u64, id: u32, expires_ns: u64) -> &mut Self {
        self.at(
            at_ns,
            What::TimerStart {
                timer: id.into(),
                function: "hrtimer_wakeup".into(),
                expires_ns: expires_ns + 50 * US,
                soft_expires_ns: expires_ns,
                soft: false,
            },
        )
    }

    /// It expires and wakes `id`, 1 µs after its callback began.
    pub fn expire(&mut self, at_ns: u64, id: u32) -> &mut Self {
        let timer = id.into();
        let function = "hrtimer_wakeup".into();
        self.at(at_ns, What::TimerExpiryEntry { timer, function })
            .wake(at_ns + US, id)
            .at(at_ns + 2 * US, What::TimerExpiryExit { timer })
    }

    /// A whole turn: due, 3 µs to the callback, 4 µs more to the switch-in, work, sleep.
    pub fn turn(&mut self, id: u32, due_ns: u64, work_ns: u64, next_ns: u64) -> &mut Self {
        self.expire(due_ns + 3 * US, id)
            .switch(due_ns + 7 * US, id, Left::Runnable)
            .program(due_ns + 7 * US + work_ns - 1, id, next_ns)
            .switch(due_ns + 7 * US + work_ns, HOG, Left::Sleeping)
    }

    pub fn activity(&mut self) -> BTreeMap<u32, ThreadActivity> {
        self.events.sort_by_key(|event| event.at_ns);
        let mut activations = Activations::new([LOOP, SLOW]);
        for event in &self.events {
            activations.event(event);
        }
        activations.finish()
    }

    pub fn row(&mut self, id: u32) -> (Rhythm, Row, ThreadActivity) {
        let activity = self.activity().remove(&id).unwrap();
        let rhythm = Rhythm::new(&activity.activations).unwrap();
        (rhythm, row(&activity.activations, rhythm), activity)
    }
}
