//! Metadata that nobody's tracer writes: refused before it takes memory or time.

use std::fmt::Write;
use std::time::{Duration, Instant};
use wakepath_import::{Asked, Form, Part};

const HEAD: &str =
    "/* CTF 1.8 */ typealias integer { size = 8; align = 8; signed = false; } := byte;\n";

fn refused(text: &str) -> String {
    let part = Part {
        path: "ust/metadata".into(),
        bytes: format!("{HEAD}{text}").into_bytes(),
    };
    let refused = Form::named("ros2")
        .unwrap()
        .read_directory(&[part], &Asked::default());
    refused.expect_err("it is not a trace").to_string()
}

fn names(count: usize) -> String {
    (0..count).map(|number| format!("n{number},")).collect()
}

#[test]
fn names_of_an_enumeration_weigh_where_it_is_used() {
    let mut text = format!(
        "typealias enum : byte {{ {} }} := state;\nstruct {{",
        names(2000)
    );
    for field in 0..100 {
        write!(text, "state f{field};").unwrap();
    }
    text += "};";
    let said = refused(&text);
    assert!(said.contains("nested deeper"), "{said}");
    let said = refused(&format!("enum : byte {{ {} }};", names(5000)));
    assert!(said.contains("nested deeper"), "{said}");
}

#[test]
fn a_heavy_type_in_every_event_is_refused() {
    let mut text = "struct heavy {".to_owned();
    for field in 0..4000 {
        write!(text, "byte f{field};").unwrap();
    }
    text += "};";
    for event in 0..300 {
        let fields = "fields := struct heavy;";
        writeln!(text, "event {{ name = \"e\"; id = {event}; {fields} }};").unwrap();
    }
    let said = refused(&text);
    assert!(said.contains("more types than LTTng writes"), "{said}");
}

#[test]
fn arrays_of_arrays_end() {
    let said = refused(&format!("struct {{ byte a{}; }};", "[1]".repeat(100_000)));
    assert!(said.contains("nested deeper"), "{said}");
}

#[test]
fn names_do_not_nest_deeper_than_fields_are_read() {
    let mut text = "struct s0 { byte b; };".to_owned();
    for level in 1..4000 {
        write!(text, "struct s{level} {{ struct s{} of; }};", level - 1).unwrap();
    }
    let said = refused(&text);
    assert!(said.contains("nested deeper"), "{said}");
}

#[test]
fn a_name_of_many_words_is_refused() {
    let words = "word ".repeat(100);
    let said = refused(&format!("typealias byte := {words};"));
    assert!(said.contains("not in LTTng's form"), "{said}");
    let setting = format!("env {{ a{} = 1; }};", ".a".repeat(100));
    let said = refused(&setting);
    assert!(said.contains("not in LTTng's form"), "{said}");
}

#[test]
fn many_words_in_a_type_s_place_take_no_time() {
    let begun = Instant::now();
    let words = "word ".repeat(300_000);
    let said = refused(&format!("struct {{ {words}; }};"));
    assert!(said.contains("not in LTTng's form"), "{said}");
    assert!(
        begun.elapsed() < Duration::from_secs(5),
        "{:?}",
        begun.elapsed()
    );
}
