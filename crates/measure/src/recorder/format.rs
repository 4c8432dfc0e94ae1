//! A line of a loop's log from its format and its arguments, as `printf` and as `format!` would write it. Pure; its
//! input may be anything, so that width, precision and length are bounded.

use wakepath_rt::said::{Style, Told};

/// The most characters that a field may ask for.
const MOST_WIDTH: usize = 64;
/// Longest line in bytes.
const LONGEST: usize = 2_048;

/// The line; a missing argument is shown as `{?}`, and a surplus one is appended.
pub fn formatted(style: Style, format: &str, arguments: &[Told]) -> String {
    let mut line = String::new();
    let mut arguments = arguments.iter();
    let mut rest = format;
    let mark = if style == Style::Printf { '%' } else { '{' };
    while let Some(at) = rest.find([mark, '}']) {
        let found = rest.as_bytes()[at] as char;
        if found == '}' && style == Style::Printf {
            line += &rest[..=at];
            rest = &rest[at + 1..];
            continue;
        }
        line += &rest[..at];
        rest = &rest[at + 1..];
        if rest.starts_with(found) {
            line.push(found);
            rest = &rest[1..];
            continue;
        }
        if found == '}' {
            line.push('}');
            continue;
        }
        let (field, after) = match style {
            Style::Printf => Field::of_printf(rest),
            _ => Field::of_braces(rest),
        };
        rest = after;
        match arguments.next() {
            Some(argument) => line += &field.written(argument),
            None => line += "{?}",
        }
        if line.len() > LONGEST {
            break;
        }
    }
    line += rest;
    for extra in arguments {
        line.push(' ');
        line += &Field::default().written(extra);
    }
    line.truncate(line.floor_char_boundary(LONGEST));
    line
}

/// How an argument is to be written.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct Field {
    left: bool,
    right: bool,
    zeros: bool,
    plus: bool,
    alternate: bool,
    width: usize,
    precision: Option<usize>,
    /// `d`, `x`, `f`, …; none: whatever the argument is.
    kind: Option<char>,
}

