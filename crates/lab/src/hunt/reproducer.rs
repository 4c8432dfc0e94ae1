//! A program as C, which runs on any Linux on x86-64 without wakepath. Pure.

use wakepath_guest::hunt::{Call, Grammar, Program, Value};

const HEAD: &str = r#"#define _GNU_SOURCE
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define P(pointer) ((uint64_t)(uintptr_t)(pointer))
"#;

/// Each with its beginning where a program uses it; those without use are left out, because compilers warn of them.
const HELPERS: [(&str, &str); 4] = [
    (
        "room(",
        r#"
/* Zero bytes to read and write. */
static void *room(size_t bytes) { return calloc(1, bytes); }
"#,
    ),
    (
        "text(",
        r#"
static void *text(const char *from) { return strdup(from); }
"#,
    ),
    (
        "BLOCK(",
        r#"
/* Fields without gaps: pairs of value and width. */
static void *block(const uint64_t *fields, size_t count)
{
	unsigned char *all = calloc(count + 1, 8), *at = all;
	for (size_t i = 0; i < count; i++) {
		memcpy(at, &fields[2 * i], fields[2 * i + 1]);
		at += fields[2 * i + 1];
	}
	return all;
}
#define BLOCK(...) block((const uint64_t[]){__VA_ARGS__}, sizeof((uint64_t[]){__VA_ARGS__}) / 16)
"#,
    ),
    (
        "written(",
        r#"
/* The kernel's result in a block. */
static uint64_t written(const void *block, size_t offset)
{
	int32_t word = -1;
	if (block)
		memcpy(&word, (const char *)block + offset, sizeof word);
	return word;
}
"#,
    ),
];

const PROGRAM: &str = r#"
static void program(void)
{
"#;

const TAIL: &str = r#"}

/* Runs the program again and again, or as many times as the first argument says. */
int main(int count, char **words)
{
	long times = count > 1 ? atol(words[1]) : -1;
	for (; times != 0; times -= times > 0) {
		pid_t child = fork();
		if (child < 0)
			return 1;
		if (child == 0) {
			setpgid(0, 0);
			program();
			_exit(0);
		}
		usleep(LIMIT_US);
		kill(-child, SIGKILL);
		kill(child, SIGKILL);
		while (waitpid(child, NULL, 0) < 0)
			;
	}
	return 0;
}
"#;

/// The program as C. `about` becomes the comment at its head; each start has `limit_ns`.
pub fn reproducer(program: &Program, grammar: &Grammar, about: &str, limit_ns: u64) -> String {
    let comment: Vec<String> = about
        .lines()
        .map(|line| format!(" * {line}").trim_end().into())
        .collect();
    let mut text = format!("/*\n{}\n */\n", comment.join("\n").replace("*/", "* /"));
    text += &format!("#define LIMIT_US {}\n{HEAD}", limit_ns.div_ceil(1_000));
    let calls = program.calls.iter().enumerate();
    let calls: String = calls
        .map(|(number, call)| one(number, call, grammar))
        .collect();
    let used = HELPERS.iter().filter(|(use_of, _)| calls.contains(use_of));
    text.extend(used.map(|(_, helper)| *helper));
    text += PROGRAM;
    text += &calls;
    text + TAIL
}

fn one(number: usize, call: &Call, grammar: &Grammar) -> String {
    let mut text = String::new();
    let mut block = "NULL".to_owned();
    let mut arguments = String::new();
    for (place, value) in call.arguments.iter().enumerate() {
        let name = format!("a{number}_{place}");
        text += &format!("\tuint64_t {name} = {};\n", expression(value));
        if matches!(value, Value::Room(_) | Value::Block(_)) && block == "NULL" {
            block = format!("(void *)(uintptr_t){name}");
        }
        arguments += &format!(", {name}");
    }
    let of_call = grammar.number(&call.name).unwrap_or(u64::MAX);
    text += &format!("\tvoid *b{number} = {block};\n\tuint64_t r{number} = -1;\n");
    text += &format!("\tfor (int i = 0; i < {}; i++)\n", call.times);
    text += &format!(
        "\t\tr{number} = syscall({of_call} /* {} */{arguments});\n",
        call.name
    );
    text + &format!("\t(void)b{number}, (void)r{number};\n")
}

fn expression(value: &Value) -> String {
    match value {
        Value::Number(number) => format!("{number:#x}u"),
        Value::Result(call) => format!("r{call}"),
        Value::Written { call, offset } => format!("written(b{call}, {offset})"),
        Value::Text(text) => format!("P(text({}))", quoted(text)),
        Value::Room(bytes) => format!("P(room({bytes}))"),
        Value::Block(fields) => {
            let field = |field: &wakepath_guest::hunt::Field| {
                format!("{}, {}", expression(&field.value), field.bytes)
            };
            let fields: Vec<String> = fields.iter().map(field).collect();
            format!("P(BLOCK({}))", fields.join(", "))
        }
    }
}

/// A text as C's: every byte that could mean something else as three octal digits.
fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'.' | b'_' | b'-' | b' ' => {
                quoted.push(char::from(byte));
            }
            byte => quoted += &format!("\\{byte:03o}"),
        }
    }
    quoted + "\""
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;
    use wakepath_guest::hunt::parse;

    /// Writes and compiles a program in a directory; false without a compiler.
    fn is_compiled(text: &str, place: &std::path::Path) -> bool {
        let source = place.join("program.c");
        let program = parse(text).unwrap();
        let c = reproducer(&program, &Grammar::own(), "a\n*/ test", 200_000_000);
        std::fs::write(&source, c).unwrap();
        let mut command = Command::new("cc");
        let command = command.args(["-Wall", "-Wextra", "-Werror", "-o"]);
        let made = command.arg(place.join("program")).arg(&source).status();
        let Ok(made) = made else {
            eprintln!("not run: no C compiler is installed");
            return false;
        };
        assert!(made.success(), "{text}");
        true
    }

    #[test]
    fn a_c_program_has_no_helper_that_it_does_not_use() {
        let place = tempfile::tempdir().unwrap();
        for call in ["dup(1)", "read(0, room(8), 8)", "dup(\"a\")", "dup({1/8})"] {
            is_compiled(&format!("r0 = {call}\n"), place.path());
        }
    }

    /// The compiled program creates the file that its calls name, of the length that they give.
    #[test]
    #[cfg(target_arch = "x86_64")]
    fn the_c_program_does_what_the_program_does() {
        let text = "r0 = openat(-100, \"a\\\"b\", 0x42, 0x1b6)\n\
                    r1 = pipe2({0/4 0/4}, 0)\n\
                    r2 = write(r1@4, {0x64636261/4 \"x\"/8}, 4)\n\
                    r3 = splice(r1@0, 0, r0, 0, 4, 0)\n\
                    r4 = 3 x write(r0, room(8), 8)\n";
        let place = tempfile::tempdir().unwrap();
        if !is_compiled(text, place.path()) {
            return;
        }
        let mut run = Command::new(place.path().join("program"));
        assert!(
            run.arg("1")
                .current_dir(place.path())
                .status()
                .unwrap()
                .success()
        );
        let written = std::fs::read(place.path().join("a\"b")).unwrap();
        assert_eq!(written, [&b"abcd"[..], &[0; 24]].concat());
    }
}
