//! Everything that is tested through what wakepath-assess gives out.

mod assessments;
mod bounds;
mod comparisons;
mod flights;
mod under_way;