impl Field {
    /// From after the `%` to its letter; and the rest.
    fn of_printf(text: &str) -> (Self, &str) {
        let mut field = Self::default();
        let mut letters = text.char_indices().peekable();
        while let Some((_, letter)) = letters.next_if(|(_, one)| "-+ #0'".contains(*one)) {
            match letter {
                '-' => field.left = true,
                '+' => field.plus = true,
                '#' => field.alternate = true,
                '0' => field.zeros = true,
                _ => {}
            }
        }
        let number = |letters: &mut std::iter::Peekable<std::str::CharIndices<'_>>| {
            let mut number = 0_usize;
            while let Some((_, digit)) = letters.next_if(|(_, one)| one.is_ascii_digit()) {
                number = (10 * number + digit as usize - '0' as usize).min(MOST_WIDTH);
            }
            number
        };
        field.width = number(&mut letters);
        if letters.next_if(|(_, one)| *one == '.').is_some() {
            field.precision = Some(number(&mut letters));
        }
        while letters
            .next_if(|(_, one)| "hljztL".contains(*one))
            .is_some()
        {}
        match letters.next() {
            Some((at, kind)) => {
                field.kind = Some(kind);
                (field, &text[at + kind.len_utf8()..])
            }
            None => (field, ""),
        }
    }

    /// From after the `{` to its `}`; and the rest. Of a field's own words those of width and precision are known:
    /// `{:>8}`, `{:08.3}`, `{:+.1f}`, `{:x}`.
    fn of_braces(text: &str) -> (Self, &str) {
        let (inside, after) = text.split_once('}').unwrap_or((text, ""));
        let how = inside.split_once(':').map_or("", |(_, how)| how);
        let aligned = how.chars().next().filter(|one| "<>^".contains(*one));
        let (mut field, _) = Self::of_printf(how.trim_start_matches(['<', '>', '^']));
        field.left |= aligned == Some('<');
        field.right = aligned == Some('>');
        if field.kind == Some('?') {
            field.kind = None;
        }
        (field, after)
    }

    fn written(&self, argument: &Told) -> String {
        let text = match *argument {
            Told::Integer(number) => match self.kind {
                Some('c') => char_of(number),
                Some('x' | 'X' | 'o' | 'b' | 'u') => self.natural(number.cast_unsigned()),
                Some('f' | 'F' | 'e' | 'E' | 'g' | 'G' | 'a' | 'A') => self.real(number as f64),
                _ => self.signed(number < 0, &number.unsigned_abs().to_string()),
            },
            Told::Natural(number) => match self.kind {
                Some('c') => char_of(number.cast_signed()),
                _ => self.natural(number),
            },
            Told::Real(number) => self.real(number),
            Told::Text(ref text) => match self.precision {
                Some(most) => text.chars().take(most).collect(),
                None => text.clone(),
            },
            Told::Address(address) => format!("{address:#x}"),
        };
        self.padded(text, !matches!(argument, Told::Text(_)))
    }

    fn natural(&self, number: u64) -> String {
        match (self.kind, self.alternate) {
            (Some('x'), false) => format!("{number:x}"),
            (Some('x'), true) => format!("{number:#x}"),
            (Some('X'), _) => format!("{number:X}"),
            (Some('o'), _) => format!("{number:o}"),
            (Some('b'), _) => format!("{number:b}"),
            _ => self.signed(false, &number.to_string()),
        }
    }

    fn real(&self, number: f64) -> String {
        let size = number.abs();
        let digits = match (self.kind, self.precision) {
            (Some('e' | 'E'), precision) => exponent(size, precision.unwrap_or(6)),
            (Some('g' | 'G'), precision) => shortest(size, precision.unwrap_or(6)),
            (Some('f' | 'F'), precision) => format!("{size:.0$}", precision.unwrap_or(6)),
            (_, Some(precision)) => format!("{size:.precision$}"),
            (_, None) => format!("{size}"),
        };
        self.signed(number.is_sign_negative(), &digits)
    }

    fn signed(&self, is_negative: bool, digits: &str) -> String {
        match (is_negative, self.plus) {
            (true, _) => format!("-{digits}"),
            (false, true) => format!("+{digits}"),
            (false, false) => digits.to_owned(),
        }
    }

    fn padded(&self, text: String, is_number: bool) -> String {
        let missing = self.width.saturating_sub(text.chars().count());
        if missing == 0 {
            return text;
        }
        // As `format!` and `std::format` have it, texts stand left and numbers right; `printf` has all right.
        let left = self.left || (!is_number && self.kind.is_none() && !self.right);
        match (left, self.zeros && is_number) {
            (true, _) => text + &" ".repeat(missing),
            (false, false) => " ".repeat(missing) + &text,
            (false, true) => {
                let (sign, digits) = match text.strip_prefix(['-', '+']) {
                    Some(digits) => text.split_at(text.len() - digits.len()),
                    None => ("", &*text),
                };
                format!("{sign}{}{digits}", "0".repeat(missing))
            }
        }
    }
}

fn char_of(number: i64) -> String {
    let letter = u32::try_from(number & 0xff).ok().and_then(char::from_u32);
    letter.unwrap_or('?').to_string()
}

/// With an exponent of two digits at least, as C has it.
fn exponent(size: f64, precision: usize) -> String {
    let text = format!("{size:.precision$e}");
    match text.split_once('e') {
        Some((digits, power)) => match power.strip_prefix('-') {
            Some(power) => format!("{digits}e-{power:0>2}"),
            None => format!("{digits}e+{power:0>2}"),
        },
        None => text,
    }
}

