//! A tool's command line, as getopt takes it: grouped short options, values in the same word or the
//! next one.

/// Options of a command line with their values.
pub(crate) struct Options(Vec<(String, Option<String>)>);

impl Options {
    /// Reads the words after the program. `short` is getopt's list: a letter, and one colon if it
    /// takes a value, two if it may; so for `long`, where names with a value end in a colon.
    pub(crate) fn new(command: &[String], short: &str, long: &[&str]) -> Self {
        let mut found = Vec::new();
        let mut words = command.iter().skip(1).peekable();
        while let Some(word) = words.next() {
            if let Some(name) = word.strip_prefix("--") {
                let (name, value) = match name.split_once('=') {
                    Some((name, value)) => (name, Some(value.to_owned())),
                    None => (name, None),
                };
                let full = |entry: &&&str| entry.trim_end_matches(':').starts_with(name);
                let exact = |entry: &&&str| entry.trim_end_matches(':') == name;
                let entry = long.iter().find(exact).or_else(|| long.iter().find(full));
                let needs = entry.is_some_and(|entry| entry.ends_with(':'));
                let value = match value {
                    None if needs => words.next().cloned(),
                    value => value,
                };
                let name = entry.map_or(name, |entry| entry.trim_end_matches(':'));
                found.push((name.to_owned(), value));
                continue;
            }
            let Some(group) = word.strip_prefix('-').filter(|group| !group.is_empty()) else {
                continue;
            };
            let mut rest = group;
            while let Some(letter) = rest.chars().next() {
                rest = &rest[letter.len_utf8()..];
                let colons = short.split_once(letter).map_or(0, |(_, after)| {
                    after.bytes().take_while(|&byte| byte == b':').count()
                });
                let value = match colons {
                    0 => None,
                    1 if rest.is_empty() => words.next().cloned(),
                    _ if rest.is_empty() => None,
                    _ => Some(std::mem::take(&mut rest).to_owned()),
                };
                found.push((letter.to_string(), value));
            }
        }
        Self(found)
    }

    /// The value of the last option that is one of these names.
    pub(crate) fn value(&self, names: &[&str]) -> Option<&str> {
        let mut all = self.0.iter().rev();
        all.find(|(name, _)| names.contains(&&**name))
            .and_then(|(_, value)| value.as_deref())
    }

    /// Whether one of these names is among the options.
    pub(crate) fn has(&self, names: &[&str]) -> bool {
        self.0.iter().any(|(name, _)| names.contains(&&**name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_found_in_every_way_of_writing_them() {
        let read = |line: &str| {
            let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
            Options::new(&words, "a::i:mp:qSt::", &["interval:", "priority:", "smp"])
        };
        for line in [
            "c -i 250 -p 90 -S",
            "c -Sp90 -mqi250",
            "c -mSqi 250 --priority=90",
            "c --interval=250 -p90 --smp",
            "c --interval 250 --prio 90 --smp",
            "c -i9 -i250 -Sp 90",
        ] {
            let found = read(line);
            let value = |names: &[&str]| found.value(names).map(str::to_owned);
            assert_eq!(value(&["i", "interval"]).as_deref(), Some("250"), "{line}");
            assert_eq!(value(&["p", "priority"]).as_deref(), Some("90"), "{line}");
            assert!(found.has(&["S", "smp"]) && !found.has(&["t"]), "{line}");
        }
        // A value that may be left out is never the next word.
        assert_eq!(read("c -t -p80").value(&["t"]), None);
        assert_eq!(read("c -t4").value(&["t"]), Some("4"));
    }
}
