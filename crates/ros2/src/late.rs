//! Why a callback's run was late: what its executor ran between the due time and the run.

use crate::account::{Account, Wait, Window};
use crate::row::{Dues, Publications, by_callback};
use crate::{Callback, Kind, Run, Seen};
use serde::{Deserialize, Serialize};

/// A gap counts from this many halves of a period on.
const HALVES: u64 = 3;

/// A thousand callbacks hold their executor a thousand times; the longest are the causes.
const MOST_HOLDERS: usize = 16;

/// A late run of a callback.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Late {
    /// When it began, in nanoseconds on `CLOCK_MONOTONIC`.
    pub at_ns: u64,
    /// The thread that ran it.
    pub thread: u32,
    /// From the beginning of the run before it to its own; 0 of a subscription.
    pub gap_ns: u64,
    /// How long after it was due it began.
    pub latency_ns: u64,
    /// Runs that held its executor, the longest first: no more than sixteen.
    pub holders: Vec<Holder>,
    /// Further runs that held it.
    pub more_holders: u64,
    /// How long all of these runs held it.
    pub held_ns: u64,
    /// The longest time between the due time and the run in which none of these runs held it.
    pub unheld: Option<Unheld>,
    /// What its thread did between the due time and the run, once events of the kernel were looked at.
    pub account: Option<Account>,
}

/// A time in which no callback held the executor.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Unheld {
    /// When it began, in nanoseconds on `CLOCK_MONOTONIC`.
    pub from_ns: u64,
    /// When it ended.
    pub to_ns: u64,
    /// What its thread had taken and handled without a callback that is marked.
    pub handled: Option<String>,
    /// The account of the late run's thread, once events of the kernel were looked at.
    pub account: Option<Account>,
}

/// A run that held the executor.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Holder {
    /// Its callback, with its node if that is not the late one's.
    pub callback: String,
    /// Whether it is the late callback itself: an earlier run of it.
    pub is_itself: bool,
    /// Its thread.
    pub thread: u32,
    /// When it began.
    pub from_ns: u64,
    /// When it ended.
    pub to_ns: u64,
    /// The part between the due time and the late run.
    pub share_ns: u64,
    /// Whether it ran on the late run's own thread; otherwise a callback of the same node ran on another one.
    pub same_thread: bool,
    /// What its thread did while it ran, once events of the kernel were looked at.
    pub account: Option<Account>,
}

impl Late {
    pub(crate) fn new(seen: &Seen, gap_ns: u64, run: &Run, due_ns: u64) -> Self {
        let mut holders = holders(seen, run, due_ns);
        let held_ns = holders.iter().map(|holder| holder.share_ns).sum();
        let mut unheld = longest_between(&holders, due_ns, run.from_ns);
        if let Some(unheld) = &mut unheld {
            unheld.handled = handled(seen, run, unheld);
        }
        let more_holders = holders.len().saturating_sub(MOST_HOLDERS) as u64;
        holders.truncate(MOST_HOLDERS);
        Self {
            at_ns: run.from_ns,
            thread: run.thread,
            gap_ns,
            latency_ns: run.from_ns.saturating_sub(due_ns),
            holders,
            more_holders,
            held_ns,
            unheld,
            account: None,
        }
    }

    /// The windows whose accounts explain it: its own, each holder's, the longest that no callback held.
    pub fn windows(&self) -> impl Iterator<Item = Window> {
        let own = Window {
            thread: self.thread,
            from_ns: self.at_ns.saturating_sub(self.latency_ns),
            to_ns: self.at_ns,
        };
        let holders = self.holders.iter().map(|holder| Window {
            thread: holder.thread,
            from_ns: holder.from_ns,
            to_ns: holder.to_ns,
        });
        let unheld = self.unheld.iter().map(|unheld| Window {
            thread: self.thread,
            from_ns: unheld.from_ns,
            to_ns: unheld.to_ns,
        });
        std::iter::once(own).chain(holders).chain(unheld)
    }

    /// Takes the accounts of its windows, and finds what ended their waits.
    pub fn accounted(&mut self, seen: &Seen, accounts: &mut impl Iterator<Item = Account>) {
        let windows: Vec<Window> = self.windows().collect();
        let mut accounts = windows
            .into_iter()
            .zip(accounts)
            .map(|(window, account)| account.with_reason(seen, &window));
        self.account = accounts.next();
        for holder in &mut self.holders {
            holder.account = accounts.next();
        }
        if let Some(unheld) = &mut self.unheld {
            unheld.account = accounts.next();
        }
    }

    /// The waits that are explained by what the thread that ended them did, and for which that was not looked at yet.
    fn waits(&mut self) -> impl Iterator<Item = &mut Wait> {
        let holders = self.holders.iter_mut().map(|of| &mut of.account);
        let unheld = self.unheld.iter_mut().map(|of| &mut of.account);
        let accounts = holders.chain(unheld).flatten();
        accounts.filter_map(Account::last_wait)
    }

