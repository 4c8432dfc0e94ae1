//! Commands that the pages show: the program has every verb and option of them. Those of the first
//! pages are typed too: see `system::first_hour`.

use crate::typed::{blocks, inline, is_known, page, pages};

wakepath_test_program::tests![
    every_command_that_a_page_shows_is_one_that_the_program_has,
    what_the_program_does_not_have_is_found,
];

fn every_command_that_a_page_shows_is_one_that_the_program_has() {
    let mut wrong = Vec::new();
    let mut looked_at = 0;
    for name in pages() {
        let text = page(&name);
        for line in blocks(&text).into_iter().chain(inline(&text)) {
            looked_at += 1;
            wrong.extend(
                is_known(&line)
                    .err()
                    .map(|why| format!("{name}: `{line}`: {why}")),
            );
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(looked_at > 150, "{looked_at} commands in all pages");
}

fn what_the_program_does_not_have_is_found() {
    for (line, why) in [
        ("sudo wakepath chek", "there is no verb chek"),
        ("wakepath check --quik", "wakepath check has no --quik"),
        ("wakepath tune plan -z", "wakepath tune plan has no -z"),
        (
            "wakepath machine --details > x",
            "wakepath machine has no --details",
        ),
    ] {
        assert_eq!(is_known(line), Err(why.to_owned()), "{line}");
    }
    for line in [
        "wakepath check --quick",
        "sudo wakepath watch --for 10s -- ./loop --fast",
        "wakepath VERB --help",
        "wakepath show --json | jq .verdict --raw",
        "wakepath lab exec --before '-tune apply --cpu 1' -- doctor --fast",
        "wakepath-rights grant --group them",
        "make all --jobs",
    ] {
        assert_eq!(is_known(line), Ok(()), "{line}");
    }
    let text = "Type `wakepath runs`.\n```sh\nsudo wakepath check \\\n  --cpu 1   # the second\n\
                # nothing\necho '# kept'\n```\n```text\nwakepath no\n```\n";
    assert_eq!(inline(text), ["wakepath runs"]);
    assert_eq!(
        blocks(text),
        ["sudo wakepath check --cpu 1", "echo '# kept'"]
    );
}
