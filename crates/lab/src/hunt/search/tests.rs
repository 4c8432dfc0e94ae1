use super::*;
use wakepath_guest::hunt::parse;

const TEXT: &str = "r0 = dup(1)\nr1 = sync()\nr2 = dup(r0)\n";

fn section(began: &str, length: u64, call: Option<usize>) -> Section {
    Section {
        began: began.into(),
        ended: "end".into(),
        length,
        call,
    }
}

fn search(grammar: &Grammar, way: Way) -> Search<'_> {
    Search::new(grammar, grammar.calls.len(), 1, way, Corpus::default())
}

/// A section that matters however few repeat it, and one that doesn't.
fn long_and_short() -> Vec<Section> {
    vec![
        section("long", 9_000, Some(2)),
        section("short", 50, Some(2)),
    ]
}

fn explore() -> Job {
    Job {
        program: parse(TEXT).unwrap(),
        aim: Aim::Explore(Kind::New),
    }
}

#[test]
fn a_program_is_kept_once_the_calls_that_matter_cause_its_section_again() {
    let grammar = Grammar::own();
    let mut search = search(&grammar, Way::Guided);
    assert!(
        search
            .take(explore(), vec![section("a", 50, Some(2))], 9)
            .is_none()
    );
    let mut jobs = search.programs(0, 8);
    assert_eq!(jobs.len(), 8);
    let smaller = jobs.remove(0);
    assert_eq!(
        smaller.program,
        parse("r0 = dup(1)\nr1 = dup(r0)\n").unwrap()
    );
    let entry = search
        .take(smaller, vec![section("a", 60, Some(1))], 5)
        .unwrap();
    assert_eq!(
        (entry.sections[0].call, entry.cost, entry.is_confirmed),
        (Some(1), 5, true)
    );
    assert!(
        search
            .take(explore(), vec![section("a", 50, Some(2))], 9)
            .is_none()
    );
    assert!(search.waiting.is_empty(), "nothing new");
}

#[test]
fn a_section_that_does_not_return_is_tried_whole_and_kept_for_the_table_if_it_is_long() {
    let grammar = Grammar::own();
    let mut search = search(&grammar, Way::Guided);
    search.take(explore(), long_and_short(), 9);
    let smaller = search.programs(0, 1).remove(0);
    assert!(search.take(smaller, Vec::new(), 5).is_none());
    let whole = search.programs(1, 1).remove(0);
    assert_eq!(whole.program, parse(TEXT).unwrap());
    let entry = search.take(whole, Vec::new(), 9).unwrap();
    assert_eq!((entry.sections.len(), entry.is_confirmed), (1, false));
    assert_eq!(search.corpus.longest()[0].section.began, "long");
    assert_eq!(
        search.corpus.choose([0.0, 0.0], &|_| true),
        None,
        "never changed"
    );
}

#[test]
fn at_its_end_a_search_keeps_the_long_sections_that_it_did_not_confirm() {
    let grammar = Grammar::own();
    let mut search = search(&grammar, Way::Guided);
    search.take(explore(), long_and_short(), 9);
    assert_eq!(search.end(), 0);
    let entry = &search.corpus.entries()[0];
    assert_eq!(
        (&entry.program, entry.sections.len()),
        (&parse(TEXT).unwrap(), 1)
    );
    assert_eq!(search.end(), 1);
}

#[test]
fn at_least_half_of_the_programs_are_new_and_more_if_changed_ones_bring_less() {
    let grammar = Grammar::own();
    let mut search = search(&grammar, Way::Guided);
    let mut yields = |new: f64, changed: f64| {
        search.yields = [new, changed].map(|kept| Yield { kept, cost: 99.0 });
        search.share_of_new()
    };
    assert_eq!(yields(9.0, 10.0), 0.5);
    assert_eq!(yields(0.0, 99.0), 0.5);
    assert_eq!(yields(99.0, 9.0), 0.9);
    assert_eq!(yields(0.0, 0.0), 0.9, "no known program leads further");
}

#[test]
fn what_a_confirmation_reaches_first_is_confirmed_too() {
    let grammar = Grammar::own();
    let mut search = search(&grammar, Way::Guided);
    search.take(explore(), vec![section("a", 50, Some(2))], 9);
    let first = search.programs(0, 1).remove(0);
    let sections = vec![section("a", 50, Some(1)), section("b", 50, Some(1))];
    search.take(first, sections, 9);
    let second = search.programs(1, 1).remove(0);
    search.take(second, vec![section("b", 50, Some(1))], 9);
    let entries = search.corpus.entries();
    let began = |number: usize| entries[number].sections[0].began.as_str();
    assert_eq!((entries.len(), began(0), began(1)), (2, "a", "b"));
}

#[test]
fn a_random_hunt_confirms_nothing() {
    let grammar = Grammar::own();
    let mut search = search(&grammar, Way::Random);
    assert!(
        search
            .take(explore(), vec![section("a", 50, Some(2))], 9)
            .is_some()
    );
    assert!(search.waiting.is_empty());
}
