//! Everything that is tested through what wakepath-assess gives out.

mod answers;
mod assessments;
mod bounds;
mod compared_threads;
mod comparisons;
mod flights;
mod made_up;
mod under_way;
