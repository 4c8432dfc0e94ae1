//! Recording of kernel events: start, missing rights, traces to keep.
//!
//! Reports events that aren't available once; the recording continues without them.

use super::Recorder;
use crate::incidents::{Incidents, IncidentsError};
use crate::terms::Found;

impl Recorder<'_> {
    /// Makes the kernel record the events of the program's CPUs.
    pub(super) fn begin_traces(&mut self) {
        if self.settings.traces {
            let program = rustix::process::Pid::from_raw(self.program.cast_signed());
            let cpus = wakepath_rt::affinity::of(program);
            let begun = cpus.map_err(IncidentsError::from).and_then(|cpus| {
                Incidents::begin(
                    self.directory,
                    &cpus,
                    !self.settings.resumes,
                    &mut self.worst,
                )
            });
            self.took_up_tracing(begun);
        }
    }

    /// Extends the recording of events to the CPUs of a new loop.
    pub(super) fn trace_where(&mut self, found: &Found) {
        let Some(incidents) = &mut self.incidents else {
            return;
        };
        incidents.know(found);
        let missing = incidents.lacks(&found.cpus);
        if !missing.is_empty() {
            let cpus = [incidents.cpus(), &missing[..]].concat();
            // The kernel's instance has this process's name, and there can't be two.
            let incidents = self.incidents.take();
            let begun = incidents.map_or(Ok(None), |of| of.anew(&cpus).map(Some));
            match begun {
                Ok(incidents) => self.incidents = incidents,
                Err(why) => self.took_up_tracing(Err(why)),
            }
        }
    }

    /// Reports a failure once; the recording continues without events.
    fn took_up_tracing(&mut self, begun: Result<Incidents, IncidentsError>) {
        match begun {
            Ok(incidents) => {
                self.say(incidents.in_words());
                self.incidents = Some(incidents);
            }
            Err(why) => self.say(format!("the kernel's events are not recorded: {why}")),
        }
    }

    /// Stores the events around the bad cycles just found.
    pub(super) fn keep_traces(&mut self) {
        let offered = self.worst.offered();
        if let Some(incidents) = &mut self.incidents {
            let outcome = incidents.keep(offered, &mut self.worst, self.terms);
            // Before a kill can take away that the trace is there.
            let outcome = outcome.and_then(|is_new| {
                if is_new {
                    self.worst.write(self.directory)
                } else {
                    Ok(())
                }
            });
            self.check(outcome);
        }
    }
}
