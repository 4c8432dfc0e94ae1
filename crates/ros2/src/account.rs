//! What threads did within some windows of time: on a CPU, ready to run, or waiting, and who ended the longest wait.

use crate::expiry::Expiries;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use wakepath_timeline::{KernelEvent, Left, Thread, What};

/// A thread, and the window that is looked at, in nanoseconds on `CLOCK_MONOTONIC`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Window {
    /// The thread.
    pub thread: u32,
    /// Its beginning.
    pub from_ns: u64,
    /// Its end.
    pub to_ns: u64,
}

/// Time of a thread in a window, in nanoseconds.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Account {
    /// On a CPU.
    pub on_cpu_ns: u64,
    /// Ready, while others ran.
    pub ready_ns: u64,
    /// The name of the threads that ran longest on its CPU during that time, and how long.
    pub others: Option<(u64, String)>,
    /// Asleep, or blocked on something.
    pub waiting_ns: u64,
    /// The longest wait that began or ended in the window.
    pub longest: Option<Wait>,
}

impl Account {
    /// Whether a part of it is half of it or more.
    pub fn is_most(&self, part_ns: u64) -> bool {
        part_ns > 0 && part_ns * 2 >= self.on_cpu_ns + self.ready_ns + self.waiting_ns
    }

    /// The wait at the end of the row of threads that waited for each other, if it is most of this account and of each
    /// account in between, and another thread ended it.
    pub(crate) fn last_wait(&mut self) -> Option<&mut Wait> {
        if !self.is_most(self.waiting_ns) {
            return None;
        }
        let wait = self.longest.as_mut()?;
        match wait.waker {
            Some(_) => wait.waker.as_mut()?.last_wait(),
            None => wait.thread.is_some().then_some(wait),
        }
    }
}

impl Wait {
    /// The thread that ended it, while it lasted.
    pub(crate) fn of_waker(&self) -> Option<Window> {
        Some(Window {
            thread: self.thread?,
            from_ns: self.ended_ns.saturating_sub(self.ns),
            to_ns: self.ended_ns,
        })
    }
}

/// A wait of a thread.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Wait {
    /// Its length within the window, in nanoseconds.
    pub ns: u64,
    /// When it ended, in nanoseconds on `CLOCK_MONOTONIC`.
    pub ended_ns: u64,
    /// What ended it.
    pub by: Waited,
    /// The thread that ended it.
    pub thread: Option<u32>,
    /// The work of ROS 2 that it waited for, if known.
    pub during: Option<During>,
    /// The account of the thread that ended it while it lasted, once events of the kernel were looked at for that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waker: Option<Box<Account>>,
}

/// The reason for a wait, by the calls of other threads.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum During {
    /// The answer of a service, with its node if that is watched.
    Answer(String),
    /// The thread that ended the wait ran this callback.
    Ran(String),
}

/// What ended a wait.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Waited {
    /// A timer: it slept.
    Timer {
        /// How long after the time that the thread had asked for it expired, in nanoseconds; unknown if that was not
        /// recorded.
        late_ns: Option<u64>,
    },
    /// A thread, by its name.
    Thread(String),
    /// Something else in an interrupt.
    Interrupt,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    OnCpu,
    Ready,
    Waiting,
}

/// Takes a trace's events, and keeps the accounts of the windows.
#[derive(Debug)]
pub struct Accounts {
    /// Each once.
    windows: Vec<(Window, Account)>,
    /// Which of them was asked for, in the order in which they were.
    order: Vec<usize>,
    threads: BTreeMap<u32, ByTime>,
    states: BTreeMap<u32, (State, u64)>,
    wakers: BTreeMap<u32, (Waited, Option<u32>)>,
    names: BTreeMap<u32, String>,
    /// Threads of windows that are ready, with the CPU that they wait for.
    ready: BTreeMap<u32, u16>,
    /// Since when the thread of each CPU runs.
    running: BTreeMap<u16, u64>,
    /// For each window, how long threads of a name ran while its own was ready on their CPU.
    ran: Vec<BTreeMap<String, u64>>,
    /// CPUs on which the callback of a timer runs, and how late it is.
    in_timer: BTreeMap<u16, Option<u64>>,
    expiries: Expiries,
}

/// The windows of a thread, so that an event visits only those that contain it.
#[derive(Debug, Default)]
struct ByTime {
    /// That begin later, the first at the end.
    later: Vec<usize>,
    /// That began and did not end.
    open: Vec<usize>,
}

impl ByTime {
    /// The windows that have something of the time between two instants, neither of which goes back.
    fn between(&mut self, windows: &[(Window, Account)], from_ns: u64, to_ns: u64) -> &[usize] {
        while let Some(number) = self.later.last().copied()
            && windows[number].0.from_ns < to_ns
        {
            self.open.push(number);
            self.later.pop();
        }
        self.open
            .retain(|number| windows[*number].0.to_ns > from_ns);
        &self.open
    }
}

impl Accounts {
    /// For these windows; they come back in their order.
    pub fn new(asked: impl IntoIterator<Item = Window>) -> Self {
        let (mut numbers, mut windows) = (BTreeMap::new(), Vec::new());
        let number = |window: Window| {
            *numbers.entry(window).or_insert_with(|| {
                windows.push((window, Account::default()));
                windows.len() - 1
            })
        };
        let order = asked.into_iter().map(number).collect();
        let mut threads: BTreeMap<u32, ByTime> = BTreeMap::new();
        for (window, number) in numbers.into_iter().rev() {
            threads.entry(window.thread).or_default().later.push(number);
        }
        Self {
            ran: vec![BTreeMap::new(); windows.len()],
            windows,
            order,
            threads,
            states: BTreeMap::new(),
            wakers: BTreeMap::new(),
            names: BTreeMap::new(),
            ready: BTreeMap::new(),
            running: BTreeMap::new(),
            in_timer: BTreeMap::new(),
            expiries: Expiries::default(),
        }
    }

