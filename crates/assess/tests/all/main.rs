//! Everything that is tested through what wakepath-assess gives out.

mod assessments;
mod comparisons;
mod flights;
