//! Names of functions as their authors write them: C++ without parameters and templates' arguments, Rust without hashes.

use crate::callables::Callable;
use cpp_demangle::{DemangleOptions, Symbol};
use std::fmt::{self, Write};

/// Longer ones are cut: generic code of generic code.
const LONGEST: usize = 120;
/// Read of a C++ name before its arguments are taken out, in bytes: a short symbol can have a very long name.
const LONGEST_WHOLE: usize = 16 << 10;

/// A symbol's name, read.
pub(crate) fn demangled(symbol: &str) -> String {
    // A symbol's version, as in `memcpy@GLIBC_2.14`.
    let symbol = symbol.split_once('@').map_or(symbol, |(name, _)| name);
    let rust = rustc_demangle::try_demangle(symbol).map(|of| format!("{of:#}"));
    let rust = rust.ok().filter(|name| !name.is_empty());
    let name = rust.or_else(|| cpp(symbol));
    let name = name.unwrap_or_else(|| symbol.to_owned());
    match name.char_indices().nth(LONGEST) {
        Some((at, _)) => format!("{}…", &name[..at]),
        None => name,
    }
}

/// The callable that a template was made for, in the symbol of a function of it, after the template's own name. Of a
/// lambda the symbol has the function around it, and its number there.
pub(crate) fn callable(symbol: &str, template: &str) -> Option<Callable> {
    let (_, argument) = symbol.split_once(template)?;
    let is = |type_of: &str| argument.contains(type_of);
    let places = argument.match_indices('Z').map(|(at, _)| at);
    let lambda = places.filter_map(|at| lambda(&argument[at + 1..])).next();
    match lambda {
        Some(name) => Some(Callable::Lambda(name)),
        None if is("St5_BindI") || is("PF") => Some(Callable::Pointer),
        None if is("St8functionI") => Some(Callable::Function),
        None => None,
    }
}

/// `N7ControlC4ERK3OptEUlvE1_`: a function with its parameters, a lambda with its own, and its number from 0 on, less
/// one; the first has none.
fn lambda(text: &str) -> Option<String> {
    let function = match text.strip_prefix('N') {
        Some(nested) => nested_name(nested)?.0,
        None => source_name(text)?.0.to_owned(),
    };
    let (_, parameters) = text.split_once("EUl")?;
    let number = parameters.match_indices('E').find_map(|(at, _)| {
        let rest = &parameters[at + 1..];
        let digits = rest.find(|of: char| !of.is_ascii_digit())?;
        let is_number = rest[digits..].starts_with('_');
        is_number.then(|| rest[..digits].parse::<u64>().map_or(1, |number| number + 2))
    })?;
    Some(format!("{function}, lambda {number}"))
}

/// The C++ name of a symbol such as `_ZN6Logger5writeEPKc`.
fn cpp(symbol: &str) -> Option<String> {
    let read = symbol
        .starts_with("_Z")
        .then(|| Symbol::new(symbol))?
        .ok()?;
    let options = DemangleOptions::new().no_params().no_return_type();
    let mut whole = Bounded(String::new());
    read.structured_demangle(&mut whole, &options).ok()?;
    let name = without_arguments(&whole.0);
    (!name.is_empty()).then_some(name)
}

/// Text up to a length; more is an error.
struct Bounded(String);

impl Write for Bounded {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        if self.0.len() + text.len() > LONGEST_WHOLE {
            return Err(fmt::Error);
        }
        self.0.push_str(text);
        Ok(())
    }
}

/// A name without the arguments of templates and the parameters of the functions in it, and without ` const` and the
/// like at the end: `call_once<f>(flag&)::{lambda()#1}::operator()() const` is `call_once::{lambda#1}::operator()`.
fn without_arguments(name: &str) -> String {
    const KEPT: [&str; 2] = ["(anonymous namespace)", "operator()"];
    let mut short = String::new();
    let mut depth = 0_usize;
    let mut rest = name;
    while let Some(next) = rest.chars().next() {
        let whole = KEPT.iter().find(|of| rest.starts_with(**of));
        let operator = operator(rest).filter(|_| depth == 0);
        if let Some(kept) = whole.copied().or(operator) {
            if depth == 0 {
                short.push_str(kept);
            }
            rest = &rest[kept.len()..];
            continue;
        }
        match next {
            '<' | '(' | '[' => depth += 1,
            '>' | ')' | ']' => depth = depth.saturating_sub(1),
            // Qualifiers follow the parameters.
            ' ' if depth == 0 && rest.starts_with(" const") => rest = &rest[" const".len() - 1..],
            _ if depth == 0 => short.push(next),
            _ => {}
        }
        rest = &rest[next.len_utf8()..];
    }
    short
}

