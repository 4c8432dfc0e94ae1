//! Commands that pages and help show, and those in backquotes in what the program can print: its command line reads
//! each of them, with the values of its options. Those of the first pages are typed too: see `system::first_hour`.

use crate::typed::{blocks, inline, is_known, page, pages, prompts, spans, units};
use std::path::Path;

wakepath_test_program::tests![
    every_command_that_a_page_shows_is_one_that_the_program_has,
    every_example_of_the_help_is_one_that_the_program_has,
    every_command_that_can_be_printed_is_one_that_the_program_has,
    what_the_program_does_not_have_is_found,
];

fn every_command_that_a_page_shows_is_one_that_the_program_has() {
    let mut wrong = Vec::new();
    let mut looked_at = 0;
    for name in pages() {
        let text = page(&name);
        // Suggestions of the answers that a page shows: indented, in blocks of text.
        let suggested = spans(&text, "  wakepath ");
        let shown = [blocks(&text), prompts(&text), units(&text), inline(&text)].concat();
        // Those that wakepath starts itself by are described, and nobody types them.
        let shown = shown
            .into_iter()
            .filter(|line| !line.starts_with("wakepath internal "));
        for line in shown.chain(suggested) {
            looked_at += 1;
            wrong.extend(
                is_known(&line)
                    .err()
                    .map(|why| format!("{name}: `{line}`: {why}")),
            );
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(looked_at > 500, "{looked_at} commands in all pages");
}

fn every_example_of_the_help_is_one_that_the_program_has() {
    let examples = spans(&page("docs/reference/command-line.md"), "  wakepath ");
    let wrong = refused(&examples);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(examples.len() > 100, "{} examples", examples.len());
    // A wrapped line can't be copied.
    let wide: Vec<&String> = examples.iter().filter(|line| line.len() > 78).collect();
    assert!(wide.is_empty(), "wider than 80 columns: {wide:#?}");
}

fn every_command_that_can_be_printed_is_one_that_the_program_has() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut lines = Vec::new();
    sources(&crates, &mut |text| lines.extend(in_backquotes(text)));
    let wrong = refused(&lines);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(lines.len() > 50, "{} commands", lines.len());
}

fn refused(lines: &[String]) -> Vec<String> {
    let why = |line: &String| is_known(line).err().map(|why| format!("`{line}`: {why}"));
    lines.iter().filter_map(why).collect()
}

/// Calls `each` with every source of a room that is no test.
fn sources(folder: &Path, each: &mut impl FnMut(&str)) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if path.is_dir() && !["tests", "benches", "examples"].contains(&&*name) {
            sources(&path, each);
        } else if name.ends_with(".rs") && name != "tests.rs" {
            let text = std::fs::read_to_string(&path).unwrap();
            each(text.split("#[cfg(test)]").next().unwrap_or_default());
        }
    }
}

/// Commands in backquotes outside comments; placeholders become blanks.
fn in_backquotes(text: &str) -> Vec<String> {
    let lines = text
        .lines()
        .filter(|line| !line.trim_start().starts_with("//"))
        .collect::<Vec<_>>()
        .join("\n")
        .replace("\\\n", " ");
    let pieces = lines
        .lines()
        .flat_map(|line| line.split('`').skip(1).step_by(2));
    let commands = pieces.filter(|piece| piece.starts_with("wakepath ") && !piece.contains('"'));
    commands.map(without_placeholders).collect()
}

fn without_placeholders(command: &str) -> String {
    let mut pieces = command.split('{');
    let first = pieces.next().unwrap_or_default().to_owned();
    let line = pieces.fold(first, |line, piece| {
        line + "X" + piece.split_once('}').map_or("", |(_, rest)| rest)
    });
    line.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn what_the_program_does_not_have_is_found() {
    for (line, why) in [
        ("sudo wakepath chek", "chek"),
        ("wakepath check --quik", "--quik"),
        ("wakepath check --rate RATE --quik", "has no --quik"),
        ("wakepath check --rate 1", "--rate"),
        ("wakepath check --latency 200", "--latency 200"),
        ("wakepath check --duration 5s", "too short"),
        ("wakepath check --policy 'FIFO 100'", "FIFO 100"),
        ("wakepath run pi5-250hz --for never", "--for never"),
        ("wakepath rate --from 2kHz --to 1kHz", "lower"),
        ("wakepath watch --for 5 -- ./loop", "--for 5"),
        (
            "wakepath record --service here --keep 5 -- ./loop",
            "--keep 5",
        ),
        ("wakepath tune trial --block 0s", "--block 0s"),
        ("wakepath try cpu -- ./loop", "no such fix"),
        ("wakepath compare @1 @2 --margin 5", "--margin 5"),
        ("wakepath exec --policy 'DEADLINE 1ms' -- ./loop", "period"),
        ("wakepath lab run a.toml --kernels x", "--kernels"),
        ("wakepath tune plan -z", "-z"),
        ("wakepath machine --details > x", "--details"),
    ] {
        let found = is_known(line).expect_err(line);
        assert!(found.contains(why), "{line}: {found}");
    }
    for line in [
        "wakepath check --quick",
        "sudo wakepath watch --for 10s -- ./loop --fast",
        "wakepath VERB --help",
        "wakepath show --json | jq .verdict --raw",
        "wakepath lab exec --kernel debian:rt --before '-tune apply --cpu 1' -- doctor --fast",
        "wakepath-rights grant --group them",
        "make all --jobs",
    ] {
        assert_eq!(is_known(line), Ok(()), "{line}");
    }
    assert_eq!(
        in_backquotes("// `wakepath no`\nlet a = \"see `wakepath \\\n   show {run}`\";"),
        ["wakepath show X"]
    );
    let text = "Type `wakepath runs`.\n```sh\nsudo wakepath check \\\n  --cpu 1   # the second\n\
                # nothing\necho '# kept'\n```\n```text\nwakepath no\n```\n";
    assert_eq!(inline(text), ["wakepath runs"]);
    let unit = "```ini\nExecStart=/usr/bin/wakepath run --resume \\\n  --directory here\nRestart=no\n```\n";
    assert_eq!(units(unit), ["wakepath run --resume --directory here"]);
    let console = "```console\n$ wakepath runs\nnothing yet\n```\n";
    assert_eq!(prompts(console), ["wakepath runs"]);
    assert_eq!(
        blocks(text),
        ["sudo wakepath check --cpu 1", "echo '# kept'"]
    );
}
