//! Makes programs from the grammar, and changes them. Pure: random numbers come from a seed.

mod value;

use wakepath_guest::hunt::{Call, CallRule, Grammar, MOST_CALLS, Program, Rule, Value};
use wakepath_statistics::SplitMix;

/// Most calls of a new program.
const NEW_CALLS: u64 = 10;
/// Most times that a call is repeated, as a power of two.
const MOST_TIMES: u64 = 10;
/// One in this number of calls is one that the user added.
const ADDED: u64 = 4;
/// One change in this number is the last.
const CHANGES: u64 = 4;
/// Source of programs.
#[derive(Debug)]
pub struct Generator<'a> {
    grammar: &'a Grammar,
    /// Number of rules before those that the user added.
    own: usize,
    random: SplitMix,
}

impl<'a> Generator<'a> {
    /// The same key gives the same programs. Of the rules, the first `own` are wakepath's.
    pub fn new(grammar: &'a Grammar, own: usize, key: &[u64]) -> Self {
        Self {
            grammar,
            own,
            random: SplitMix::of_key(key),
        }
    }

    /// A number below `end`.
    pub fn below(&mut self, end: u64) -> u64 {
        match end {
            0 => 0,
            end => self.random.bits() % end,
        }
    }

    /// Between 0 and 1.
    pub fn unit(&mut self) -> f64 {
        self.random.unit()
    }

    /// A new program.
    pub fn program(&mut self) -> Program {
        self.extended(&Program::default())
    }

    /// A program with new calls at its end, which keeps what its own do.
    pub fn extended(&mut self, old: &Program) -> Program {
        let mut program = old.clone();
        let calls = program.calls.len() + 1 + self.below(NEW_CALLS) as usize;
        let calls = calls.min(MOST_CALLS);
        while program.calls.len() < calls {
            let at = program.calls.len();
            self.add(&mut program, at, 0);
        }
        program
    }

    /// A program like `old`, with changes; `other` gives calls. Half of the changes of a call are those of
    /// `likely`, if there is one.
    pub fn changed(&mut self, old: &Program, likely: Option<usize>, other: &Program) -> Program {
        let mut program = old.clone();
        let mut likely = likely.filter(|call| *call < program.calls.len());
        loop {
            let calls = program.calls.len();
            match self.below(20) {
                0..=6 => {
                    let at = self.place(calls);
                    self.add(&mut program, at, 0);
                }
                7 if calls > 1 => program = program.without(self.below(calls as u64) as usize),
                8 => self.append(&mut program, other),
                9 if calls > 0 && calls < MOST_CALLS => {
                    let call = self.call(calls, likely);
                    program.calls.push(program.calls[call].clone());
                }
                10..=12 if calls > 0 => {
                    let call = self.call(calls, likely);
                    program.calls[call].times = self.times();
                }
                _ if calls > 0 => {
                    let call = self.call(calls, likely);
                    self.change_argument(&mut program, call);
                }
                _ => self.add(&mut program, 0, 0),
            }
            if program.calls.len() != calls {
                // It can have another number now.
                likely = None;
            }
            if self.below(CHANGES) == 0 {
                return program;
            }
        }
    }

    /// A place for a new call: mostly the end, where the calls before it have done their work.
    fn place(&mut self, calls: usize) -> usize {
        match self.below(3) {
            0 => self.below(calls as u64 + 1) as usize,
            _ => calls,
        }
    }

    /// A call to change.
    fn call(&mut self, calls: usize, likely: Option<usize>) -> usize {
        match likely {
            Some(call) if self.below(2) == 0 => call,
            _ => self.below(calls as u64) as usize,
        }
    }

    fn append(&mut self, program: &mut Program, other: &Program) {
        let offset = program.calls.len();
        for call in other.calls.iter().take(MOST_CALLS - offset) {
            let mut call = call.clone();
            for value in &mut call.arguments {
                value.renumber(&|used| Some(used + offset));
            }
            program.calls.push(call);
        }
    }

    /// A program with a new one after it.
    pub fn followed(&mut self, old: &Program) -> Program {
        let mut program = old.clone();
        let new = self.program();
        self.append(&mut program, &new);
        program
    }

