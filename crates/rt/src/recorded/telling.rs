//! A loop's telemetry: timed sections, log lines and values.
//!
//! Written to the recorder's memory without formatting or evaluating anything.

#![allow(unsafe_code)] // A format of C's, by its address.

use super::Loop;
use crate::clock;
use crate::said::{Argument, Style};
use crate::sections::Section;
use std::sync::atomic::Ordering;
use std::time::Duration;

impl Loop {
    /// Declares a part of the cycle to time, with its longest acceptable time, if any. The same
    /// name gives the same section; beyond [`crate::sections::MOST`] of them, and without a
    /// recorder, nothing is timed. Call before the first cycle: it takes longer than a section
    /// itself.
    pub fn section(&mut self, name: &str, budget: Option<Duration>) -> Section {
        let budget_ns = budget.map_or(0, |budget| budget.as_nanos().try_into().unwrap_or(u64::MAX));
        match self.ours() {
            // It could not be distinguished from others.
            Some(_) if name.is_empty() => Section::NONE,
            Some(recorded) => {
                let section = recorded.timed.declare(name, budget_ns);
                if section == Section::NONE {
                    let announcement = recorded.memory.announcement(recorded.ring);
                    announcement.sections_beyond.fetch_add(1, Ordering::Relaxed);
                }
                section
            }
            None => Section::NONE,
        }
    }

    /// Begins a section. Sections can be nested.
    #[inline]
    pub fn begin(&mut self, section: Section) {
        if let Some(recorded) = self.ours() {
            recorded.timed.begin(section);
        }
    }

    /// Ends a section. An end without a begin is counted and reported in the run.
    #[inline]
    pub fn end(&mut self, section: Section) {
        if let Some(recorded) = self.ours()
            && let Some((from_ns, to_ns)) = recorded.timed.end(section)
        {
            recorded.said_section(section, from_ns, to_ns);
        }
    }

    /// One section ends and another begins at the same instant, for one reading of the clock instead of two:
    ///
    /// ```no_run
    /// # fn loop_(mut cycles: wakepath_rt::Loop) {
    /// let [read, update, write] = ["read", "update", "write"].map(|name| cycles.section(name, None));
    /// while let Some(activation) = cycles.wait() {
    ///     cycles.begin(read);
    ///     // …
    ///     cycles.switch(read, update);
    ///     // …
    ///     cycles.switch(update, write);
    ///     // …
    ///     cycles.end(write);
    ///     cycles.finish(activation);
    /// }
    /// # }
    /// ```
    #[inline]
    pub fn switch(&mut self, ended: Section, begun: Section) {
        if let Some(recorded) = self.ours()
            && let Some((from_ns, to_ns)) = recorded.timed.switch(ended, begun)
        {
            recorded.said_section(ended, from_ns, to_ns);
        }
    }

    /// Writes a line to the loop's log. The arguments are copied, and the format is identified by
    /// its address; the recorder formats the line, `{}` by `{}`. Costs one clock reading and no
    /// system call. If the recorder is too slow, the line is dropped and counted; if nobody
    /// records, nothing happens. [`crate::log!`] counts the arguments when it is compiled. Only the
    /// first [`crate::said::MOST_ARGUMENTS`] arguments are kept.
    #[inline]
    pub fn log(&mut self, format: &'static str, arguments: &[Argument<'_>]) {
        let Some(recorded) = self.ours() else {
            return;
        };
        match recorded.formats.number(format.as_bytes(), Style::Braces) {
            Some(number) => {
                let at_ns = clock::monotonic_ns();
                recorded.said.line(number, recorded.cycle, at_ns, arguments);
            }
            None => recorded.leave_out_a_format(),
        }
    }

    /// Says a value of this cycle: a height, a duty, a count.
    #[inline]
    pub fn value(&mut self, name: &'static str, value: f64) {
        self.value_of(name.as_bytes(), value);
    }

    /// For the library for C: as [`Loop::value`].
    #[doc(hidden)]
    #[inline]
    pub fn value_of(&mut self, name: &'static [u8], value: f64) {
        let Some(recorded) = self.ours() else {
            return;
        };
        match recorded.formats.number(name, Style::Name) {
            Some(number) => {
                let at_ns = clock::monotonic_ns();
                recorded.said.value(number, recorded.cycle, at_ns, value);
            }
            None => recorded.leave_out_a_format(),
        }
    }

    /// For the library for C: number and argument codes of a `printf` format; `None` if nobody
    /// records, or the format isn't supported.
    ///
    /// # Safety
    /// `format` ends with a NUL, stays at its address, and keeps its text.
    #[doc(hidden)]
    #[inline]
    pub unsafe fn format_of_c(&mut self, format: *const std::ffi::c_char) -> Option<(u16, u32)> {
        let recorded = self.ours()?;
        // SAFETY: the caller's promise.
        let found = unsafe { recorded.formats.of_c(format) };
        if found.is_none() {
            recorded.leave_out_a_format();
        }
        found
    }

    /// For the library for C: number of a format with `{}`; `None` as for [`Loop::format_of_c`].
    #[doc(hidden)]
    #[inline]
    pub fn format_of(&mut self, format: &'static [u8]) -> Option<u16> {
        let recorded = self.ours()?;
        let found = recorded.formats.number(format, Style::Braces);
        if found.is_none() {
            recorded.leave_out_a_format();
        }
        found
    }

    /// For the library for C: a line of a format that [`Loop::format_of_c`] knows.
    #[doc(hidden)]
    #[inline]
    pub fn log_numbered(&mut self, format: u16, arguments: &[Argument<'_>]) {
        if let Some(recorded) = self.ours() {
            let at_ns = clock::monotonic_ns();
            recorded.said.line(format, recorded.cycle, at_ns, arguments);
        }
    }

    /// Times a part of the cycle.
    #[inline]
    pub fn time<R>(&mut self, section: Section, part: impl FnOnce() -> R) -> R {
        self.begin(section);
        let result = part();
        self.end(section);
        result
    }
}
