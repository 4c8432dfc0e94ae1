//! The functions around addresses of a file, by its symbol tables: code without a name never gets its neighbour's.

use crate::module::Elf;
use object::{Object, ObjectSection, ObjectSymbol, ReadRef, SectionIndex, SymbolKind};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Functions before an address that are looked at: a part of a function can have a name too.
const MOST_BEFORE: usize = 16;

/// The symbols of the functions around addresses.
pub(crate) fn symbols_of<'data>(
    elf: &Elf<'data, impl ReadRef<'data>>,
    addresses: &BTreeSet<u64>,
) -> BTreeMap<u64, String> {
    // A stripped file has only the names that others link with: what follows such a function may be another one.
    let is_whole = elf.symbols().next().is_some();
    let sections = elf
        .sections()
        .map(|of| (of.index(), of.address() + of.size()));
    let ends: HashMap<SectionIndex, u64> = sections.collect();
    let end = |section: Option<SectionIndex>| section.and_then(|of| ends.get(&of).copied());
    let all = elf.symbols().chain(elf.dynamic_symbols());
    let functions = Functions::new(all.filter(is_function).map(|of| Function {
        address: of.address(),
        size: of.size(),
        end: end(of.section_index()).filter(|_| is_whole),
        of,
    }));
    names(&functions, addresses)
}

/// The names by which other files call the functions around addresses. A name that begins with an underscore is for
/// the library itself: of `malloc` and `__libc_malloc` the first.
pub(crate) fn public_of<'data>(
    elf: &Elf<'data, impl ReadRef<'data>>,
    addresses: &BTreeSet<u64>,
) -> BTreeMap<u64, String> {
    let all = elf.dynamic_symbols().filter(is_function);
    let public = all.filter(|of| of.name().is_ok_and(|name| !name.starts_with('_')));
    let functions = Functions::new(public.map(|of| Function {
        address: of.address(),
        size: of.size(),
        end: None,
        of,
    }));
    names(&functions, addresses)
}

fn is_function<'data>(symbol: &impl ObjectSymbol<'data>) -> bool {
    symbol.kind() == SymbolKind::Text && !symbol.is_undefined()
}

fn names<'data>(
    functions: &Functions<impl ObjectSymbol<'data>>,
    addresses: &BTreeSet<u64>,
) -> BTreeMap<u64, String> {
    let found = addresses.iter().filter_map(|&address| {
        let name = functions.around(address)?.name().ok()?;
        (!name.is_empty()).then(|| (address, name.to_owned()))
    });
    found.collect()
}

struct Function<T> {
    address: u64,
    size: u64,
    /// Of hand-written code the size may be missing: the end of all that it can reach into, if its file names all
    /// functions.
    end: Option<u64>,
    of: T,
}

/// Functions by address.
struct Functions<T>(Vec<Function<T>>);

impl<T> Functions<T> {
    fn new(all: impl Iterator<Item = Function<T>>) -> Self {
        let mut functions: Vec<_> = all.collect();
        // Stable: of several names of a function the first in the table counts.
        functions.sort_by_key(|of| of.address);
        Self(functions)
    }

    /// Of the functions that an address is in the one that begins last.
    fn around(&self, address: u64) -> Option<&T> {
        let after = self.0.partition_point(|of| of.address <= address);
        let before = &self.0[after.saturating_sub(MOST_BEFORE)..after];
        let nearest = before.last()?.address;
        let covers = |of: &Function<T>| {
            if of.size == 0 {
                of.address == nearest && of.end.is_some_and(|end| address < end)
            } else {
                address - of.address < of.size
            }
        };
        let at = before.iter().rev().find(|of| covers(of))?.address;
        let mut same = self.0[..after].iter().filter(|of| of.address == at);
        same.find(|of| covers(of)).map(|of| &of.of)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn function(of: &'static str, address: u64, size: u64, end: u64) -> Function<&'static str> {
        Function {
            address,
            size,
            end: (end > 0).then_some(end),
            of,
        }
    }

    #[test]
    fn code_without_a_name_does_not_get_its_neighbours() {
        let functions = Functions::new(
            [
                function("outer", 0x100, 0x80, 0),
                function("part", 0x120, 0x10, 0),
                function("alias", 0x100, 0x80, 0),
                // As in a stripped file's `.init`, and as in a file with all names.
                function("_init", 0x200, 0, 0),
                function("by_hand", 0x300, 0, 0x340),
                function("last", 0x320, 8, 0),
            ]
            .into_iter(),
        );
        for (address, expected) in [
            (0xff, None),
            (0x100, Some("outer")),
            (0x11f, Some("outer")),
            (0x120, Some("part")),
            (0x130, Some("outer")),
            (0x180, None),
            (0x210, None),
            (0x31f, Some("by_hand")),
            (0x327, Some("last")),
            (0x328, None),
            (0x340, None),
        ] {
            let found = functions.around(address).copied();
            assert_eq!(found, expected, "{address:#x}");
        }
    }
}
