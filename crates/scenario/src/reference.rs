//! The reference page of all keys, made from the same table as the reader.

use crate::keys::{Key, Shape, Table, described_task_set, scenario_table, sections_table};

const HEAD: &str = "\
# Scenario files

<!-- Made from crates/scenario/src/keys; `WRITE_REFERENCE=1 cargo test -p wakepath-scenario` \
renews it. -->

A scenario is a TOML file that describes a measurement and its criterion. Nothing is guessed: an
unknown key, a number without its unit or an impossible combination is refused with its place in
the file. `wakepath` reads nothing larger than 1 MiB.

## How values are written

| form | written as | notes |
|---|---|---|
| time | `\"4 ms\"`, `\"400us\"`, `\"1.5 s\"` | ns, µs or us, ms, s, min or m, h; whole nanoseconds, never rounded |
| rate | `\"250 Hz\"`, `\"1 kHz\"` | resolved to the nearest whole nanosecond of period; a warning reports the drift (300 Hz becomes 3 333 333 ns, 100 ns short of each second) |
| size | `\"64 KiB\"`, `\"4 MiB\"` | B, KiB, MiB, GiB |
| of the period | `\"400 µs\"`, `\"10 %\"`, `\"3 periods\"` | resolved to the nearest nanosecond; with several \
periods the shortest counts |
| share | `0.005`, `\"0.5 %\"` | from 0 to below 1 |
| CPUs | `\"1\"`, `\"2-3\"`, `\"0,2-3\"` | must exist on the machine that reads the file |
| name | `\"stress\"` | up to 64 printable characters, no slash, no leading dot |

## How long a run takes

Conditions × (judged time + repetitions × (warm-up + 0.25 s)), and 1 s for each start of a phase's
loads. With `trace` every segment is measured twice. There is one condition for each policy in each phase. This is an estimate: a load that is
slow to start takes longer.

A run can pass only if it is long enough: to show a miss fraction of p with confidence c it needs
at least ln(1 − c) / ln(1 − p) due times in each condition (598 for 0.5 % at 95 %; 29 956 for
0.01 %). A scenario that is too short to pass is accepted with a warning.
";

/// The reference page as Markdown.
pub fn reference() -> String {
    let mut page = Page {
        text: HEAD.to_owned(),
        titles: Vec::new(),
    };
    page.table(&scenario_table());
    page.text += "\n# Task sets for analysis\n";
    page.table(&described_task_set());
    page.text += "\n# Sections of kernel code\n";
    page.table(&sections_table());
    page.text
}

/// The page so far, with the titles of its sections: a table that several keys have is described once.
struct Page {
    text: String,
    titles: Vec<&'static str>,
}

impl Page {
    fn begin(&mut self, title: &'static str, about: &str) -> bool {
        if self.titles.contains(&title) {
            return false;
        }
        self.titles.push(title);
        let (first, rest) = title.split_at(1);
        self.text += &format!("\n## {}{rest}\n\n{about}\n", first.to_uppercase());
        true
    }

    /// A table, and those in it.
    fn table(&mut self, table: &Table) {
        if !self.begin(table.title, table.about) {
            return;
        }
        for group in &table.one_of {
            let names: Vec<String> = group.iter().map(|name| format!("`{name}`")).collect();
            self.text += &format!("\nExactly one of {} is given.\n", names.join(", "));
        }
        self.text += &key_table(&table.keys);
        table.keys.iter().for_each(|key| self.nested(&key.shape));
    }

    fn nested(&mut self, shape: &Shape) {
        match shape {
            Shape::Table(table) => self.table(table),
            Shape::List(item, ..) => self.nested(item),
            Shape::Either(shapes) => shapes.iter().for_each(|shape| self.nested(shape)),
            Shape::Variants(variants) if self.begin(variants.title, variants.about) => {
                for (name, table) in &variants.variants {
                    let (tag, about) = (variants.tag, table.about);
                    self.text += &format!("\n### `{tag} = \"{name}\"`\n\n{about}\n");
                    if !table.keys.is_empty() {
                        self.text += &key_table(&table.keys);
                    }
                }
                let tables = variants.variants.iter().map(|(_, table)| table);
                let keys = tables.flat_map(|table| &table.keys);
                keys.for_each(|key| self.nested(&key.shape));
            }
            _ => {}
        }
    }
}

fn key_table(keys: &[Key]) -> String {
    let mut table = String::from("\n| key | value | without it | meaning |\n|---|---|---|---|\n");
    for key in keys {
        let without = key.without.as_deref().unwrap_or("refused");
        table += &format!(
            "| `{}` | {} | {without} | {} |\n",
            key.name,
            form(&key.shape),
            key.about
        );
    }
    table
}

fn form(shape: &Shape) -> String {
    match shape {
        Shape::Name => "name".into(),
        Shape::Text | Shape::Line => "text".into(),
        Shape::Fitting(_, what) => (*what).into(),
        Shape::Time(..) => "time".into(),
        Shape::Rate(..) => "rate".into(),
        Shape::Size(..) => "size".into(),
        Shape::OfPeriod => "of the period".into(),
        Shape::Share { .. } => "share".into(),
        Shape::Number(from, true, below) => format!("number from {from}, below {below}"),
        Shape::Number(above, false, below) => format!("number between {above} and {below}"),
        Shape::Integer(least, most) => format!("{least} to {most}"),
        Shape::CpuSet => "CPUs".into(),
        Shape::Boolean => "true or false".into(),
        Shape::Choice(names) => {
            let names: Vec<String> = names.iter().map(|name| format!("\"{name}\"")).collect();
            names.join(", ")
        }
        Shape::Either(shapes) => {
            let shapes: Vec<String> = shapes.iter().map(form).collect();
            shapes.join(", or ")
        }
        Shape::Texts(..) => "list of texts".into(),
        Shape::List(item, _, most) => format!("list of up to {most}: {}", form(item)),
        Shape::Table(table) => format!("table: {}", table.title),
        Shape::Variants(variants) => format!("{}: table or {}", variants.title, variants.short.1),
    }
}