    /// The windows of threads that ended its waits.
    pub fn wakers(&mut self) -> Vec<Window> {
        self.waits().filter_map(|wait| wait.of_waker()).collect()
    }

    /// Takes the accounts of these.
    pub fn wakers_accounted(&mut self, seen: &Seen, accounts: &mut impl Iterator<Item = Account>) {
        for wait in self.waits() {
            let Some(window) = wait.of_waker() else {
                continue;
            };
            let account = accounts.next();
            let account = account.map(|of| Box::new(of.with_reason(seen, &window)));
            wait.waker = account;
        }
    }

    /// How much of the latency lies in no holder's run.
    pub fn unheld_ns(&self) -> u64 {
        self.latency_ns.saturating_sub(self.held_ns)
    }
}

/// The longest part between two instants in which none of these ran.
fn longest_between(holders: &[Holder], from_ns: u64, to_ns: u64) -> Option<Unheld> {
    let mut runs: Vec<(u64, u64)> = holders.iter().map(|of| (of.from_ns, of.to_ns)).collect();
    runs.sort_unstable();
    runs.push((to_ns, to_ns));
    let mut free_ns = from_ns;
    let parts = runs.into_iter().map(|(began_ns, ended_ns)| {
        let part = (free_ns, began_ns.clamp(free_ns, to_ns.max(free_ns)));
        free_ns = free_ns.max(ended_ns);
        part
    });
    let (from_ns, to_ns) = parts.max_by_key(|(from_ns, to_ns)| to_ns - from_ns)?;
    (to_ns > from_ns).then_some(Unheld {
        from_ns,
        to_ns,
        handled: None,
        account: None,
    })
}

/// Runs begin in their order, and none that began long before is worth a look at each late one.
fn before(seen: &Seen, at_ns: u64) -> impl Iterator<Item = &Run> {
    let until = seen.runs.partition_point(|run| run.from_ns < at_ns);
    seen.runs[..until].iter().rev().take(4096)
}

/// The work that a late run's thread handled in a time in which no callback held it: of what it took after the callback
/// before, that after which it took nothing else for longest.
fn handled(seen: &Seen, late: &Run, unheld: &Unheld) -> Option<String> {
    let kind = |run: &Run| &seen.callbacks[run.callback].kind;
    let on_thread = before(seen, unheld.to_ns).filter(|run| run.thread == late.thread);
    let mut next_ns = unheld.to_ns;
    let taken = on_thread.map_while(|run| {
        let is_taken = matches!(kind(run), Kind::Handled { .. });
        let ns = next_ns.saturating_sub(run.from_ns.max(unheld.from_ns));
        next_ns = run.from_ns;
        is_taken.then_some((ns, run))
    });
    let (ns, run) = taken.max_by_key(|(ns, _)| *ns)?;
    let is_most = ns * 2 >= unheld.to_ns - unheld.from_ns;
    is_most.then(|| name(seen, late, run))
}

/// Of runs within each other, such as a controller's within the manager's update, the innermost that is half of the one
/// around it.
fn apart(found: Vec<Holder>) -> Vec<Holder> {
    let is_in = |one: &Holder, other: &Holder| {
        let (inner, outer) = ((one.from_ns, one.to_ns), (other.from_ns, other.to_ns));
        one.thread == other.thread && inner != outer && inner.0 >= outer.0 && inner.1 <= outer.1
    };
    let is_most = |one: &Holder, other: &Holder| one.share_ns * 2 >= other.share_ns;
    let is_kept = |of: &&Holder| {
        !found.iter().any(|other| {
            (is_in(other, of) && is_most(other, of)) || (is_in(of, other) && !is_most(of, other))
        })
    };
    found.iter().filter(is_kept).cloned().collect()
}

/// A callback's name, with its node if that is not the late one's.
fn name(seen: &Seen, late: &Run, run: &Run) -> String {
    let (own, of) = (
        &seen.callbacks[late.callback],
        &seen.callbacks[run.callback],
    );
    let is_near = of.node.is_some() && of.node == own.node && of.process == own.process;
    if is_near {
        of.kind.to_string()
    } else {
        of.to_string()
    }
}

/// The runs of a timer's callback whose gap to the one before is above one and a half periods, the longest first: how
/// many, and the longest `most` of them with their holders.
pub(crate) fn lates(seen: &Seen, runs: &[Run], dues: &Dues, most: usize) -> (u64, Vec<Late>) {
    let pairs = runs.windows(2).zip(dues.due_ns.iter().skip(1));
    let mut late: Vec<(u64, Run, u64)> = pairs
        .filter_map(|(pair, due_ns)| {
            let [from_ns, to_ns] = [0, 1].map(|at| pair[at].from_ns);
            let gap_ns = to_ns - from_ns;
            let is_known = !seen.has_lost(from_ns, to_ns);
            (is_known && gap_ns * 2 > dues.period_ns * HALVES).then_some((gap_ns, pair[1], *due_ns))
        })
        .collect();
    let count = late.len() as u64;
    late.sort_by_cached_key(|(gap_ns, run, _)| (std::cmp::Reverse(*gap_ns), run.from_ns));
    late.truncate(most);
    let explained = late.into_iter();
    let explained = explained.map(|(gap_ns, run, due_ns)| Late::new(seen, gap_ns, &run, due_ns));
    (count, explained.collect())
}

