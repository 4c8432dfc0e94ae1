//! The kernel's own list of its functions (/proc/kallsyms), and which of them an address is in.

/// Addresses from here on are the kernel's, on x86-64 and on aarch64.
const KERNEL: u64 = 1 << 63;
/// No kernel function is this long: an address farther from its symbol is unknown.
const LONGEST: u64 = 1 << 20;

/// The functions of a kernel.
#[derive(Debug, Clone, Default)]
pub struct Symbols {
    /// By address; one name for each.
    functions: Vec<(u64, String)>,
}

/// Location of an address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place<'a> {
    /// In a function of the kernel, with the offset in bytes.
    Kernel(&'a str, u64),
    /// In the kernel, in nothing that has a name.
    Nameless,
    /// In a program.
    User,
}

impl<'a> Place<'a> {
    /// Name for display.
    pub fn name(&self) -> &'a str {
        match self {
            Self::Kernel(name, _) => name,
            Self::Nameless => "[kernel, no symbol]",
            Self::User => "[user code]",
        }
    }

    /// Whether it is a function's first instruction.
    pub(crate) fn is_entry(&self) -> bool {
        matches!(self, Self::Kernel(_, 0))
    }
}

/// Why nothing can be learnt from a list of functions.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SymbolsError {
    /// An invalid line.
    #[error("line {number}: {line:?} is not a symbol")]
    NoSymbol {
        /// The line's number, from 1.
        number: usize,
        /// All of it.
        line: String,
    },
    /// A line begins with something else.
    #[error("line {number}: {word:?} is not an address")]
    NoAddress {
        /// The line's number, from 1.
        number: usize,
        /// The word found.
        word: String,
    },
    /// All addresses are hidden, or there is no line.
    #[error("no address of a function is in it")]
    NoFunction,
}

impl Symbols {
    /// Reads lines of `ADDRESS KIND NAME`, as /proc/kallsyms has them; those of functions are kept.
    ///
    /// # Errors
    /// Why nothing can be learnt from it.
    pub fn parse(kallsyms: &str) -> Result<Self, SymbolsError> {
        Self::with_modules(kallsyms, "")
    }

    /// The same with the lines of loaded modules, which end with the module in brackets.
    ///
    /// # Errors
    /// Why nothing can be learnt from either.
    pub fn with_modules(kallsyms: &str, modules: &str) -> Result<Self, SymbolsError> {
        let mut functions = Vec::new();
        for (number, line) in kallsyms.lines().chain(modules.lines()).enumerate() {
            let mut words = line.split_whitespace();
            let (Some(address), Some(kind), Some(name)) =
                (words.next(), words.next(), words.next())
            else {
                return Err(SymbolsError::NoSymbol {
                    number: number + 1,
                    line: line.into(),
                });
            };
            let address =
                u64::from_str_radix(address, 16).map_err(|_| SymbolsError::NoAddress {
                    number: number + 1,
                    word: address.into(),
                })?;
            if matches!(kind, "t" | "T" | "w" | "W") && address >= KERNEL {
                let module = words.next();
                let name = module.map_or_else(|| name.into(), |of| format!("{name} {of}"));
                functions.push((address, name));
            }
        }
        if functions.is_empty() {
            return Err(SymbolsError::NoFunction);
        }
        // Of several names at one address the plainest: without additions of the compiler or
        // linker, then the shortest, then the first in the alphabet.
        functions.sort_by(|(one, a), (other, b)| {
            let plain = |name: &str| (name.starts_with("__pfx_") || name.contains('.'), name.len());
            (one, plain(a), a).cmp(&(other, plain(b), b))
        });
        functions.dedup_by_key(|(address, _)| *address);
        for (_, name) in &mut functions {
            // The compiler moves a function's rare parts away; they are the function all the same.
            if let Some(function) = name.strip_suffix(".cold") {
                *name = function.to_owned();
            }
            // Labels inside one piece of assembly (arch/x86/entry/entry_64.S).
            if name.starts_with("entry_SYSCALL_64_") || name.starts_with("entry_SYSRETQ_") {
                *name = "entry_SYSCALL_64".to_owned();
            }
        }
        Ok(Self { functions })
    }

