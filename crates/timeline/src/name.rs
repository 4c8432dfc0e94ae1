//! Names for a scenario, made from arbitrary names.

/// Longest name made here, in characters, with space for a number after it.
const LONGEST: usize = 40;

/// A name for scenarios, tables and directories: letters, digits and `-_.:+@` are kept, and anything
/// else becomes `-`, a slash and a leading dot included, since a name must not be taken for a path.
pub fn plain_name(name: &str) -> String {
    let kept = |(index, c): (usize, char)| match c {
        '.' if index == 0 => '-',
        c if c.is_alphanumeric() || "-_.:+@".contains(c) => c,
        _ => '-',
    };
    if name.is_empty() {
        "unnamed".into()
    } else {
        name.chars().take(LONGEST).enumerate().map(kept).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_can_t_be_taken_for_a_path() {
        assert_eq!(plain_name("irq/24-eth0"), "irq-24-eth0");
        assert_eq!(plain_name("../x"), "-.-x");
        assert_eq!(plain_name(".hidden"), "-hidden");
        assert_eq!(plain_name("control v1.2:a"), "control-v1.2:a");
        assert_eq!(plain_name(""), "unnamed");
        assert_eq!(plain_name(&"ä".repeat(100)).chars().count(), 40);
    }
}