    /// Inserts a random call, after the calls that it needs.
    fn add(&mut self, program: &mut Program, at: usize, depth: u32) {
        let all = &self.grammar.calls[..];
        // The user's calls are few, and meant.
        let from = if self.own < all.len() && self.below(ADDED) == 0 {
            self.own
        } else {
            0
        };
        // Calls on the same resource have more to do with each other.
        let related = match self.below(4) {
            0 => Vec::new(),
            _ => self.related(program, at, from),
        };
        let rule = match related.len() {
            0 => &all[from + self.below((all.len() - from) as u64) as usize],
            related_rules => related[self.below(related_rules as u64) as usize],
        };
        self.add_rule(program, at, rule, depth);
    }

    /// The rules from a number on that need a resource which a call of the program before `at` returns.
    fn related(&self, program: &Program, at: usize, from: usize) -> Vec<&'a CallRule> {
        let before = program.calls.iter().take(at);
        let made = before.filter_map(|call| self.rule_of(call));
        let kinds: Vec<&str> = made
            .flat_map(|rule| &rule.outputs)
            .map(|output| output.resource.as_str())
            .collect();
        let grammar = self.grammar;
        // A rule for exactly this kind: a file has dozens.
        let uses = |rule: &&CallRule| {
            rule.arguments.iter().any(|argument| match argument {
                Rule::Resource(wanted) => kinds.contains(&wanted.as_str()),
                _ => false,
            })
        };
        grammar.calls[from..].iter().filter(uses).collect()
    }

    /// Inserts a call by its rule, and returns its place; none if the program is full.
    fn add_rule(
        &mut self,
        program: &mut Program,
        at: usize,
        rule: &CallRule,
        depth: u32,
    ) -> Option<usize> {
        let before = program.calls.len();
        let mut arguments = Vec::new();
        for wanted in &rule.arguments {
            let inserted = program.calls.len() - before;
            arguments.push(self.value(program, at + inserted, wanted, depth));
        }
        if program.calls.len() >= MOST_CALLS {
            return None;
        }
        let at = at + (program.calls.len() - before);
        let times = if depth == 0 { self.times() } else { 1 };
        let call = Call {
            name: rule.name.clone(),
            times,
            arguments,
        };
        for later in &mut program.calls[at..] {
            for value in &mut later.arguments {
                value.renumber(&|used| Some(used + usize::from(used >= at)));
            }
        }
        program.calls.insert(at, call);
        Some(at)
    }

    fn times(&mut self) -> u32 {
        match self.below(5) {
            0 => 1 << self.below(MOST_TIMES + 1),
            _ => 1,
        }
    }

    /// Whether a call follows a rule that the user added.
    pub fn is_added(grammar: &Grammar, own: usize, call: &Call) -> bool {
        own < grammar.calls.len() && {
            let rule = Generator::new(grammar, own, &[]).rule_of(call);
            rule.is_some_and(|rule| {
                grammar.calls[own..]
                    .iter()
                    .any(|one| std::ptr::eq(one, rule))
            })
        }
    }

    /// The rule that a call follows: of those with its name the one that most of its arguments fit, the
    /// user's before wakepath's.
    fn rule_of(&self, call: &Call) -> Option<&'a CallRule> {
        let rules =
            self.grammar.calls.iter().filter(|rule| {
                rule.name == call.name && rule.arguments.len() == call.arguments.len()
            });
        rules.max_by_key(|rule| {
            let both = rule.arguments.iter().zip(&call.arguments);
            both.filter(|(rule, value)| fits(rule, value)).count()
        })
    }
}

