//! The controller, the plant and replays, held against published and independent figures.

mod no_allocation;
mod published_flights;
mod replayed_flights;