/// At most `precision` significant digits, without zeros at the end.
fn shortest(size: f64, precision: usize) -> String {
    let precision = precision.max(1);
    let power = match size > 0.0 && size.is_finite() {
        // By its rounded digits: 9.9999995 has another power than its logarithm.
        true => {
            let digits = format!("{size:.0$e}", precision - 1);
            let power = digits
                .split_once('e')
                .and_then(|(_, power)| power.parse().ok());
            power.unwrap_or(0)
        }
        false => 0,
    };
    let without_zeros = |text: &str| {
        if text.contains('.') {
            text.trim_end_matches('0').trim_end_matches('.').to_owned()
        } else {
            text.to_owned()
        }
    };
    if (-4..precision as i32).contains(&power) {
        let decimals = (precision as i32 - 1 - power).max(0) as usize;
        return without_zeros(&format!("{size:.decimals$}"));
    }
    let text = exponent(size, precision - 1);
    match text.split_once('e') {
        Some((digits, power)) => format!("{}e{power}", without_zeros(digits)),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn real(number: f64) -> Told {
        Told::Real(number)
    }

    #[test]
    fn braces_are_written_as_format_writes_them() {
        let arguments = [real(1.5), Told::Integer(-7), Told::Text("roll".into())];
        let line = |format: &str| formatted(Style::Braces, format, &arguments);
        assert_eq!(line("{} {} {}"), format!("{} {} {}", 1.5, -7, "roll"));
        assert_eq!(
            line("{:08.3}|{:>5}|{:<6}|"),
            format!("{:08.3}|{:>5}|{:<6}|", 1.5, -7, "roll")
        );
        let text = [Told::Text("ab".into()), Told::Text("ab".into())];
        let found = formatted(Style::Braces, "{:>5}|{:<5}|", &text);
        assert_eq!(found, format!("{:>5}|{:<5}|", "ab", "ab"));
        assert_eq!(
            line("{:+.1} {:5} {:6}|"),
            format!("{:+.1} {:5} {:6}|", 1.5, -7, "roll")
        );
        assert_eq!(line("{{}} {x:.2f} {} {:?}"), "{} 1.50 -7 roll");
        assert_eq!(line("{:e} {} {}"), "1.500000e+00 -7 roll");
    }

    /// As glibc writes them.
    #[test]
    fn conversions_are_written_as_printf_writes_them() {
        let number = Told::Integer;
        let cases: [(&str, &[Told], &str); 16] = [
            (
                "%d|%5d|%-5d|%05d",
                &[number(7), number(-7), number(7), number(-7)],
                "7|   -7|7    |-0007",
            ),
            ("%u", &[Told::Natural(u64::MAX)], "18446744073709551615"),
            (
                "%x %#x %X",
                &[Told::Natural(255), Told::Natural(255), Told::Natural(255)],
                "ff 0xff FF",
            ),
            ("%f", &[real(1.5)], "1.500000"),
            ("%8.2f|", &[real(-1.256)], "   -1.26|"),
            ("%e", &[real(12345.678)], "1.234568e+04"),
            ("%.2e", &[real(0.000_012_3)], "1.23e-05"),
            ("%g %g", &[real(0.0001), real(100_000.0)], "0.0001 100000"),
            ("%g %g", &[real(0.000_01), real(1_000_000.0)], "1e-05 1e+06"),
            ("%g", &[real(9.999_999_5)], "10"),
            (
                "%s|%6s|%-6s|%.2s",
                &["ab", "ab", "ab", "abc"].map(|text| Told::Text(text.into())),
                "ab|    ab|ab    |ab",
            ),
            ("%c%%", &[number(65)], "A%"),
            ("%p", &[Told::Address(0xbeef)], "0xbeef"),
            ("%lld %zu {}", &[number(1), Told::Natural(2)], "1 2 {}"),
            ("%f", &[real(f64::INFINITY)], "inf"),
            ("%d", &[], "{?}"),
        ];
        for (format, arguments, wanted) in cases {
            assert_eq!(
                formatted(Style::Printf, format, arguments),
                wanted,
                "{format}"
            );
        }
    }

    #[test]
    fn arguments_too_few_or_too_many_are_seen() {
        let two = [Told::Integer(1), Told::Integer(2)];
        assert_eq!(formatted(Style::Braces, "{} {} {}", &two), "1 2 {?}");
        assert_eq!(formatted(Style::Braces, "none", &two), "none 1 2");
    }

    #[test]
    fn whatever_stands_there_the_line_is_bounded() {
        let long = [Told::Text("x".repeat(64)), real(f64::MAX), real(1e-300)];
        for format in [
            "%99999999d",
            "%.99999999f",
            "%",
            "{",
            "}",
            "{:",
            "%-",
            "{:999999999.999999999}",
            "ä{ä",
        ] {
            for style in [Style::Braces, Style::Printf] {
                let line = formatted(style, &format.repeat(30), &long);
                assert!(line.len() <= LONGEST, "{format}");
            }
        }
    }
}
