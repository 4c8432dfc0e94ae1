//! Errors that the types of C++ prevent: each wrong line next to the correct one.

use super::{compiled, said};

/// A program that does this in its loop's thread.
fn program(line: &str) -> String {
    format!(
        "#include <wakepath.hpp>\nusing namespace std::chrono_literals;\n\
         int main() {{\n    {line}\n}}\n"
    )
}

#[test]
fn a_policy_carries_what_belongs_to_it_and_nothing_else() {
    for (right, wrong) in [
        // A deadline thread has neither a FIFO priority nor CPUs.
        (
            "wakepath::prepare(wakepath::Deadline{500us, 1ms, 1ms});",
            "wakepath::prepare(wakepath::Deadline{500us, 1ms, 1ms, 80});",
        ),
        (
            "wakepath::Deadline how{500us, 1ms, 1ms}; how.runtime = 400us; wakepath::prepare(how);",
            "wakepath::Deadline how{500us, 1ms, 1ms}; how.priority = 80; wakepath::prepare(how);",
        ),
        (
            "wakepath::prepare(wakepath::Fifo{80, {1}});",
            "wakepath::prepare(wakepath::Deadline{500us, 1ms, 1ms, {1}});",
        ),
        // A core's policy only takes the core's priority, and no Linux policy replaces it.
        (
            "wakepath::prepare(wakepath::CobaltFifo{80, {1}}); wakepath::prepare(wakepath::EvlFifo{80});",
            "wakepath::EvlFifo how = wakepath::CobaltFifo{80}; wakepath::prepare(how);",
        ),
        // An ordinary thread has a nice value.
        (
            "wakepath::Other how; how.nice = -5; wakepath::prepare(how);",
            "wakepath::Other how; how.priority = 80; wakepath::prepare(how);",
        ),
        // Times have units.
        (
            "wakepath::Loop loop(\"attitude\", 4ms); loop.finish();",
            "wakepath::Loop loop(\"attitude\", 4); loop.finish();",
        ),
        // Behaviour after an overrun is one of three values, and a loop of another clock has none.
        (
            "wakepath::Loop loop(\"attitude\", 4ms, wakepath::Overrun::CatchUp); loop.finish();",
            "wakepath::Loop loop(\"attitude\", 4ms, 1); loop.finish();",
        ),
        (
            "wakepath::Loop::driven(\"axis\", 1ms).finish();",
            "wakepath::Loop::driven(\"axis\", 1ms, wakepath::Overrun::Skip).finish();",
        ),
        // A loop and a section that is being timed have one owner.
        (
            "wakepath::Loop a(\"a\", 4ms); wakepath::Loop b(std::move(a)); b.finish();",
            "wakepath::Loop a(\"a\", 4ms); wakepath::Loop b(a); b.finish();",
        ),
        (
            "wakepath::Loop a(\"a\", 4ms); const auto timed = a.timed(a.section(\"read\"));",
            "wakepath::Loop a(\"a\", 4ms); a.timed(a.section(\"read\"));",
        ),
    ] {
        let output = compiled("g++", "-std=c++17", &program(right));
        assert!(output.status.success(), "{right}: {}", said(&output));
        let output = compiled("g++", "-std=c++17", &program(wrong));
        assert!(!output.status.success(), "this compiles: {wrong}");
    }
}
