//! The page in a real browser: what it shows are the archive's numbers, it answers to pointer and
//! keyboard, it asks nobody for anything, and no name can become part of it.

mod browser;
mod causes;
mod comparison;
mod cpus;
mod explorer;
mod front;
mod hostile;
mod made_up;
mod old_archives;
mod on_paper;
mod schema;
mod shown;
mod size;
mod unknown;
