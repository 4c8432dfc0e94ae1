//! In the guest: functions of loaded modules, whose addresses only this boot has.

use crate::order::MODULE_SYMBOLS_NAME;
use std::fs;

/// The file to send home; none without modules, or if the kernel keeps no list.
pub(super) fn file() -> Option<(String, Vec<u8>)> {
    let loaded = fs::read_to_string("/proc/modules").ok()?;
    if loaded.trim().is_empty() {
        return None;
    }
    let list = fs::read_to_string("/proc/kallsyms").ok()?;
    let own = of_modules(&list);
    (!own.is_empty()).then(|| (MODULE_SYMBOLS_NAME.to_owned(), own.into_bytes()))
}

/// The lines that end with a module in brackets.
fn of_modules(list: &str) -> String {
    let own = list.lines().filter(|line| line.ends_with(']'));
    own.map(|line| format!("{line}\n")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernels_own_functions_are_left_out() {
        let list = "ffffffff81000000 T schedule\nffffffffc0000000 t hold\t[planted]\n";
        assert_eq!(of_modules(list), "ffffffffc0000000 t hold\t[planted]\n");
        assert_eq!(of_modules("ffffffff81000000 T schedule\n"), "");
    }
}
