//! Prefetches memory before its use.
//!
//! After a sleep each cache line that a loop touches is a wait for memory; lines prefetched
//! together arrive together, while the loop does something else. Nothing here changes a value, only
//! time.

#![allow(unsafe_code)] // Instructions that have no safe name.

/// Bytes of a cache line on most machines; on others some lines are prefetched twice.
const LINE: usize = 64;

/// Prefetches the cache line of this address. It neither waits nor fails, even for an invalid
/// address.
#[inline]
pub(crate) fn ask_for<T>(place: *const T) {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    // SAFETY: it reads nothing that anybody sees, and no address makes it fault.
    unsafe {
        use core::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T0>(place.cast());
    }
    #[cfg(all(target_arch = "aarch64", not(miri)))]
    // SAFETY: as above.
    unsafe {
        core::arch::asm!(
            "prfm pstl1keep, [{place}]",
            place = in(reg) place,
            options(nostack, readonly, preserves_flags)
        );
    }
    // ARMv7 has `pld` only in some of its variants; there, and elsewhere, memory is loaded when it
    // is used.
    #[cfg(not(all(any(target_arch = "x86_64", target_arch = "aarch64"), not(miri))))]
    let _ = place;
}

/// Asks for all cache lines of a value.
#[inline]
pub(crate) fn ask_for_all_of<T>(value: &T) {
    let first = std::ptr::from_ref(value).cast::<u8>();
    for line in 0..size_of::<T>().div_ceil(LINE) {
        ask_for(first.wrapping_add(LINE * line));
    }
}
