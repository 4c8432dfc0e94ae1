//! Findings and pages from hand-made runs: the known answers are the figures put in.

mod boards;
mod claims;
mod index;
mod page;
mod runs;

wakepath_test_program::program!(boards::TESTS, claims::TESTS, index::TESTS, page::TESTS);

/// All pages in one text.
fn text_of(experiments: &[wakepath_experiments::Repeated]) -> String {
    let pages = wakepath_experiments::pages(experiments);
    let texts = pages.experiments.iter().map(|(_, text)| text.as_str());
    wakepath_experiments::index(&pages.entries) + &texts.collect::<String>()
}
