//! Parses `/proc/PID/stat` (proc_pid_stat(5)) as bytes.
//!
//! A name can contain anything, including parentheses, line breaks and half a character.

/// One process or thread, as its `stat` shows it.
#[derive(Debug, Clone)]
pub struct ProcessStat<'a> {
    name: &'a [u8],
    /// From field 3, the state, on.
    fields: Vec<&'a str>,
}

impl<'a> ProcessStat<'a> {
    /// `None` for anything else than a `stat`.
    pub fn parse(stat: &'a [u8]) -> Option<Self> {
        let open = stat.iter().position(|&byte| byte == b'(')?;
        let close = stat.iter().rposition(|&byte| byte == b')')?;
        let after_name = std::str::from_utf8(stat.get(close + 1..)?).ok()?;
        Some(Self {
            name: stat.get(open + 1..close)?,
            fields: after_name.split_ascii_whitespace().collect(),
        })
    }

    /// Its name. A kernel thread's can be longer than 15 bytes here.
    pub fn name(&self) -> &'a [u8] {
        self.name
    }

    /// The state's letter; `Z` for a process that has ended and was not waited for.
    pub fn state(&self) -> Option<u8> {
        self.fields.first()?.bytes().next()
    }

    /// Whether it has ended.
    pub fn has_ended(&self) -> bool {
        matches!(self.state(), Some(b'Z' | b'X'))
    }

    /// A field by its number in proc_pid_stat(5), such as 4 for the parent.
    pub fn number<T: std::str::FromStr>(&self, field: usize) -> Option<T> {
        self.fields.get(field.checked_sub(3)?)?.parse().ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_shifts_no_field_whatever_it_holds() {
        let names: [&[u8]; 5] = [b"a) R 0 (b", b"", b"a\nb", "x-äöüäöü".as_bytes(), b"x-\xc3"];
        for name in names {
            let stat = [b"7 (", name, b") S 2 3 -1\n"].concat();
            let stat = ProcessStat::parse(&stat).unwrap();
            assert_eq!((stat.name(), stat.state()), (name, Some(b'S')));
            assert_eq!(stat.number::<u32>(4), Some(2));
            assert_eq!(stat.number::<i64>(6), Some(-1));
            assert_eq!(stat.number::<u32>(7), None);
            assert_eq!(stat.number::<u32>(1), None);
        }
    }

    #[test]
    fn what_is_no_stat_is_none() {
        for text in [&b""[..], b"7 a S 2", b"7 )( S 2", b"7 (a) \xff"] {
            assert!(ProcessStat::parse(text).is_none(), "{text:?}");
        }
    }
}