    /// Location of an address.
    pub fn place(&self, address: u64) -> Place<'_> {
        if address < KERNEL {
            return Place::User;
        }
        let after = self.functions.partition_point(|(at, _)| *at <= address);
        match after.checked_sub(1).map(|index| &self.functions[index]) {
            Some((at, name)) if address - at < LONGEST => Place::Kernel(name, address - at),
            _ => Place::Nameless,
        }
    }

    /// Each function: its first address, the next one's, its name.
    pub(crate) fn functions(&self) -> impl Iterator<Item = (u64, u64, &str)> {
        let next = self.functions.iter().skip(1).map(|(at, _)| *at);
        let all = self.functions.iter().zip(next.chain([u64::MAX]));
        all.map(|((at, name), behind)| (*at, behind, name.as_str()))
    }

    /// Number of functions.
    pub fn count(&self) -> usize {
        self.functions.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOME: &str = "ffffffff81000000 T _stext\n\
        ffffffff81000000 T startup_64\n\
        ffffffff81000100 t schedule\n\
        ffffffff81000180 d a_number\n\
        ffffffff81000200 t __pfx_wake_up\n\
        ffffffff81000200 T wake_up\n\
        ffffffff81000300 t wake_up.cold\n\
        0000000000014000 A fixed_percpu_data\n";

    #[test]
    fn an_address_is_in_the_function_that_begins_before_it() {
        let symbols = Symbols::parse(SOME).unwrap();
        assert_eq!(symbols.count(), 4);
        let place = |address| symbols.place(address);
        assert_eq!(place(0xffff_ffff_8100_0100), Place::Kernel("schedule", 0));
        assert_eq!(
            place(0xffff_ffff_8100_01ff),
            Place::Kernel("schedule", 0xff)
        );
        assert_eq!(place(0xffff_ffff_8100_0204), Place::Kernel("wake_up", 4));
        assert_eq!(place(0xffff_ffff_8100_0310), Place::Kernel("wake_up", 0x10));
        assert_eq!(place(0xffff_ffff_80ff_ffff), Place::Nameless);
        assert_eq!(place(0xffff_ffff_a000_0000), Place::Nameless);
        assert_eq!(place(0x5555_5555_0000), Place::User);
    }

    #[test]
    fn a_modules_functions_have_its_name() {
        let modules = "ffffffffc0000000 t lock_for_long\t[planted]\n\
            ffffffffc0000100 t init_module\t[planted]\n\
            ffffffffc0002000 d a_number\t[planted]\n";
        let symbols = Symbols::with_modules(SOME, modules).unwrap();
        let place = |address| symbols.place(address);
        assert_eq!(
            place(0xffff_ffff_c000_0010),
            Place::Kernel("lock_for_long [planted]", 0x10)
        );
        assert_eq!(place(0xffff_ffff_8100_0100), Place::Kernel("schedule", 0));
        let wrong = Symbols::with_modules("ffffffff81000000 T a\n", "nonsense\n");
        assert!(wrong.unwrap_err().to_string().starts_with("line 2: "));
    }

    #[test]
    fn a_list_with_hidden_addresses_and_one_that_is_none_are_refused() {
        // The list as an ordinary user sees it.
        let hidden = "0000000000000000 T _text\n0000000000000000 T schedule\n";
        let said = Symbols::parse(hidden).unwrap_err().to_string();
        assert!(said.contains("no address of a function"), "{said}");
        assert!(Symbols::parse("").is_err());
        let said = Symbols::parse("ffffffff81000000 T a\nnonsense\n")
            .unwrap_err()
            .to_string();
        assert!(said.starts_with("line 2: "), "{said}");
        let said = Symbols::parse("xyz T a\n").unwrap_err().to_string();
        assert!(said.contains("\"xyz\""), "{said}");
    }
}
