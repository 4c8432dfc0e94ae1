//! An event's fields as text: `name=value` as the kernel prints them, or the shorter sentences of
//! trace-cmd's plugins and of kernels before 2.6.34.

use crate::events::{Fields, left_of_bits, left_of_letters};
use wakepath_timeline::Left;

/// Text with `name=value`.
#[derive(Debug, Clone, Copy)]
pub(super) struct Text<'a>(pub(super) &'a str);

impl<'a> Text<'a> {
    /// The text after the last such name: the thread's own name comes first and can contain anything.
    fn word(self, name: &str) -> Option<&'a str> {
        let at = self.0.rmatch_indices(name).find_map(|(at, _)| {
            let starts = at == 0 || self.0[..at].ends_with(' ');
            let value = self.0[at + name.len()..].strip_prefix('=')?;
            starts.then_some(value)
        })?;
        at.split_whitespace().next()
    }

    /// A thread's name, up to the last `before`: it may hold anything.
    fn name(self, name: &str, before: &str) -> Option<&'a str> {
        let (start, _) = self.0.split_at(self.0.rfind(before)?);
        let at = match start.strip_prefix(name) {
            Some(rest) => rest,
            None => {
                let at = start.find(&format!(" {name}"))?;
                &start[at + 1 + name.len()..]
            }
        };
        at.strip_prefix('=')
    }

    /// The part of a switch that is of one thread: what comes next may be in the name of what was.
    fn part(self, name: &str) -> Self {
        let Some(at) = self.0.rfind(" next_comm=") else {
            return self;
        };
        match name.starts_with("next_") {
            true => Self(&self.0[at + 1..]),
            false if name.starts_with("prev_") => Self(&self.0[..at]),
            false => self,
        }
    }
}

impl Fields for Text<'_> {
    fn number(&self, name: &str) -> Option<i128> {
        let word = self.part(name).word(name)?;
        match word.strip_prefix("0x") {
            Some(digits) => i128::from_str_radix(digits, 16).ok(),
            None => word.parse().ok(),
        }
    }

    fn address(&self, name: &str) -> Option<u64> {
        let word = self.word(name)?;
        u64::from_str_radix(word.strip_prefix("0x").unwrap_or(word), 16).ok()
    }

    fn text(&self, name: &str) -> Option<&str> {
        match name {
            "comm" => self.name(name, " pid="),
            "prev_comm" => self.part(name).name(name, " prev_pid="),
            "next_comm" => self.part(name).name(name, " next_pid="),
            // An interrupt's action may have blanks, and is the last.
            "name" => self.0.split_once("name=").map(|(_, name)| name),
            _ => self.word(name),
        }
    }

    fn left(&self, name: &str) -> Option<Left> {
        let state = self.part(name).word(name)?;
        let bits = match state.strip_prefix("0x") {
            Some(digits) => i128::from_str_radix(digits, 16).ok(),
            None => state.parse().ok(),
        };
        Some(bits.map_or_else(|| left_of_letters(state), left_of_bits))
    }
}

/// A sentence of threads: `servo:640 [19] S ==> swapper/1:0 [120]`, `servo:640 [19] CPU:001`; kernels
/// before 2.6.34 have `task servo:640 [19] (S) ==> …` and `task servo:640 [19] success=1 [001]`.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sentence<'a> {
    previous: Named<'a>,
    next: Option<Named<'a>>,
    rest: &'a str,
}

/// A thread in a sentence, and the text after it.
#[derive(Debug, Clone, Copy)]
struct Named<'a> {
    name: &'a str,
    number: i128,
    priority: i128,
}

impl<'a> Sentence<'a> {
    pub(super) fn new(text: &'a str) -> Option<Self> {
        let text = text.strip_prefix("task ").unwrap_or(text);
        if let Some(at) = text.rfind(" ==> ") {
            let (previous, rest) = named(&text[..at])?;
            let (next, _) = named(&text[at + 5..])?;
            return Some(Self {
                previous,
                next: Some(next),
                rest,
            });
        }
        let (previous, rest) = named(text)?;
        Some(Self {
            previous,
            next: None,
            rest,
        })
    }
}

