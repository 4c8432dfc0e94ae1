//! The laboratory's pure folders against answers worked out by hand. Guests are booted by wakepath's own
//! tests of the laboratory.

mod folding;
mod page;