    /// Takes an event.
    pub fn event(&mut self, event: &KernelEvent) {
        match &event.what {
            What::TimerStart {
                timer,
                soft_expires_ns,
                ..
            } => self.expiries.asked(*timer, *soft_expires_ns),
            What::TimerExpiryEntry { timer, .. } => {
                let late_ns = self.expiries.late(*timer, event.at_ns);
                self.in_timer.insert(event.cpu, late_ns);
            }
            What::TimerExpiryExit { .. } => {
                self.in_timer.remove(&event.cpu);
            }
            What::Waking { thread, target_cpu }
                if self.threads.contains_key(&thread.id) && !self.is_on_cpu(thread.id) =>
            {
                let waker = match (self.in_timer.get(&event.cpu), event.current) {
                    (Some(late_ns), _) => (Waited::Timer { late_ns: *late_ns }, None),
                    (_, 0) => (Waited::Interrupt, None),
                    (_, other) => {
                        let name = self.names.get(&other).cloned();
                        let name = name.unwrap_or_else(|| format!("thread {other}"));
                        (Waited::Thread(name), Some(other))
                    }
                };
                self.wakers.insert(thread.id, waker);
                self.change(thread.id, State::Ready, event.at_ns);
                self.ready.insert(thread.id, *target_cpu);
            }
            What::Switch {
                previous,
                left,
                next,
            } => {
                self.names.insert(next.id, next.name.to_string());
                self.names.insert(previous.id, previous.name.to_string());
                let state = match left {
                    Left::Runnable => State::Ready,
                    _ => State::Waiting,
                };
                self.ran(event, previous);
                self.change(previous.id, state, event.at_ns);
                self.change(next.id, State::OnCpu, event.at_ns);
                self.ready.remove(&next.id);
                if state == State::Ready && self.threads.contains_key(&previous.id) {
                    self.ready.insert(previous.id, event.cpu);
                }
            }
            _ => {}
        }
    }

    /// Whether it runs, be it about to sleep: woken then, it runs on.
    fn is_on_cpu(&self, thread: u32) -> bool {
        let state = self.states.get(&thread);
        state.is_some_and(|(state, _)| *state == State::OnCpu)
    }

    /// A thread ran on its CPU, at the cost of those that were ready there.
    fn ran(&mut self, event: &KernelEvent, previous: &Thread) {
        let began_ns = self.running.insert(event.cpu, event.at_ns);
        let (Some(began_ns), 1..) = (began_ns, previous.id) else {
            return;
        };
        let here = self.ready.iter().filter(|(_, cpu)| **cpu == event.cpu);
        for (thread, _) in here {
            let since_ns = self.states.get(thread).map_or(event.at_ns, |(_, at)| *at);
            let Some(windows) = self.threads.get_mut(thread) else {
                continue;
            };
            for &number in windows.between(&self.windows, since_ns, event.at_ns) {
                let (window, _) = &self.windows[number];
                let from_ns = began_ns.max(since_ns).max(window.from_ns);
                let length_ns = event.at_ns.min(window.to_ns).saturating_sub(from_ns);
                if length_ns > 0 {
                    let name = previous.name.to_string();
                    *self.ran[number].entry(name).or_default() += length_ns;
                }
            }
        }
    }

    fn change(&mut self, thread: u32, state: State, at_ns: u64) {
        let Some(windows) = self.threads.get_mut(&thread) else {
            return;
        };
        let before = self.states.insert(thread, (state, at_ns));
        let Some((before, since_ns)) = before else {
            return;
        };
        for &number in windows.between(&self.windows, since_ns, at_ns) {
            let (window, account) = &mut self.windows[number];
            let from_ns = since_ns.max(window.from_ns);
            let length_ns = at_ns.min(window.to_ns).saturating_sub(from_ns);
            match before {
                State::OnCpu => account.on_cpu_ns += length_ns,
                State::Ready => account.ready_ns += length_ns,
                State::Waiting => {
                    account.waiting_ns += length_ns;
                    let longest_ns = account.longest.as_ref().map_or(0, |of| of.ns);
                    if length_ns > longest_ns
                        && let Some((by, waker)) = self.wakers.get(&thread)
                    {
                        account.longest = Some(Wait {
                            ns: length_ns,
                            ended_ns: at_ns,
                            by: by.clone(),
                            thread: *waker,
                            during: None,
                            waker: None,
                        });
                    }
                }
            }
        }
    }

    /// The accounts, in the order of the windows.
    pub fn finish(self) -> Vec<Account> {
        let both = self.windows.into_iter().zip(self.ran);
        let account = |((_, account), ran): ((Window, Account), BTreeMap<String, u64>)| {
            let others = ran.into_iter().map(|(name, ns)| (ns, name)).max();
            Account { others, ..account }
        };
        let accounts: Vec<Account> = both.map(account).collect();
        let accounts = self.order.into_iter().map(|at| accounts[at].clone());
        accounts.collect()
    }
}
