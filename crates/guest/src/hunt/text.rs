//! Parses the text of programs.

use super::lexer::{Word, words};
use super::program::{Call, Field, Program, Value};
use std::collections::VecDeque;

/// A line that is no call.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {text:?} is not a call such as r1 = 2 x read(r0, room(64), 0x40)")]
pub struct TextError {
    /// Number of the line, from 1.
    pub line: usize,
    /// The line.
    pub text: String,
}

/// A program, one call on each line.
///
/// # Errors
/// The first line that is no call.
pub fn parse(text: &str) -> Result<Program, TextError> {
    let mut program = Program::default();
    for (number, line) in text.lines().enumerate() {
        let wrong = || TextError {
            line: number + 1,
            text: line.to_owned(),
        };
        let words = words(line).map_err(|_| wrong())?;
        if !words.is_empty() {
            let call = call(words.into(), program.calls.len()).ok_or_else(wrong)?;
            program.calls.push(call);
        }
    }
    Ok(program)
}

/// Programs with an empty line between them.
///
/// # Errors
/// The first line that is no call; its number counts in its own program.
pub fn parse_all(text: &str) -> Result<Vec<Program>, TextError> {
    let programs = text.split("\n\n").filter(|one| !one.trim().is_empty());
    programs.map(parse).collect()
}

type Words = VecDeque<Word>;

fn sign(words: &mut Words, wanted: char) -> Option<()> {
    (words.pop_front()? == Word::Sign(wanted)).then_some(())
}

fn call(mut words: Words, number: usize) -> Option<Call> {
    match words.pop_front()? {
        Word::Name(name) if result_number(&name) == Some(number) => {}
        _ => return None,
    }
    sign(&mut words, '=')?;
    let mut times = 1;
    if let Some(Word::Number(number)) = words.front() {
        times = u32::try_from(*number).ok()?;
        words.pop_front();
        match words.pop_front()? {
            Word::Name(name) if name == "x" => {}
            _ => return None,
        }
    }
    let Word::Name(name) = words.pop_front()? else {
        return None;
    };
    sign(&mut words, '(')?;
    let mut arguments = Vec::new();
    while words.front()? != &Word::Sign(')') {
        if !arguments.is_empty() {
            sign(&mut words, ',')?;
        }
        arguments.push(value(&mut words)?);
    }
    words.pop_front();
    words.is_empty().then_some(Call {
        name,
        times,
        arguments,
    })
}

fn result_number(name: &str) -> Option<usize> {
    name.strip_prefix('r')?.parse().ok()
}

fn value(words: &mut Words) -> Option<Value> {
    match words.pop_front()? {
        Word::Number(number) => Some(Value::Number(number)),
        Word::Text(text) => Some(Value::Text(text)),
        Word::Name(name) if name == "room" => {
            sign(words, '(')?;
            let Word::Number(bytes) = words.pop_front()? else {
                return None;
            };
            sign(words, ')')?;
            Some(Value::Room(bytes))
        }
        Word::Name(name) => {
            let call = result_number(&name)?;
            if words.front() != Some(&Word::Sign('@')) {
                return Some(Value::Result(call));
            }
            words.pop_front();
            match words.pop_front()? {
                Word::Number(offset) => Some(Value::Written {
                    call,
                    offset: u32::try_from(offset).ok()?,
                }),
                _ => None,
            }
        }
        Word::Sign('{') => {
            let mut fields = Vec::new();
            while words.front()? != &Word::Sign('}') {
                let value = value(words)?;
                sign(words, '/')?;
                let bytes = match words.pop_front()? {
                    Word::Number(bytes @ (1 | 2 | 4 | 8)) => bytes as u8,
                    _ => return None,
                };
                fields.push(Field { value, bytes });
            }
            words.pop_front();
            Some(Value::Block(fields))
        }
        Word::Sign(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_of_a_program_gives_the_same_program() {
        let text = "r0 = openat(-100, \"a\\\"\\n\\u{1}b\", 0x42, 0x1b6)\n\
                    r1 = 1000 x dup(r0)\n\
                    r2 = pipe2({0/4 -1/4}, 0)\n\
                    r3 = write(r2@4, {\"x\"/8 {r1/2 0x1f90/2}/8 room(4096)/8}, 0xffff800000000000)\n";
        let program = parse(text).unwrap();
        assert_eq!(program.calls.len(), 4);
        assert_eq!(program.to_string(), text);
    }

    #[test]
    fn a_line_that_is_no_call_is_named() {
        for wrong in [
            "r1 = dup(0)",
            "r0 = dup(0",
            "r0 = dup({1/3})",
            "r0 dup(0)",
            "r0 = dup(0) 1",
            "r0 = 2 dup(0)",
            "r0 = dup(\"a)",
        ] {
            assert_eq!(parse(wrong).unwrap_err().line, 1, "{wrong}");
        }
    }

    #[test]
    fn programs_are_separated_by_empty_lines() {
        let programs = parse_all("r0 = dup(0)\n\nr0 = dup(1)\nr1 = dup(2)\n\n").unwrap();
        let lengths: Vec<usize> = programs.iter().map(|one| one.calls.len()).collect();
        assert_eq!(lengths, [1, 2]);
    }
}
