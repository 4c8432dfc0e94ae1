//! A process's output: lines in their order, then its end, for good. Each process has its own channel, so
//! that waiting for one discards nothing of another.

use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

/// The result of a wait.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Heard<T> {
    /// A line.
    Said(T),
    /// Nothing.
    Nothing,
    /// No more lines: it has ended or is about to.
    Gone,
}

/// Why there is no answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unanswered {
    Gone,
    Silent,
}

/// One process's side of a conversation.
pub(super) struct Conversation<T>(Receiver<T>);

impl<T> Conversation<T> {
    /// A conversation, and where its lines go in. It is over when the other end is dropped.
    pub(super) fn new() -> (Sender<T>, Self) {
        let (lines, heard) = channel();
        (lines, Self(heard))
    }

    /// The next line; a line already there is returned even without patience.
    pub(super) fn next(&self, patience: Duration) -> Heard<T> {
        match self.0.recv_timeout(patience) {
            Ok(said) => Heard::Said(said),
            Err(RecvTimeoutError::Timeout) => Heard::Nothing,
            Err(RecvTimeoutError::Disconnected) => Heard::Gone,
        }
    }

    /// The first line that `answers`; it sees those before too, each once and in order.
    pub(super) fn answer<A>(
        &self,
        patience: Duration,
        mut answers: impl FnMut(T) -> Option<A>,
    ) -> Result<A, Unanswered> {
        let asked = Instant::now();
        loop {
            match self.next(patience.saturating_sub(asked.elapsed())) {
                Heard::Said(said) => {
                    if let Some(answer) = answers(said) {
                        return Ok(answer);
                    }
                }
                Heard::Nothing => return Err(Unanswered::Silent),
                Heard::Gone => return Err(Unanswered::Gone),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NO_TIME: Duration = Duration::ZERO;

    #[test]
    fn the_last_words_are_heard_before_the_end_and_the_end_stays() {
        let (lines, heard) = Conversation::new();
        for word in ["full disk", "ended"] {
            lines.send(word).unwrap();
        }
        drop(lines);
        assert_eq!(heard.next(NO_TIME), Heard::Said("full disk"));
        assert_eq!(heard.next(NO_TIME), Heard::Said("ended"));
        assert_eq!(heard.next(NO_TIME), Heard::Gone);
        assert_eq!(heard.next(NO_TIME), Heard::Gone);
    }

    #[test]
    fn who_waits_for_an_answer_sees_what_comes_before_it_and_leaves_what_comes_after() {
        let (lines, heard) = Conversation::new();
        for word in ["figures", "failure", "answer", "more figures"] {
            lines.send(word).unwrap();
        }
        let mut before = Vec::new();
        let answer = heard.answer(NO_TIME, |word| {
            before.push(word);
            (word == "answer").then_some(42)
        });
        assert_eq!(answer, Ok(42));
        assert_eq!(before, ["figures", "failure", "answer"]);
        assert_eq!(heard.next(NO_TIME), Heard::Said("more figures"));
        assert_eq!(heard.next(NO_TIME), Heard::Nothing);
    }

    #[test]
    fn silence_and_an_end_are_told_apart() {
        let (lines, heard) = Conversation::new();
        lines.send("figures").unwrap();
        let nothing = |_: &str| None::<()>;
        assert_eq!(heard.answer(NO_TIME, nothing), Err(Unanswered::Silent));
        drop(lines);
        assert_eq!(heard.answer(NO_TIME, nothing), Err(Unanswered::Gone));
    }
}
