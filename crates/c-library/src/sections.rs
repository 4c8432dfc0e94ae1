//! Named sections of a cycle.

use crate::cycles::CLoop;
use crate::text::text_of;
use std::ffi::c_char;
use std::time::Duration;
use wakepath_rt::Section;

/// `WAKEPATH_NO_SECTION` of the header.
const NO_SECTION: u32 = u32::MAX;

/// A section with this name; `WAKEPATH_NO_SECTION` if nothing is timed.
///
/// # Safety
/// As `wakepath_loop_wait`; `name` ends with a NUL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn wakepath_loop_section(
    of: *mut CLoop,
    name: *const c_char,
    budget_ns: u64,
) -> u32 {
    // SAFETY: the caller's promise.
    let (of, name) = unsafe { (of.as_mut(), text_of(name)) };
    let (Some(of), Some(name)) = (of, name) else {
        return NO_SECTION;
    };
    let budget = (budget_ns != 0).then(|| Duration::from_nanos(budget_ns));
    let section = of.cycles.section(name, budget);
    section.number().map_or(NO_SECTION, u32::from)
}

/// A section begins.
///
/// # Safety
/// As `wakepath_loop_wait`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn wakepath_section_begin(of: *mut CLoop, section: u32) {
    // SAFETY: the caller's promise.
    if let (Some(of), Ok(number)) = (unsafe { of.as_mut() }, section.try_into()) {
        of.cycles.begin(Section::new(number));
    }
}

/// A section ends.
///
/// # Safety
/// As `wakepath_loop_wait`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn wakepath_section_end(of: *mut CLoop, section: u32) {
    // SAFETY: the caller's promise.
    if let (Some(of), Ok(number)) = (unsafe { of.as_mut() }, section.try_into()) {
        of.cycles.end(Section::new(number));
    }
}

/// Ends one section and begins another at the same time.
///
/// # Safety
/// As `wakepath_loop_wait`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn wakepath_section_switch(of: *mut CLoop, ended: u32, begun: u32) {
    // SAFETY: the caller's promise.
    if let Some(of) = unsafe { of.as_mut() } {
        let section = |number: u32| Section::new(number.try_into().unwrap_or(u8::MAX));
        of.cycles.switch(section(ended), section(begun));
    }
}