/// An operator whose sign would be taken for a bracket, at the beginning of a text.
fn operator(text: &str) -> Option<&str> {
    let sign = text.strip_prefix("operator")?;
    let signs = [
        "<=>", "<<=", ">>=", "->*", "<<", ">>", "<=", ">=", "->", "<", ">", "[]",
    ];
    let sign = signs.into_iter().find(|of| sign.starts_with(of))?;
    text.get(.."operator".len() + sign.len())
}

/// Names by their lengths up to an `E`, joined, and what follows them.
/// <https://itanium-cxx-abi.github.io/cxx-abi/abi.html#mangle.name>
fn nested_name(nested: &str) -> Option<(String, &str)> {
    // Methods that are const, volatile, or for values of one kind.
    let mut rest = nested.trim_start_matches(['K', 'V', 'r', 'R', 'O']);
    let mut names: Vec<&str> = Vec::new();
    if let Some(after) = rest.strip_prefix("St") {
        (names, rest) = (vec!["std"], after);
    }
    while !rest.starts_with('E') {
        let special = rest.get(..2)?;
        if matches!(special, "C1" | "C2" | "C4" | "D0" | "D1" | "D2" | "D4") {
            let class = *names.last()?;
            names.push(if special.starts_with('D') { "~" } else { class });
            rest = &rest[2..];
            continue;
        }
        let (name, after) = source_name(rest)?;
        names.push(name);
        rest = after;
    }
    // Nothing is no name.
    names.first()?;
    let joined = names.join("::");
    // A destructor has its class's name after the sign.
    let joined = match joined.strip_suffix("::~") {
        Some(class) => format!("{class}::~{}", names[names.len() - 2]),
        None => joined,
    };
    Some((joined, &rest[1..]))
}

/// A name and what follows it.
fn source_name(text: &str) -> Option<(&str, &str)> {
    // Of one file alone.
    let text = text.strip_prefix('L').unwrap_or(text);
    let digits = text.find(|of: char| !of.is_ascii_digit())?;
    let length: usize = text[..digits].parse().ok()?;
    let end = digits.checked_add(length)?;
    let name = text.get(digits..end).filter(|name| !name.is_empty())?;
    let rest = &text[end..];
    // Arguments of a template: the text after them is unknown without reading all of them.
    if rest.starts_with('I') {
        return None;
    }
    let name = if name.starts_with("_GLOBAL__N") {
        "(anonymous namespace)"
    } else {
        name
    };
    Some((name, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_as_their_authors_write_them() {
        for (symbol, name) in [
            ("_ZN6Logger5writeEPKcm", "Logger::write"),
            ("_ZNK5robot4Gait4nextEv", "robot::Gait::next"),
            ("_ZN6LoggerC2Ev", "Logger::Logger"),
            ("_ZN5robot6LoggerD1Ev", "robot::Logger::~Logger"),
            ("_ZNSt6thread4joinEv", "std::thread::join"),
            ("_ZN12_GLOBAL__N_14stepEv", "(anonymous namespace)::step"),
            ("_ZL9take_locki", "take_lock"),
            ("_Z4openv", "open"),
            (
                "_ZN4core3fmt9Formatter3pad17h0123456789abcdefE",
                "core::fmt::Formatter::pad",
            ),
            ("_ZN5QueueIiE3popEv", "Queue::pop"),
            ("_ZplRK6VectorS1_", "operator+"),
            ("_ZlsR5QueueIiEi", "operator<<"),
            ("_ZNK5QueueIiEclEv", "Queue::operator()"),
            (
                "_ZZSt9call_onceIMSt6threadFvvEJPS0_EEvRSt9once_flagOT_DpOT0_ENKUlvE_clEv",
                "std::call_once::{lambda#1}::operator()",
            ),
            (
                "_ZN2v88internal10JsonParserIhE14ParseJsonValueILb0EEENS0_11MaybeHandleINS0_6ObjectEEENS0_6HandleIS5_EE",
                "v8::internal::JsonParser::ParseJsonValue",
            ),
            ("_RNvCs1234_7mycrate3foo", "mycrate::foo"),
            ("pthread_mutex_lock@@GLIBC_2.2.5", "pthread_mutex_lock"),
            ("write_log", "write_log"),
        ] {
            assert_eq!(demangled(symbol), name);
        }
        assert_eq!(demangled(&"x".repeat(500)).chars().count(), LONGEST + 1);
    }

    #[test]
    fn what_is_not_understood_stays_as_it_is() {
        for symbol in [
            "_Zwhat",
            "_ZN",
            "_ZN99aE",
            "_ZN0E",
            "_ZNC1Ev",
            "_ZN18446744073709551615aE",
            "_ZN1äE",
        ] {
            assert_eq!(demangled(symbol), symbol);
        }
    }
}
