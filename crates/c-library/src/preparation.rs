//! A thread prepared: a function for each policy, so that none can be given the parameters of another.

use crate::text::say;
use std::ffi::c_char;
use wakepath_rt::Preparation;
use wakepath_timeline::Policy;

/// A function for a policy with one parameter.
macro_rules! prepare {
    ($name:ident, $parameter:ident: $kind:ty, $policy:expr, $about:literal) => {
        #[doc = $about]
        ///
        /// # Safety
        /// `cpus` has `cpu_count` numbers, or is null; `said` has room for `said_bytes`, or is null.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name(
            $parameter: $kind,
            cpus: *const u16,
            cpu_count: usize,
            said: *mut c_char,
            said_bytes: usize,
        ) -> i32 {
            // SAFETY: the caller's promise.
            unsafe { prepare($policy, cpus, cpu_count, said, said_bytes) }
        }
    };
}

prepare!(
    wakepath_prepare_other,
    nice: i8,
    Policy::Other { nice },
    "Prepares the calling thread under OTHER."
);
prepare!(
    wakepath_prepare_fifo,
    priority: u8,
    Policy::Fifo { priority },
    "Prepares the calling thread under FIFO."
);
prepare!(
    wakepath_prepare_rr,
    priority: u8,
    Policy::RoundRobin { priority },
    "Prepares the calling thread under RR."
);
prepare!(
    wakepath_prepare_evl_fifo,
    priority: u8,
    Policy::EvlFifo { priority },
    "Prepares the calling thread under FIFO on EVL, the core of Xenomai 4."
);
prepare!(
    wakepath_prepare_cobalt_fifo,
    priority: u8,
    Policy::CobaltFifo { priority },
    "Prepares the calling thread under FIFO on Cobalt, the core of Xenomai 3."
);

/// Prepares the calling thread under DEADLINE.
///
/// # Safety
/// As `wakepath_prepare_other`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn wakepath_prepare_deadline(
    runtime_ns: u64,
    deadline_ns: u64,
    period_ns: u64,
    said: *mut c_char,
    said_bytes: usize,
) -> i32 {
    let policy = Policy::Deadline {
        runtime_ns,
        deadline_ns,
        period_ns,
    };
    // SAFETY: the caller's promise.
    unsafe { prepare(policy, std::ptr::null(), 0, said, said_bytes) }
}

/// The number of shortfalls, described in `said`; −1 if the thread can't be prepared.
///
/// # Safety
/// As `wakepath_prepare_other`.
unsafe fn prepare(
    policy: Policy,
    cpus: *const u16,
    cpu_count: usize,
    said: *mut c_char,
    said_bytes: usize,
) -> i32 {
    let cpus = match cpus.is_null() || cpu_count == 0 {
        true => None,
        // SAFETY: the caller's promise.
        false => Some(unsafe { std::slice::from_raw_parts(cpus, cpu_count) }.to_vec()),
    };
    let prepared = Preparation {
        policy,
        cpus,
        ..Preparation::default()
    }
    .apply();
    let (answer, text) = match prepared {
        Ok(prepared) => {
            let lines: Vec<String> = prepared
                .shortfalls
                .iter()
                .map(ToString::to_string)
                .collect();
            (lines.len() as i32, lines.join("\n"))
        }
        Err(why) => (-1, format!("{policy}: {why}")),
    };
    // SAFETY: the caller's promise.
    unsafe { say(said, said_bytes, &text) };
    answer
}
