//! Addresses of kernel functions to their names, from the text of `/proc/kallsyms`.

use std::collections::HashMap;
use std::sync::Arc;

/// Names by address.
#[derive(Debug, Default)]
pub struct Symbols {
    /// Ascending by address.
    functions: Vec<(u64, Arc<str>)>,
    found: HashMap<u64, Arc<str>>,
}

impl Symbols {
    /// Reads lines such as `ffffffff8112f2d0 t hrtimer_wakeup [module]`. A kernel that hides its
    /// addresses shows 0 for all, which gives no names.
    pub fn parse(text: &str) -> Self {
        let mut functions: Vec<(u64, Arc<str>)> = text
            .lines()
            .filter_map(|line| {
                let mut words = line.split_whitespace();
                let address = u64::from_str_radix(words.next()?, 16).ok()?;
                let is_text = matches!(words.next()?, "t" | "T" | "w" | "W");
                (address != 0 && is_text).then(|| Some((address, words.next()?.into())))?
            })
            .collect();
        functions.sort_unstable_by_key(|(address, _)| *address);
        Self {
            functions,
            found: HashMap::new(),
        }
    }

    /// Address at which a function begins; `None` if there is none of this name.
    pub fn address(&self, name: &str) -> Option<u64> {
        let of_name = |(_, known): &&(u64, Arc<str>)| &**known == name;
        self.functions.iter().find(of_name).map(|(at, _)| *at)
    }

    /// Whether no function has a name.
    pub fn is_empty(&self) -> bool {
        self.functions.is_empty()
    }

    /// The function that begins at or before the address; the address itself if no name is known.
    pub fn name(&mut self, address: u64) -> Arc<str> {
        if let Some(known) = self.found.get(&address) {
            return Arc::clone(known);
        }
        let after = self.functions.partition_point(|(at, _)| *at <= address);
        let name = match after.checked_sub(1) {
            Some(before) => Arc::clone(&self.functions[before].1),
            None => format!("{address:#x}").into(),
        };
        self.found.insert(address, Arc::clone(&name));
        name
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_within_a_function_has_its_name() {
        let text = "ffffffff81000100 T second\nffffffff81000000 t first\n\
            ffffffff81000180 D data\n";
        let mut symbols = Symbols::parse(text);
        assert_eq!(&*symbols.name(0xffff_ffff_8100_0000), "first");
        assert_eq!(&*symbols.name(0xffff_ffff_8100_01ff), "second");
        assert_eq!(&*symbols.name(0x10), "0x10");
    }

    #[test]
    fn a_kernel_that_hides_its_addresses_gives_no_names() {
        let mut symbols = Symbols::parse("0000000000000000 T first\n");
        assert!(symbols.is_empty());
        assert_eq!(&*symbols.name(0xff), "0xff");
    }
}
