//! Findings and pages from hand-made runs: the known answers are the figures put in.

mod boards;
mod page;

wakepath_test_program::program!(boards::TESTS, page::TESTS);

/// All pages in one text.
fn text_of(experiments: &[wakepath_experiments::Repeated]) -> String {
    let pages = wakepath_experiments::pages(experiments);
    let texts = pages.experiments.iter().map(|(_, text)| text.as_str());
    pages.index + &texts.collect::<String>()
}
