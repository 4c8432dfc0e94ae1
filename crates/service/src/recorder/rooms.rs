//! Which segments are open, on disk before anything is in them, and room for the next.

use super::{Recorder, Slot};
use crate::replay::{self, Open};
use std::io;

impl Recorder<'_> {
    /// A segment began or ended: which are open is on disk, and there is room for the next.
    pub(super) fn turned(&mut self) {
        self.note(self.open());
        let outcome = self.make_room();
        self.check(outcome);
        self.complaints();
    }

    fn note(&mut self, open: Vec<Open>) {
        let outcome = replay::note(self.directory, &open);
        self.check(outcome);
        self.noted = open;
    }

    /// Also notes due times that were doubted since, so that a kill doesn't lose their count. Each
    /// note waits for the disk: with a clock that stays unreliable it is one for each sync.
    pub(super) fn note_doubted(&mut self, syncs: bool) {
        let open = self.open();
        if (syncs || !self.is_noted_since_sync) && open != self.noted {
            self.note(open);
            self.is_noted_since_sync = true;
        } else if syncs {
            self.is_noted_since_sync = false;
        }
    }

    fn open(&self) -> Vec<Open> {
        let open = self.loops.iter().filter_map(|slot| match slot {
            Slot::Taken(of) => of.open(self.program),
            _ => None,
        });
        open.collect()
    }

    /// Removes the oldest segments. Reports anything else in their directory whenever that changes.
    pub(super) fn make_room(&mut self) -> io::Result<()> {
        let but: Vec<String> = self.open().into_iter().map(|of| of.segment).collect();
        // The open segments can grow by this much.
        let growing = self.segment_bytes() * (but.len() as u64).max(1);
        let most = self.settings.keep_bytes.saturating_sub(growing);
        let strange = self.segments.keep(most, &but)?;
        if strange != self.strange {
            if let Some(sentence) = strange.sentence(self.segments.directory()) {
                self.say(sentence);
            }
            self.strange = strange;
        }
        Ok(())
    }
}
