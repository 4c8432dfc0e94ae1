//! The grammar of programs: system calls, their numbers, and rules for their arguments.

use super::lexer::{Word, words};
use std::collections::{HashMap, VecDeque};

/// A rule for a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Rule {
    /// This number.
    Number(u64),
    /// This text.
    Text(String),
    /// One of them.
    One(Vec<Rule>),
    /// Any of these bits together.
    Any(Vec<u64>),
    /// A number up to this one, small ones as often as large ones.
    UpTo(u64),
    /// Room for at most this number of bytes.
    Room(u64),
    /// Fields and their widths.
    Block(Vec<(Rule, u8)>),
    /// A resource that an earlier call returned.
    Resource(String),
}

/// A value that a call returns.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Output {
    /// Kind of the resource.
    pub resource: String,
    /// Offset in its first block; none for its result.
    pub offset: Option<u32>,
}

/// A system call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallRule {
    /// Its number on x86-64.
    pub number: u64,
    /// Its name.
    pub name: String,
    /// Rules for its arguments.
    pub arguments: Vec<Rule>,
    /// Resources that it returns.
    pub outputs: Vec<Output>,
}

/// All calls.
#[derive(Debug, Clone, Default)]
pub struct Grammar {
    /// The calls; a name can have several rules.
    pub calls: Vec<CallRule>,
    /// For each resource the one that it also is.
    kinds: HashMap<String, String>,
    sets: HashMap<String, Rule>,
}

/// A line of a grammar that can't be parsed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "{file}, line {line}: {text:?} is neither a call such as 0 read(File, room(4096), upto(4096)), nor \
     let NAME = RULE, nor NAME is NAME"
)]
pub struct GrammarError {
    /// The file.
    pub file: String,
    /// Number of the line, from 1.
    pub line: usize,
    /// The line.
    pub text: String,
}

impl Grammar {
    /// The grammar that wakepath contains.
    pub fn own() -> Self {
        let mut grammar = Self::default();
        let read = grammar.read(super::CALLS, "calls.txt");
        read.expect("a test reads it");
        grammar
    }

    /// Adds the lines of a file.
    ///
    /// # Errors
    /// The first line that can't be parsed.
    pub fn read(&mut self, text: &str, file: &str) -> Result<(), GrammarError> {
        for (number, line) in text.lines().enumerate() {
            let read = words(line).ok().and_then(|words| self.line(words.into()));
            read.ok_or_else(|| GrammarError {
                file: file.to_owned(),
                line: number + 1,
                text: line.to_owned(),
            })?;
        }
        Ok(())
    }

    /// The number of a call.
    pub fn number(&self, name: &str) -> Option<u64> {
        let rule = self.calls.iter().find(|rule| rule.name == name)?;
        Some(rule.number)
    }

    /// Whether a resource of the first kind is one of the second.
    pub fn is(&self, kind: &str, wanted: &str) -> bool {
        let mut kind = kind;
        // No resource is itself by way of more kinds than there are.
        for _ in 0..=self.kinds.len() {
            if kind == wanted {
                return true;
            }
            match self.kinds.get(kind) {
                Some(above) => kind = above,
                None => return false,
            }
        }
        false
    }

    fn line(&mut self, mut words: VecDeque<Word>) -> Option<()> {
        match words.pop_front() {
            None => Some(()),
            Some(Word::Name(word)) if word == "let" => {
                let name = name(&mut words)?;
                sign(&mut words, '=')?;
                let rule = self.rule(&mut words)?;
                self.sets.insert(name, rule);
                words.is_empty().then_some(())
            }
            Some(Word::Name(kind)) => {
                (name(&mut words)? == "is").then_some(())?;
                let above = name(&mut words)?;
                self.kinds.insert(kind, above);
                words.is_empty().then_some(())
            }
            Some(Word::Number(number)) => {
                let rule = self.call(number, words)?;
                self.calls.push(rule);
                Some(())
            }
            Some(_) => None,
        }
    }

    fn call(&self, number: u64, mut words: VecDeque<Word>) -> Option<CallRule> {
        let mut called = name(&mut words)?;
        let mut outputs = Vec::new();
        if words.front()? == &Word::Sign('=') {
            words.pop_front();
            outputs.push(Output {
                resource: called,
                offset: None,
            });
            called = name(&mut words)?;
        }
        sign(&mut words, '(')?;
        let mut arguments = Vec::new();
        while words.front()? != &Word::Sign(')') {
            if !arguments.is_empty() {
                sign(&mut words, ',')?;
            }
            arguments.push(self.rule(&mut words)?);
        }
        words.pop_front();
        while !words.is_empty() {
            let resource = name(&mut words)?;
            sign(&mut words, '@')?;
            let offset = u32::try_from(number_of(&mut words)?).ok()?;
            outputs.push(Output {
                resource,
                offset: Some(offset),
            });
        }
        (arguments.len() <= 6).then_some(CallRule {
            number,
            name: called,
            arguments,
            outputs,
        })
    }

