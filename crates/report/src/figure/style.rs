//! The colours, once: as variables for the page, light and dark, and as themselves in a figure
//! that leaves it, since many programs that show SVG know no variables.

/// Name, on light paper, on dark paper. The hues are those of Okabe and Ito, which people with
/// impaired colour vision can distinguish, darkened or lightened for contrast.
const COLOURS: &[(&str, &str, &str)] = &[
    ("paper", "#ffffff", "#14181d"),
    ("stripe", "#f4f6f8", "#1b2027"),
    ("ink", "#1b1f24", "#e6eaee"),
    ("soft", "#59636e", "#9aa5b1"),
    ("grid", "#dde2e7", "#2b323b"),
    ("limit", "#c4161c", "#ff6b6b"),
    ("violation", "#c4161c", "#ff6b6b"),
    ("link", "#0a58a8", "#6cb6ff"),
    ("good", "#116329", "#56d364"),
    ("bad", "#b3151b", "#ff7b72"),
    ("doubt", "#8a5a00", "#e3b341"),
    ("c0", "#0072b2", "#4ea8de"),
    ("c1", "#c75000", "#ff8c42"),
    ("c2", "#00805c", "#2dd4a7"),
    ("c3", "#b05a8b", "#f0a6cf"),
    ("c4", "#a87400", "#ffc043"),
    ("c5", "#2f8fc9", "#8fd3ff"),
    ("c6", "#6f4e9c", "#b79cf0"),
    ("c7", "#7d5f26", "#d2b271"),
    ("c8", "#5f6b76", "#a9b4be"),
    // No red: that means beyond the limit.
    ("c9", "#006d77", "#5fd4e0"),
];

const FIGURE: &str = include_str!("figure.css");

/// The classes of a policy's colour: ten hues, then the same dashed.
pub(super) fn colour(index: usize) -> String {
    match index / 10 {
        0 => format!("c{index}"),
        dashes => format!("c{} d{}", index % 10, 1 + (dashes - 1) % 2),
    }
}

/// For the page: the colours of both schemes and the classes of the figures. Paper is light.
pub(crate) fn style_sheet() -> String {
    let all = |of: fn(&(&str, &str, &str)) -> String| COLOURS.iter().map(of).collect::<String>();
    let light = all(|(name, light, _)| format!("--{name}:{light};"));
    let dark = all(|(name, _, dark)| format!("--{name}:{dark};"));
    format!(
        ":root{{color-scheme:light dark;{light}}}\n\
         @media screen and (prefers-color-scheme:dark){{:root{{{dark}}}}}\n{FIGURE}"
    )
}

/// For a file: the classes with light colours written out.
pub(super) fn on_paper() -> String {
    COLOURS
        .iter()
        .fold(FIGURE.to_owned(), |style, (name, light, _)| {
            style.replace(&format!("var(--{name})"), light)
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_figure_on_paper_needs_no_variable_and_nothing_of_it_is_escaped() {
        let style = on_paper();
        assert!(!style.contains("var("), "{style}");
        assert!(!style.contains(['<', '>', '&', '"', '\'']), "{style}");
    }

    #[test]
    fn the_eleventh_policy_has_the_first_hue_dashed() {
        assert_eq!(
            [colour(9), colour(10), colour(21)],
            ["c9", "c0 d1", "c1 d2"]
        );
    }
}
