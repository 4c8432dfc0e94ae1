//! Carrying a plan out and taking it back.

use crate::journal::{Entry, Journal, JournalError, Record};
use crate::{Action, SettingError, Step, System};
use serde::Serialize;
use std::time::Duration;

/// Between two looks at a journal that another process has locked.
const LOOK_AGAIN_AFTER: Duration = Duration::from_millis(10);

/// Reasons why a plan was not applied, or not reverted.
#[derive(Debug, thiserror::Error)]
pub enum TuningError {
    /// The journal can't be used; nothing was changed without it.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// A change failed; the earlier ones were reverted.
    #[error("{}: {why}; {}", action.command(), after(.reverted))]
    Change {
        /// The change.
        action: Box<Action>,
        /// The error.
        why: SettingError,
        /// Result of reverting the earlier changes.
        reverted: Box<Reverted>,
    },
    /// The machine was booted since.
    #[error(
        "the journal is from an earlier boot ({journal}), and its settings were lost at the reboot; remove \
         /run/wakepath/journal"
    )]
    OtherBoot {
        /// The journal's.
        journal: String,
    },
    /// The kernel does not name its boot.
    #[error("/proc/sys/kernel/random/boot_id can't be read: {0}")]
    NoBootId(String),
}

fn after(reverted: &Reverted) -> String {
    if reverted.left.is_empty() {
        "all earlier changes were undone".to_owned()
    } else {
        format!("{} changes could not be undone", reverted.left.len())
    }
}

/// Progress, for the caller to show.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event {
    /// The journal has the change, which is not made yet.
    Intended(usize),
    /// The change is made, but not yet marked in the journal.
    Written(usize),
    /// The journal knows.
    Recorded(usize),
}

/// A change that the kernel refused.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Refusal {
    /// The change.
    pub action: Action,
    /// The kernel's error.
    pub why: String,
}

/// Result of an application.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Applied {
    /// Changes made and verified.
    pub changed: usize,
    /// Settings that were so already.
    pub already: usize,
    /// Changes that the kernel refused.
    pub refused: Vec<Refusal>,
    /// Steps without any change.
    pub skipped: Vec<Skipped>,
}

/// A step that can't work on this machine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Skipped {
    /// The step.
    pub step: String,
    /// A path that can't be written, and the reason.
    pub why: String,
}

/// A setting that is not as it was.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Left {
    /// The change.
    pub action: Action,
    /// The value before it.
    pub before: String,
    /// Why it was left.
    pub why: String,
}

/// Result of a reversal.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Reverted {
    /// Restored settings.
    pub restored: usize,
    /// Settings that aren't restored.
    pub left: Vec<Left>,
}

/// Applies steps in order. A step with an existing file that can't be opened for writing, as in a
/// container or under the kernel's lockdown, is skipped entirely and reported. Each change is in
/// the journal before it is made, and read back after; the first failure ends the application, and
/// everything is reverted.
///
/// # Errors
/// If a journal exists already, can't be written, or a change fails.
pub fn apply(
    steps: &[Step],
    system: &System,
    watch: &mut dyn FnMut(Event),
) -> Result<Applied, TuningError> {
    let mut journal = Journal::begin(system.directory(), &boot_id(system)?)?;
    let mut applied = Applied::default();
    for step in steps {
        if let Some(why) = system.refuses(step) {
            applied.skipped.push(Skipped {
                step: step.id.clone(),
                why: why.to_string(),
            });
            continue;
        }
        for action in &step.actions {
            match change(&mut journal, step, action, system, watch)? {
                Outcome::Done => applied.changed += 1,
                Outcome::Already => applied.already += 1,
                Outcome::Refused(why) if action.may_be_refused() => applied.refused.push(Refusal {
                    action: action.clone(),
                    why: why.to_string(),
                }),
                Outcome::Refused(why) => {
                    let reverted = take_back(journal, system)?;
                    return Err(TuningError::Change {
                        action: Box::new(action.clone()),
                        why,
                        reverted: Box::new(reverted),
                    });
                }
            }
        }
    }
    journal.append(&Entry::Complete)?;
    Ok(applied)
}

enum Outcome {
    Done,
    Already,
    Refused(SettingError),
}

