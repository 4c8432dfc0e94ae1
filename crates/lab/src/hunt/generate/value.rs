//! Values of a program's arguments: made by a rule, and changed.

use super::Generator;
use wakepath_guest::hunt::{CallRule, Field, Output, Program, Rule, Value};

/// Depth up to which calls are added that return a resource which another call needs.
const DEEPEST: u32 = 3;

impl Generator<'_> {
    /// A value by its rule, for a call that will be inserted at `at`, or after the calls inserted there
    /// for this value.
    pub(super) fn value(
        &mut self,
        program: &mut Program,
        at: usize,
        rule: &Rule,
        depth: u32,
    ) -> Value {
        match rule {
            Rule::Number(number) => Value::Number(*number),
            Rule::Text(text) => Value::Text(text.clone()),
            Rule::One(rules) => {
                let chosen = self.below(rules.len() as u64) as usize;
                self.value(program, at, &rules[chosen], depth)
            }
            Rule::Any(bits) => {
                let mut number = 0;
                for bit in bits {
                    if self.below(2) == 0 {
                        number |= bit;
                    }
                }
                Value::Number(number)
            }
            Rule::UpTo(most) => Value::Number(self.up_to(*most)),
            Rule::Room(most) => Value::Room(self.up_to(*most).max(1)),
            Rule::Block(rules) => {
                let before = program.calls.len();
                let mut fields = Vec::new();
                for (rule, bytes) in rules {
                    let inserted = program.calls.len() - before;
                    fields.push(Field {
                        value: self.value(program, at + inserted, rule, depth),
                        bytes: *bytes,
                    });
                }
                Value::Block(fields)
            }
            Rule::Resource(kind) => self.resource(program, at, kind, depth),
        }
    }

    /// A number with as many of each length in bits, and now and then the largest.
    fn up_to(&mut self, most: u64) -> u64 {
        let bits = u64::from(u64::BITS - most.leading_zeros());
        match self.below(8) {
            0 => most,
            _ => match self.below(bits + 1) {
                0 => 0,
                bits => (self.random.bits() >> (64 - bits)).min(most),
            },
        }
    }

    fn resource(&mut self, program: &mut Program, at: usize, kind: &str, depth: u32) -> Value {
        let calls = program.calls.iter().take(at).enumerate();
        let outputs = calls.flat_map(|(number, call)| {
            let rule = self.rule_of(call);
            let outputs = rule.into_iter().flat_map(|rule| &rule.outputs);
            outputs.map(move |output| (number, output))
        });
        let fitting: Vec<(usize, &Output)> = outputs
            .filter(|(_, output)| self.grammar.is(&output.resource, kind))
            .collect();
        // Mostly one that is there.
        if !fitting.is_empty() && (depth >= DEEPEST || self.below(8) > 0) {
            let (number, output) = fitting[self.below(fitting.len() as u64) as usize];
            return result(number, output);
        }
        let grammar = self.grammar;
        let makers: Vec<(&CallRule, &Output)> = grammar
            .calls
            .iter()
            .flat_map(|rule| rule.outputs.iter().map(move |output| (rule, output)))
            .filter(|(_, output)| grammar.is(&output.resource, kind))
            .collect();
        if depth >= DEEPEST || makers.is_empty() {
            return Value::Number(u64::MAX);
        }
        let (rule, output) = makers[self.below(makers.len() as u64) as usize];
        match self.add_rule(program, at, rule, depth + 1) {
            Some(made) => result(made, output),
            None => Value::Number(u64::MAX),
        }
    }

    /// Changes one argument of a call that its rule leaves open.
    pub(super) fn change_argument(&mut self, program: &mut Program, call: usize) {
        let Some(rule) = self.rule_of(&program.calls[call]) else {
            return;
        };
        // Arguments that the rule leaves open.
        let is_open = |rule: &Rule| !matches!(rule, Rule::Number(_) | Rule::Text(_));
        let open: Vec<usize> = (0..rule.arguments.len())
            .filter(|at| is_open(&rule.arguments[*at]))
            .collect();
        if open.is_empty() {
            return;
        }
        let argument = open[self.below(open.len() as u64) as usize];
        let before = program.calls.len();
        let value = match &program.calls[call].arguments[argument] {
            Value::Number(number) if self.below(2) == 0 => Value::Number(self.near(*number)),
            Value::Room(bytes) if self.below(2) == 0 => {
                Value::Room(self.near(*bytes).clamp(1, 1 << 20))
            }
            _ => self.value(program, call, &rule.arguments[argument], 1),
        };
        let call = call + (program.calls.len() - before);
        program.calls[call].arguments[argument] = value;
    }

    fn near(&mut self, number: u64) -> u64 {
        match self.below(6) {
            0 => number.wrapping_add(1),
            1 => number.wrapping_sub(1),
            2 => number.wrapping_mul(2),
            3 => number / 2,
            4 => number ^ 1 << self.below(64),
            _ => number.wrapping_add(self.below(4096)),
        }
    }
}

fn result(call: usize, output: &Output) -> Value {
    match output.offset {
        None => Value::Result(call),
        Some(offset) => Value::Written { call, offset },
    }
}