/// The last `name:number [priority]`, and what follows it.
fn named(text: &str) -> Option<(Named<'_>, &str)> {
    text.rmatch_indices(" [").find_map(|(at, _)| {
        let (name, number) = text[..at].rsplit_once(':')?;
        let (priority, rest) = text[at + 2..].split_once(']')?;
        let named = Named {
            name,
            number: number.parse().ok()?,
            priority: priority.parse().ok()?,
        };
        Some((named, rest.trim()))
    })
}

impl Fields for Sentence<'_> {
    fn number(&self, name: &str) -> Option<i128> {
        let of = if name.starts_with("next_") {
            self.next?
        } else {
            self.previous
        };
        match name {
            "pid" | "prev_pid" | "next_pid" => Some(of.number),
            "prio" | "prev_prio" | "next_prio" => Some(of.priority),
            // `CPU:001`, or `[001]` of old.
            "target_cpu" => {
                let last = self.rest.split_whitespace().next_back()?;
                let of = last.strip_prefix("CPU:").or_else(|| {
                    let inner = last.strip_prefix('[')?;
                    inner.strip_suffix(']')
                });
                of?.parse().ok()
            }
            _ => None,
        }
    }

    fn address(&self, _: &str) -> Option<u64> {
        None
    }

    fn text(&self, name: &str) -> Option<&str> {
        match name {
            "comm" | "prev_comm" => Some(self.previous.name),
            "next_comm" => Some(self.next?.name),
            _ => None,
        }
    }

    fn left(&self, _: &str) -> Option<Left> {
        let letters = self.rest.trim_matches(['(', ')']);
        Some(left_of_letters(letters))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_may_call_itself_what_it_likes() {
        let text = Text(
            "prev_comm=a prev_pid=1 b prev_pid=812 prev_prio=19 prev_state=S ==> \
             next_comm=x ==> y next_pid=9 next_prio=120",
        );
        assert_eq!(text.text("prev_comm"), Some("a prev_pid=1 b"));
        assert_eq!(text.number("prev_pid"), Some(812));
        assert_eq!(text.left("prev_state"), Some(Left::Sleeping));
        assert_eq!(text.text("next_comm"), Some("x ==> y"));
        assert_eq!(text.number("next_prio"), Some(120));
        let text = Text("comm=pid=3 pid= pid=640 prio=19 target_cpu=001");
        assert_eq!(text.text("comm"), Some("pid=3 pid="));
        assert_eq!(
            (text.number("pid"), text.number("target_cpu")),
            (Some(640), Some(1))
        );
    }

    #[test]
    fn sentences_have_the_same_fields() {
        for text in [
            "servo:2:640 [19] S ==> swapper/1:0 [120]",
            "task servo:2:640 [19] (S) ==> swapper/1:0 [120]",
        ] {
            let of = Sentence::new(text).unwrap();
            assert_eq!(of.text("prev_comm"), Some("servo:2"), "{text}");
            assert_eq!(
                (of.number("prev_pid"), of.number("prev_prio")),
                (Some(640), Some(19))
            );
            assert_eq!(
                (of.text("next_comm"), of.number("next_pid")),
                (Some("swapper/1"), Some(0))
            );
            assert_eq!(of.left("prev_state"), Some(Left::Sleeping), "{text}");
        }
        for text in [
            "servo:640 [19] CPU:003",
            "servo:640 [19] success=1 CPU:003",
            "task servo:640 [19] success=1 [003]",
        ] {
            let of = Sentence::new(text).unwrap();
            assert_eq!(
                (of.text("comm"), of.number("pid")),
                (Some("servo"), Some(640)),
                "{text}"
            );
            assert_eq!(
                (of.number("prio"), of.number("target_cpu")),
                (Some(19), Some(3)),
                "{text}"
            );
        }
    }
}