fn change(
    journal: &mut Journal,
    step: &Step,
    action: &Action,
    system: &System,
    watch: &mut dyn FnMut(Event),
) -> Result<Outcome, TuningError> {
    let before = match system.read(action) {
        Ok(before) => before,
        Err(why) => return Ok(Outcome::Refused(why)),
    };
    let value = action.value();
    if action.compare().same(&before, &value) {
        return Ok(Outcome::Already);
    }
    let number = journal.history.records.len();
    journal.append(&Entry::Intended {
        number,
        step: step.id.clone(),
        action: action.clone(),
        before: before.clone(),
    })?;
    watch(Event::Intended(number));
    let remembered = matches!(action, Action::Remember { .. });
    let written = if remembered {
        Ok(())
    } else {
        system.set(action, &value)
    };
    watch(Event::Written(number));
    // A write can seem to succeed without taking effect.
    let outcome = written.and_then(|()| {
        if remembered {
            return Ok(());
        }
        let read = system.read(action)?;
        if action.compare().same(&read, &value) {
            Ok(())
        } else {
            Err(SettingError::NotInEffect { wrote: value, read })
        }
    });
    match outcome {
        Ok(()) => {
            journal.append(&Entry::Done { number })?;
            watch(Event::Recorded(number));
            Ok(Outcome::Done)
        }
        Err(why) => {
            journal.append(&Entry::Refused {
                number,
                why: why.to_string(),
            })?;
            watch(Event::Recorded(number));
            Ok(Outcome::Refused(why))
        }
    }
}

/// Reverts all changes in the journal, in reverse order; none if there is no journal.
///
/// # Errors
/// If the journal can't be read, or is of another boot.
pub fn revert(system: &System) -> Result<Option<Reverted>, TuningError> {
    let Some(journal) = Journal::open(system.directory())? else {
        return Ok(None);
    };
    // Without its first line nothing else was written either.
    if !journal.history.boot_id.is_empty() && journal.history.boot_id != boot_id(system)? {
        return Err(TuningError::OtherBoot {
            journal: journal.history.boot_id.clone(),
        });
    }
    take_back(journal, system).map(Some)
}

/// As [`revert`], once the journal is free. A process that is killed closes its files one after another,
/// so a process that notices its end by one of them can find its journal still locked.
///
/// # Errors
/// As [`revert`], except that it waits where the journal is locked.
pub fn revert_when_free(system: &System) -> Result<Option<Reverted>, TuningError> {
    loop {
        match revert(system) {
            Err(TuningError::Journal(JournalError::Busy { .. })) => {
                std::thread::sleep(LOOK_AGAIN_AFTER);
            }
            reverted => return reverted,
        }
    }
}

fn take_back(mut journal: Journal, system: &System) -> Result<Reverted, TuningError> {
    let mut reverted = Reverted::default();
    for number in (0..journal.history.records.len()).rev() {
        let record = journal.history.records[number].clone();
        if record.reverted {
            reverted.restored += 1;
            continue;
        }
        match restore(&record, system) {
            Ok(()) => {
                reverted.restored += 1;
                journal.append(&Entry::Reverted { number })?;
            }
            Err(why) => reverted.left.push(Left {
                action: record.action,
                before: record.before,
                why: why.to_string(),
            }),
        }
    }
    // A value that could not be restored is reported once; another attempt would fail again.
    journal.remove()?;
    Ok(reverted)
}

/// Restores one setting if it is still as it was written.
fn restore(record: &Record, system: &System) -> Result<(), SettingError> {
    let Record { action, before, .. } = record;
    let compare = action.compare();
    let now = match system.read(action) {
        Ok(now) => now,
        // It was never changed, and no longer exists.
        Err(_) if record.refused.is_some() => return Ok(()),
        Err(why) => return Err(why),
    };
    let (written, before) = match action {
        // A controller switched on by `+word` is switched off by `-word`.
        Action::Write { value, .. }
            if value.starts_with('+') && compare == crate::Compare::Word =>
        {
            (value.clone(), format!("-{}", &value[1..]))
        }
        _ => (action.value(), compare.writable(before)),
    };
    if compare.same(&now, &before) {
        return Ok(());
    }
    // A refused write can leave a third value, which we must revert too.
    let theirs = !compare.same(&now, &written) && record.refused.is_none();
    if theirs && !action.follows_another() {
        return Err(SettingError::SetByOthers(now));
    }
    system.set(action, &before)?;
    let read = system.read(action)?;
    if compare.same(&read, &before) {
        Ok(())
    } else {
        Err(SettingError::NotInEffect {
            wrote: before,
            read,
        })
    }
}

fn boot_id(system: &System) -> Result<String, TuningError> {
    let read = system.root().text("/proc/sys/kernel/random/boot_id");
    match read.known() {
        Some(id) => Ok(id.clone()),
        None => Err(TuningError::NoBootId(read.to_string())),
    }
}
