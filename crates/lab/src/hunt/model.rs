//! Searches in a model of a kernel, which is cheap enough for thousands of programs.

use super::asked::Way;
use super::corpus::Corpus;
use super::search::Search;
use super::section::Section;
use std::hash::{DefaultHasher, Hash, Hasher};
use wakepath_guest::hunt::{Call, Grammar, Program, Value};

/// Programs of a branch, and branches until a search is given up.
const PROGRAMS: usize = 64;
const BRANCHES: u64 = 200;
/// Calls of the kernel, and the functions that they reach.
const CALLS: u64 = 12;
const FUNCTIONS: f64 = 400.0;
/// Instructions of a program.
const COST: u64 = 1_000_000;

/// The model's calls, and the number of those before the user's.
fn grammar() -> (Grammar, usize) {
    let mut text = String::new();
    for number in 0..CALLS {
        text += &format!("9 other{number}(upto(0x10000), upto(0x100))\n");
    }
    let mut grammar = Grammar::default();
    grammar.read(&text, "the kernel's").unwrap();
    let own = grammar.calls.len();
    let device = "0 Device = open(one(0 1))\n1 step(Device, one(1 2 3), upto(0x10000))\n";
    grammar.read(device, "the user's").unwrap();
    (grammar, own)
}

fn number(call: &Call, argument: usize) -> u64 {
    match call.arguments[argument] {
        Value::Number(number) => number,
        _ => 0,
    }
}

/// The program's sections. Each of the kernel's calls reaches one function, few of them often; each of three steps on
/// one device reaches one.
fn sections(program: &Program) -> Vec<Section> {
    let mut stages = vec![0; program.calls.len()];
    let mut reached = |call: &Call| {
        if call.name == "open" {
            return None;
        }
        if call.name != "step" {
            let mut hasher = DefaultHasher::new();
            (&call.name, &call.arguments).hash(&mut hasher);
            let unit = hasher.finish() as f64 / u64::MAX as f64;
            return Some(format!("other {}", FUNCTIONS.powf(unit) as u64));
        }
        let Value::Result(device) = call.arguments[0] else {
            return None;
        };
        let (step, argument) = (number(call, 1), number(call, 2));
        let is_next = match stages[device] {
            0 => argument > 0x100,
            1 => (0x1000..0x2000).contains(&argument),
            _ => argument & 7 == 5,
        };
        (step == stages[device] + 1 && is_next).then(|| {
            stages[device] = step;
            format!("step {step}")
        })
    };
    let calls = program.calls.iter().enumerate();
    let all = calls.filter_map(|(at, call)| {
        Some(Section {
            began: reached(call)?,
            ended: "end".into(),
            length: 1 << 14,
            call: Some(at),
        })
    });
    all.collect()
}

/// Programs until the third step, of the seed in the middle.
fn programs(way: Way) -> u64 {
    let (grammar, own) = grammar();
    let one = |seed| {
        let mut search = Search::new(&grammar, own, seed, way, Corpus::default());
        let mut count = 0;
        for branch in 0..BRANCHES {
            for job in search.programs(branch, PROGRAMS) {
                count += 1;
                let sections = sections(&job.program);
                if sections.iter().any(|one| one.began == "step 3") {
                    return count;
                }
                search.take(job, sections, COST);
            }
        }
        count
    };
    let mut counts: Vec<u64> = (1..=9).map(one).collect();
    counts.sort_unstable();
    counts[counts.len() / 2]
}

#[test]
fn a_guided_search_needs_far_fewer_programs_where_steps_lead_to_the_section() {
    let [guided, random] = [Way::Guided, Way::Random].map(programs);
    assert!(guided * 3 < random, "{guided} of {random}");
}

#[test]
fn a_search_that_no_known_program_leads_further_runs_new_ones() {
    let (grammar, own) = grammar();
    let mut search = Search::new(&grammar, own, 1, Way::Guided, Corpus::default());
    assert_eq!(search.share_of_new(), 0.5, "at first");
    for branch in 0..BRANCHES {
        for job in search.programs(branch, PROGRAMS) {
            // The kernel's functions end after a while.
            let mut sections = sections(&job.program);
            sections.retain(|one| one.began.starts_with("other"));
            search.take(job, sections, COST);
        }
    }
    assert!(search.share_of_new() > 0.85, "{}", search.share_of_new());
}
