//! The reference page of all keys, made from the same table as the reader.

use crate::keys::{
    ACCOUNTING, CRITERION, FLIGHT, Form, Key, LOAD, PHASE, POLICY, Presence, SCENARIO,
    SECTION_INTERRUPT, SECTIONS, SET_ADMISSION, SET_CACHE_DELAY, SET_CHAIN, SET_EXECUTION,
    SET_OVERHEADS, SET_RESERVATION, SET_TASK, TABLE_TASK, TASK, TASK_SET, TRACE, TRAJECTORY, Table,
    Variants, WAYPOINT, WORK,
};

const HEAD: &str = "\
# Scenario files

<!-- Made from crates/scenario/src/keys; `WRITE_REFERENCE=1 cargo test -p wakepath-scenario` \
renews it. -->

A scenario is a TOML file that says what is measured on which terms. Nothing is guessed: an
unknown key, a number without its unit or an impossible combination is refused with its place in
the file. `wakepath` reads nothing larger than 1 MiB.

## How values are written

| form | written as | notes |
|---|---|---|
| time | `\"4 ms\"`, `\"400us\"`, `\"1.5 s\"` | ns, µs or us, ms, s, min, h; whole nanoseconds, never rounded |
| rate | `\"250 Hz\"`, `\"1 kHz\"` | resolved to the nearest whole nanosecond of period; a warning reports the drift (300 Hz becomes 3 333 333 ns, 100 ns short of each second) |
| size | `\"64 KiB\"`, `\"4 MiB\"` | B, KiB, MiB, GiB |
| of the period | `\"400 µs\"`, `\"10 %\"`, `\"3 periods\"` | resolved to the nearest nanosecond; with several periods the shortest is meant |
| share | `0.005`, `\"0.5 %\"` | from 0 to below 1 |
| CPUs | `\"1\"`, `\"2-3\"`, `\"0,2-3\"` | must be there on the machine that reads the file |
| name | `\"stress\"` | up to 64 printable characters, no slash, no leading dot |

## How long a run takes

Conditions × (judged time + repetitions × (warm-up + 0.25 s)), and 1 s for each start of a phase's
loads. With `trace` every segment is measured twice. There is one condition for each policy in each phase. This is an estimate: a load that is
slow to start takes longer.

A run can only pass when it is long enough: to show a miss fraction of p with confidence c it needs
at least ln(1 − c) / ln(1 − p) due times in each condition (598 for 0.5 % at 95 %; 29 956 for
0.01 %). A scenario that cannot pass is read, with a warning.
";

/// The reference page as Markdown.
pub fn reference() -> String {
    let mut page = HEAD.to_owned();
    for (heading, inner) in [("The file", &SCENARIO), ("`[[phases]]`", &PHASE)] {
        page += &table_section(heading, inner);
    }
    page += &variants_section("Loads", &LOAD);
    page += &variants_section("Policies", &POLICY);
    page += &variants_section("Work", &WORK);
    page += &table_section("Task tables", &TABLE_TASK);
    page += &variants_section("Trajectories", &TRAJECTORY);
    page += &table_section("Waypoints", &WAYPOINT);
    for (heading, inner) in [
        ("`[[tasks]]`", &TASK),
        ("`accounting`", &ACCOUNTING),
        ("`[trace]`", &TRACE),
        ("`[criterion]`", &CRITERION),
        ("`[flight]`", &FLIGHT),
    ] {
        page += &table_section(heading, inner);
    }
    page += "\n# Task sets for analysis\n";
    for (heading, inner) in [
        ("A task set", &TASK_SET),
        ("A task of it", &SET_TASK),
        ("Its execution, from a run", &SET_EXECUTION),
        ("A chain of them", &SET_CHAIN),
        ("A reservation", &SET_RESERVATION),
        ("The kernel's limits", &SET_ADMISSION),
        ("Its overheads", &SET_OVERHEADS),
        ("A cache delay of them", &SET_CACHE_DELAY),
    ] {
        page += &table_section(heading, inner);
    }
    page += "\n# Sections of kernel code\n";
    for (heading, inner) in [
        ("A file of sections", &SECTIONS),
        ("An interrupt of it", &SECTION_INTERRUPT),
    ] {
        page += &table_section(heading, inner);
    }
    page
}

fn table_section(heading: &str, table: &Table) -> String {
    let mut section = format!("\n## {heading}\n\n{}\n", table.about);
    for group in table.one_of {
        let names: Vec<String> = group.iter().map(|name| format!("`{name}`")).collect();
        section += &format!("\nExactly one of {} is given.\n", names.join(", "));
    }
    section + &key_table(table.keys)
}

fn variants_section(heading: &str, variants: &Variants) -> String {
    let mut section = format!("\n## {heading}\n\n{}\n", variants.about);
    for variant in variants.variants {
        section += &format!(
            "\n### `{} = \"{}\"`\n\n{}\n",
            variants.tag, variant.name, variant.about
        );
        if !variant.keys.is_empty() {
            section += &key_table(variant.keys);
        }
    }
    section
}

fn key_table(keys: &[Key]) -> String {
    let mut table = String::from("\n| key | value | without it | meaning |\n|---|---|---|---|\n");
    for key in keys {
        let without = match key.presence {
            Presence::Required => "refused",
            Presence::Default(default) => default,
        };
        table += &format!(
            "| `{}` | {} | {without} | {} |\n",
            key.name,
            form(&key.form),
            key.about
        );
    }
    table
}

fn form(form: &Form) -> String {
    match form {
        Form::Name => "name".into(),
        Form::Text | Form::Line => "text".into(),
        Form::Fitting(_, what) => (*what).into(),
        Form::Duration | Form::Time(..) => "time".into(),
        Form::Rate(..) => "rate".into(),
        Form::Size | Form::Bytes(..) => "size".into(),
        Form::OfPeriod => "of the period".into(),
        Form::Share => "share".into(),
        Form::Number(above, below) => format!("number between {above} and {below}"),
        Form::Integer(least, most) => format!("{least} to {most}"),
        Form::CpuSet => "CPUs".into(),
        Form::Boolean => "true or false".into(),
        Form::Choice(names) => names
            .iter()
            .map(|name| format!("\"{name}\""))
            .collect::<Vec<_>>()
            .join(", "),
        Form::Either(forms) => forms
            .iter()
            .map(self::form)
            .collect::<Vec<_>>()
            .join(", or "),
        Form::Texts(_) => "list of texts".into(),
        Form::List(item, _, most) => format!("list of up to {most}: {}", self::form(item)),
        Form::Table(table) => format!("table: {}", table.title),
        Form::Variants(variants) => format!("{}: table or {}", variants.title, variants.short.1),
    }
}
