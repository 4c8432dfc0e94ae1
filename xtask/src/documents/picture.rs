//! The picture on README's first screen: the answer quoted in README, as a terminal shows it.

/// Text before and after the answer in README.
const AROUND: (&str, &str) = ("```text\nverdict: ", "\n```");
/// The command in the picture.
const COMMAND: &str = "sudo wakepath check --quick";
/// Width of a letter and height of a line, in pixels at 14 pixels' letters.
const LETTER: usize = 84;
const LINE: usize = 19;

/// The picture of README's answer: the verdict, its criterion, and the table.
pub fn of_readme(readme: &str) -> Result<String, String> {
    let missing = || "README.md: no answer of `wakepath check` to make a picture of".to_owned();
    let (_, answer) = readme.split_once(AROUND.0).ok_or_else(missing)?;
    let (answer, _) = answer.split_once(AROUND.1).ok_or_else(missing)?;
    let lines: Vec<String> = format!("verdict: {answer}")
        .lines()
        .take_while(|line| !line.starts_with("what matters"))
        .map(Into::into)
        .collect();
    Ok(drawn(&lines))
}

fn drawn(lines: &[String]) -> String {
    let widest = lines.iter().map(|line| line.chars().count()).max();
    // In tenths of a pixel: a letter is 8.4 wide.
    let width = widest.unwrap_or(0) * LETTER / 10 + 40;
    let height = (lines.len() + 2) * LINE + 44;
    let mut text = String::new();
    let mut y = 54;
    for (at, line) in std::iter::once(&format!("$ {COMMAND}"))
        .chain(lines)
        .enumerate()
    {
        if at == 1 {
            y += LINE / 2;
        }
        let class = if at == 0 { " class=\"typed\"" } else { "" };
        text += &format!(
            "<text x=\"20\" y=\"{y}\"{class}>{}</text>\n",
            coloured(line)
        );
        y += LINE;
    }
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" \
         height=\"{height}\" role=\"img\">
<title>What wakepath check --quick answers</title>
<style>
text {{ font: 14px ui-monospace, SFMono-Regular, Menlo, Consolas, \"DejaVu Sans Mono\", monospace; \
         fill: #d8dee6; white-space: pre; }}
.typed {{ fill: #8b98a9; }}
.passed {{ fill: #7fd18b; font-weight: 600; }}
.failed {{ fill: #f28b82; font-weight: 600; }}
.undecided {{ fill: #e8c268; font-weight: 600; }}
</style>
<rect width=\"100%\" height=\"100%\" rx=\"8\" fill=\"#171b21\"/>
<g fill=\"#3a424e\"><circle cx=\"22\" cy=\"20\" r=\"6\"/><circle cx=\"42\" cy=\"20\" r=\"6\"/><circle \
         cx=\"62\" cy=\"20\" r=\"6\"/></g>
{text}</svg>
"
    )
}

/// A line with its verdicts in their colours.
fn coloured(line: &str) -> String {
    let mut drawn = String::new();
    for word in line.split_inclusive(' ') {
        let letters = word.trim_end_matches([' ', ':']);
        let class = match letters {
            "PASSED" | "passed" => "passed",
            "FAILED" | "failed" => "failed",
            "UNDECIDED" | "undecided" => "undecided",
            _ => "",
        };
        let escaped = |text: &str| text.replace('&', "&amp;").replace('<', "&lt;");
        let rest = &word[letters.len()..];
        drawn += &match class {
            "" => escaped(word),
            class => format!("<tspan class=\"{class}\">{letters}</tspan>{rest}"),
        };
    }
    drawn
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_picture_shows_readmes_own_lines_and_nothing_after_the_table() {
        let readme = "# x\n```text\nverdict: PASSED: use FIFO 50 & rest\n\nFIFO 50  passed\n\nwhat \
                      matters most\n```\n";
        let picture = of_readme(readme).expect("there is an answer");
        assert!(picture.contains("<tspan class=\"passed\">PASSED</tspan>: use FIFO 50 &amp; rest"));
        assert!(picture.contains("<tspan class=\"passed\">passed</tspan>"));
        assert!(!picture.contains("matters"));
        assert!(of_readme("# x").is_err());
    }
}
