//! Everything that is tested through what wakepath-report gives out.

mod page;
