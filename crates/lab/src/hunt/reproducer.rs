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

/* Zero bytes to read and write. */
static void *room(size_t bytes) { return calloc(1, bytes); }

static void *text(const char *from) { return strdup(from); }

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

/* What the kernel wrote into a block. */
static uint64_t written(const void *block, size_t offset)
{
	int32_t word = -1;
	if (block)
		memcpy(&word, (const char *)block + offset, sizeof word);
	return word;
}

#define P(pointer) ((uint64_t)(uintptr_t)(pointer))
#define BLOCK(...) block((const uint64_t[]){__VA_ARGS__}, sizeof((uint64_t[]){__VA_ARGS__}) / 16)

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
    for (number, call) in program.calls.iter().enumerate() {
        text += &one(number, call, grammar);
    }
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
        let source = place.path().join("program.c");
        let c = reproducer(
            &parse(text).unwrap(),
            &Grammar::own(),
            "a\n*/ test",
            200_000_000,
        );
        std::fs::write(&source, c).unwrap();
        let mut command = Command::new("cc");
        let command = command.args(["-Wall", "-Werror", "-o"]);
        let Ok(made) = command
            .arg(place.path().join("program"))
            .arg(&source)
            .status()
        else {
            return eprintln!("not run: no C compiler is installed");
        };
        assert!(made.success());
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