/// The messages of a subscription that waited longer than `limit_ns`, each with when it was published. Those from before
/// its first callback waited for its node to start.
fn waited_longer(received: &[(Run, u64)], limit_ns: u64) -> impl Iterator<Item = (Run, u64)> {
    let first_ns = received.first().map_or(0, |(run, _)| run.from_ns);
    let all = received.iter().copied();
    all.filter(move |(run, at_ns)| *at_ns >= first_ns && run.from_ns - at_ns > limit_ns)
}

/// The messages of a subscription, each with when it was published, that waited longer than `limit_ns`: how many, and
/// the `most` that waited longest, with what held its executor.
pub(crate) fn late_messages(
    seen: &Seen,
    received: &[(Run, u64)],
    limit_ns: u64,
    most: usize,
) -> (u64, Vec<Late>) {
    let mut late: Vec<(Run, u64)> = waited_longer(received, limit_ns).collect();
    let count = late.len() as u64;
    late.sort_by_cached_key(|(run, at_ns)| (std::cmp::Reverse(run.from_ns - at_ns), run.from_ns));
    late.truncate(most);
    let late = late.iter();
    let late = late.map(|(run, at_ns)| Late::new(seen, 0, run, *at_ns));
    (count, late.collect())
}

/// The first run of a callback with a period that began more than `above_ns` after it was due, or of a subscription
/// after its message was published: the callback's number, and the run.
pub fn first_above(seen: &Seen, above_ns: u64) -> Option<(usize, Late)> {
    let runs = by_callback(seen);
    let published = Publications::new(seen);
    let first = |(number, runs): (&usize, &Vec<Run>)| {
        let kind = &seen.callbacks[*number].kind;
        let received = published.of(kind, runs);
        let late = waited_longer(&received, above_ns).next();
        if let Some((run, at_ns)) = late {
            let at = runs.iter().position(|of| *of == run)?;
            return Some((run.from_ns, *number, at, 0, at_ns));
        }
        let starts: Vec<u64> = runs.iter().map(|run| run.from_ns).collect();
        let dues = Dues::new(seen, kind, &starts)?;
        let mut both = starts.iter().zip(&dues.due_ns);
        let at = both.position(|(start, due)| start.saturating_sub(*due) > above_ns)?;
        let gap_ns = starts[at] - starts[at.saturating_sub(1)];
        Some((starts[at], *number, at, gap_ns, dues.due_ns[at]))
    };
    let (_, number, at, gap_ns, due_ns) = runs.iter().filter_map(first).min()?;
    let run = runs[&number][at];
    Some((number, Late::new(seen, gap_ns, &run, due_ns)))
}

/// What ran between `due_ns` and a run: on its thread, or, if that leaves more than half of the time open, of its
/// node on other threads, unless it was seen to run at the same time as this callback: then no group excludes that.
fn holders(seen: &Seen, late: &Run, due_ns: u64) -> Vec<Holder> {
    let overlapping = |run: &&Run| {
        run.from_ns < late.from_ns && run.to_ns > due_ns && run.within(due_ns, late.from_ns) > 0
    };
    let holder = |run: &Run| Holder {
        callback: name(seen, late, run),
        is_itself: run.callback == late.callback,
        thread: run.thread,
        from_ns: run.from_ns,
        to_ns: run.to_ns,
        share_ns: run.within(due_ns, late.from_ns),
        same_thread: run.thread == late.thread,
        account: None,
    };
    let before = || before(seen, late.from_ns);
    let here = before().filter(|run| run.thread == late.thread);
    let mut found: Vec<Holder> = here.filter(overlapping).map(holder).collect();
    let is_control = |of: &Callback| matches!(of.kind, Kind::Control { .. });
    if seen.callbacks.iter().any(is_control) {
        found = apart(found);
    }
    let held: u64 = found.iter().map(|holder| holder.share_ns).sum();
    if held * 2 < late.from_ns - due_ns {
        let own = &seen.callbacks[late.callback];
        let same_node = |run: &&Run| {
            let of = &seen.callbacks[run.callback];
            let (one, other) = (run.callback, late.callback);
            let never_together = !seen.together.contains(&(one.min(other), one.max(other)));
            let is_near = of.process == own.process && of.node == own.node;
            run.thread != late.thread && is_near && never_together
        };
        let others: Vec<Holder> = before()
            .filter(same_node)
            .filter(overlapping)
            .map(holder)
            .collect();
        let elsewhere: u64 = others.iter().map(|holder| holder.share_ns).sum();
        if elsewhere > held {
            found = others;
        }
    }
    found.sort_by_cached_key(|holder| std::cmp::Reverse(holder.share_ns));
    found
}
