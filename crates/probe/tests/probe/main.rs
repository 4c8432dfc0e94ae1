//! The probe on recorded pages and on the kernel at hand.

mod recorded_pages;
mod this_kernel;