/// Whether a rule gives such a value. Numbers below a limit are changed beyond it.
fn fits(rule: &Rule, value: &Value) -> bool {
    match (rule, value) {
        (Rule::Number(number), Value::Number(is)) => number == is,
        (Rule::Text(text), Value::Text(is)) => text == is,
        (Rule::One(rules), value) => rules.iter().any(|rule| fits(rule, value)),
        (Rule::Any(bits), Value::Number(is)) => {
            is & !bits.iter().fold(0, |all, bit| all | bit) == 0
        }
        (Rule::UpTo(_), Value::Number(_)) | (Rule::Room(_), Value::Room(_)) => true,
        (Rule::Block(rules), Value::Block(fields)) => {
            let mut both = rules.iter().zip(fields);
            rules.len() == fields.len() && both.all(|((rule, _), field)| fits(rule, &field.value))
        }
        (Rule::Resource(_), Value::Result(_) | Value::Written { .. } | Value::Number(u64::MAX)) => {
            true
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use wakepath_guest::hunt::parse;

    proptest! {
        /// Whatever is generated or changed is sound, and its text gives the same program.
        #[test]
        fn programs_are_sound_and_their_text_gives_the_same(key in any::<u64>()) {
            let grammar = Grammar::own();
            let mut generator = Generator::new(&grammar, grammar.calls.len(), &[key]);
            let mut old = generator.program();
            for _ in 0..20 {
                let other = generator.program();
                prop_assert!(other.is_sound(), "{other}");
                let likely = Some(generator.below(9) as usize);
                let changed = match generator.below(3) {
                    0 => generator.extended(&old),
                    1 => generator.followed(&old),
                    _ => generator.changed(&old, likely, &other),
                };
                prop_assert!(changed.is_sound(), "{changed}");
                prop_assert_eq!(&parse(&changed.to_string()).unwrap(), &changed);
                old = changed;
            }
        }

        /// A call removed from a sound program leaves a sound one.
        #[test]
        fn a_program_without_a_call_is_sound(key in any::<u64>(), place in any::<prop::sample::Index>()) {
            let grammar = Grammar::own();
            let program = Generator::new(&grammar, grammar.calls.len(), &[key]).program();
            let without = program.without(place.index(program.calls.len()));
            prop_assert!(without.is_sound(), "{without}");
            prop_assert_eq!(without.calls.len() + 1, program.calls.len());
        }
    }

    #[test]
    fn the_same_key_gives_the_same_programs() {
        let grammar = Grammar::own();
        let programs = |key| {
            let mut generator = Generator::new(&grammar, grammar.calls.len(), &[key]);
            (0..50).map(|_| generator.program()).collect::<Vec<_>>()
        };
        assert_eq!(programs(1), programs(1));
        assert_ne!(programs(1), programs(2));
    }

    #[test]
    fn a_call_that_needs_a_resource_mostly_has_one() {
        let grammar = Grammar::own();
        let mut generator = Generator::new(&grammar, grammar.calls.len(), &[7]);
        let (mut with, mut all) = (0, 0);
        for _ in 0..500 {
            for call in generator.program().calls {
                if call.name == "epoll_ctl" {
                    all += 1;
                    with += usize::from(!call.arguments[0].uses().is_empty());
                }
            }
        }
        assert!(all > 10 && with * 10 >= all * 9, "{with} of {all}");
    }

    #[test]
    fn calls_that_the_user_added_are_a_quarter() {
        let mut grammar = Grammar::own();
        let own = grammar.calls.len();
        grammar.read("1000 mine(1)\n", "mine.txt").unwrap();
        let mut generator = Generator::new(&grammar, own, &[3]);
        let calls = (0..300).flat_map(|_| generator.program().calls);
        let (mine, others): (Vec<_>, Vec<_>) = calls.partition(|call| call.name == "mine");
        // Calls for resources come on top of the others.
        let share = mine.len() as f64 / (mine.len() + others.len()) as f64;
        assert!((0.1..0.3).contains(&share), "{share}");
    }

    #[test]
    fn a_call_that_the_user_added_follows_its_own_rule_though_another_has_its_name() {
        let mut grammar = Grammar::own();
        let own = grammar.calls.len();
        let mine = "Mine is File\n257 Mine = openat(-100, \"/dev/mine\", 2, 0)\n\
                    16 ioctl(Mine, one(0x7001 0x7002), upto(0x10000))\n";
        grammar.read(mine, "mine.txt").unwrap();
        let generator = Generator::new(&grammar, own, &[1]);
        let text = "r0 = openat(-100, \"/dev/mine\", 2, 0)\nr1 = ioctl(r0, 0x7002, 0x55555)\n\
                    r2 = openat(-100, \"a\", 0x42, 0x1ff)\nr3 = ioctl(r2, 0x5421, room(256))\n";
        let program = parse(text).unwrap();
        let number = |call: usize| {
            let rule = generator.rule_of(&program.calls[call]).unwrap();
            grammar.calls.iter().position(|one| std::ptr::eq(one, rule))
        };
        assert_eq!((number(0), number(1)), (Some(own), Some(own + 1)));
        assert!(number(2) < Some(own) && number(3) < Some(own));
        let related = generator.related(&program, 1, 0);
        assert_eq!(related.len(), 1, "only what needs exactly this resource");
    }
}
