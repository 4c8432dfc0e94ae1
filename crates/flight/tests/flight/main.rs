//! The controller, the plant and replays, compared with published and independent figures.

mod no_allocation;
mod published_flights;
mod replayed_flights;