    fn rule(&self, words: &mut VecDeque<Word>) -> Option<Rule> {
        match words.pop_front()? {
            Word::Number(number) => Some(Rule::Number(number)),
            Word::Text(text) => Some(Rule::Text(text)),
            Word::Sign('{') => {
                let mut fields = Vec::new();
                while words.front()? != &Word::Sign('}') {
                    let rule = self.rule(words)?;
                    sign(words, '/')?;
                    let bytes = number_of(words)?;
                    matches!(bytes, 1 | 2 | 4 | 8).then_some(())?;
                    fields.push((rule, bytes as u8));
                }
                words.pop_front();
                Some(Rule::Block(fields))
            }
            Word::Sign(_) => None,
            Word::Name(name) if words.front() == Some(&Word::Sign('(')) => {
                words.pop_front();
                let mut rules = Vec::new();
                while words.front()? != &Word::Sign(')') {
                    rules.push(self.rule(words)?);
                }
                words.pop_front();
                Self::of_several(&name, rules)
            }
            Word::Name(name) if name.starts_with(|c: char| c.is_ascii_uppercase()) => {
                Some(Rule::Resource(name))
            }
            Word::Name(name) => self.sets.get(&name).cloned(),
        }
    }

    fn of_several(name: &str, rules: Vec<Rule>) -> Option<Rule> {
        let number = |rule: &Rule| match rule {
            Rule::Number(number) => Some(*number),
            _ => None,
        };
        match (name, &rules[..]) {
            (_, []) => None,
            ("one", _) => Some(Rule::One(rules)),
            ("any", _) => rules
                .iter()
                .map(number)
                .collect::<Option<_>>()
                .map(Rule::Any),
            ("upto", [most]) => number(most).map(Rule::UpTo),
            ("room", [most]) => number(most).map(Rule::Room),
            _ => None,
        }
    }
}

fn sign(words: &mut VecDeque<Word>, wanted: char) -> Option<()> {
    (words.pop_front()? == Word::Sign(wanted)).then_some(())
}

fn name(words: &mut VecDeque<Word>) -> Option<String> {
    match words.pop_front()? {
        Word::Name(name) => Some(name),
        _ => None,
    }
}

fn number_of(words: &mut VecDeque<Word>) -> Option<u64> {
    match words.pop_front()? {
        Word::Number(number) => Some(number),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_own_grammar_is_read_and_every_resource_in_it_comes_from_some_call() {
        let grammar = Grammar::own();
        assert!(grammar.calls.len() > 100);
        let mut wanted = Vec::new();
        let mut rules: Vec<&Rule> = grammar
            .calls
            .iter()
            .flat_map(|call| &call.arguments)
            .collect();
        while let Some(rule) = rules.pop() {
            match rule {
                Rule::Resource(kind) => wanted.push(kind),
                Rule::One(more) => rules.extend(more),
                Rule::Block(fields) => rules.extend(fields.iter().map(|(rule, _)| rule)),
                _ => {}
            }
        }
        for kind in wanted {
            let mut outputs = grammar.calls.iter().flat_map(|call| &call.outputs);
            assert!(
                outputs.any(|output| grammar.is(&output.resource, kind)),
                "{kind}"
            );
        }
        assert_eq!(grammar.number("read"), Some(0));
        assert!(grammar.is("Socket", "File") && !grammar.is("File", "Socket"));
    }

    #[test]
    fn a_name_has_one_number() {
        let grammar = Grammar::own();
        for call in &grammar.calls {
            assert_eq!(
                grammar.number(&call.name),
                Some(call.number),
                "{}",
                call.name
            );
        }
    }

    #[test]
    fn a_line_that_is_no_rule_is_named_with_its_file() {
        for wrong in [
            "0 read(nothing)",
            "read()",
            "let a",
            "0 read(upto(1 2))",
            "A is",
        ] {
            let read = Grammar::default().read(&format!("# a comment\n{wrong}\n"), "my.txt");
            let said = read.unwrap_err().to_string();
            assert!(said.starts_with("my.txt, line 2: "), "{said}");
        }
    }
}
