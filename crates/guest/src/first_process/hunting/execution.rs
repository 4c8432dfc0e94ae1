//! Executes a program in a new process.
#![allow(unsafe_code)] // It reads what the kernel wrote into the program's blocks.

use super::{NOBODY, raw};
use crate::hunt::{Call, Grammar, Mark, Program, Value};
use std::io;
use std::time::Duration;

/// The largest room of an argument, in bytes.
const MOST_ROOM: u64 = 1 << 20;

/// Runs it to its end or its limit, and ends all that it started.
pub(super) fn execute(
    program: &Program,
    number: usize,
    grammar: &Grammar,
    as_root: bool,
    limit: Duration,
) -> io::Result<()> {
    raw::hold_child_signals(true)?;
    match raw::fork()? {
        0 => {
            if prepare(as_root).is_ok() {
                calls(program, number, grammar);
            }
            raw::exit()
        }
        child => {
            raw::wait_for(child, limit);
            raw::end_all_others();
            Ok(())
        }
    }
}

fn prepare(as_root: bool) -> io::Result<()> {
    raw::hold_child_signals(false)?;
    raw::leave(c"/run/hunt")?;
    raw::limit(as_root)?;
    if as_root {
        Ok(())
    } else {
        raw::become_user(NOBODY)
    }
}

fn calls(program: &Program, number: usize, grammar: &Grammar) {
    let mut before = Before::default();
    for (index, call) in program.calls.iter().enumerate() {
        let arguments = before.arguments(call);
        raw::mark(Mark::Call(number, index));
        let mut result = -1;
        if let Some(of_call) = grammar.number(&call.name) {
            for _ in 0..call.times {
                // SAFETY: this process exists to make such calls, and ends after them.
                result = unsafe { raw::call(of_call, arguments) };
            }
        }
        before.results.push(result);
    }
    raw::mark(Mark::Exits(number));
}

/// Results of the calls so far, and the first block of each.
#[derive(Default)]
struct Before {
    results: Vec<i64>,
    blocks: Vec<Option<(*const u8, usize)>>,
}

impl Before {
    fn arguments(&mut self, call: &Call) -> [u64; 6] {
        let mut arguments = [0; 6];
        let mut block = None;
        for (argument, value) in arguments.iter_mut().zip(&call.arguments) {
            let (word, length) = self.word(value);
            *argument = word;
            if length > 0 && block.is_none() {
                block = Some((word as *const u8, length));
            }
        }
        self.blocks.push(block);
        arguments
    }

    /// A value as a word, and the length of the block that it is the address of. Blocks live as long
    /// as the process.
    fn word(&self, value: &Value) -> (u64, usize) {
        let kept = |bytes: Vec<u8>| {
            let length = bytes.len();
            (bytes.leak().as_mut_ptr() as u64, length)
        };
        match value {
            Value::Number(number) => (*number, 0),
            Value::Result(call) => (self.results.get(*call).map_or(u64::MAX, |r| *r as u64), 0),
            Value::Written { call, offset } => (self.written(*call, *offset as usize), 0),
            Value::Text(text) => (kept([text.as_bytes(), &[0]].concat()).0, 0),
            Value::Room(bytes) => kept(vec![0; (*bytes).clamp(1, MOST_ROOM) as usize]),
            Value::Block(fields) => {
                let mut bytes = Vec::new();
                for field in fields {
                    let word = self.word(&field.value).0.to_le_bytes();
                    bytes.extend(&word[..usize::from(field.bytes).min(word.len())]);
                }
                kept(bytes)
            }
        }
    }

    fn written(&self, call: usize, offset: usize) -> u64 {
        match self.blocks.get(call) {
            Some(Some((block, length))) if offset + size_of::<i32>() <= *length => {
                // SAFETY: the block was leaked with this length; a call can have written in it.
                let word = unsafe { block.add(offset).cast::<i32>().read_unaligned() };
                word as u64
            }
            _ => u64::MAX,
        }
    }
}
