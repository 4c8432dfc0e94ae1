//! The page in a real browser: it shows the archive's numbers, answers to pointer and keyboard, requests
//! nothing from anyone, and treats no name as markup.

mod browser;
mod causes;
mod comparison;
mod contrast;
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
