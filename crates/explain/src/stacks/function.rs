//! Chooses the function that is printed for a stack: the author's own, and the library's that it called. Pure.

use super::{Frame, file_name};

/// The function of a stack that its author knows, and the library's function that it called, as a person reads them.
/// `named` gives the names that a frame is printed with.
pub(super) fn text(user: &[&Frame], named: impl Fn(&Frame) -> Frame) -> Option<String> {
    let at = own(user)?;
    let of = if is_evaluator(user[at]) {
        "Python code".to_owned()
    } else {
        named(user[at]).to_string()
    };
    Some(match called(user, at) {
        Some(library) => format!("{library}, called by {of}"),
        None => of,
    })
}

/// The innermost function that is neither of the language's nor of the system's libraries. Where an interpreter runs
/// the program, the innermost of what it interprets.
fn own(user: &[&Frame]) -> Option<usize> {
    if let Some(generated) = user.iter().position(|of| of.generated && is_named_own(of)) {
        return Some(generated);
    }
    let has_runtime = user.iter().any(|of| of.is_of_runtime());
    let evaluator = user.iter().position(|of| is_evaluator(of));
    // An interpreter's functions outside its library are no more the author's than those in it.
    let interpreter = evaluator.and_then(|at| user[at].module.as_deref());
    let own = user.iter().position(|of| {
        !of.is_of_runtime()
            && (interpreter.is_none() || of.module.as_deref() != interpreter)
            && is_own(of, has_runtime)
    });
    let of_program = match (own, evaluator) {
        (Some(own), Some(evaluator)) => Some(own.min(evaluator)),
        (own, evaluator) => own.or(evaluator),
    };
    let any = || user.iter().position(|of| of.name().is_some());
    of_program.or_else(any).or((!user.is_empty()).then_some(0))
}

/// Whether it is the author's code by its name, whatever the file.
fn is_named_own(of: &Frame) -> bool {
    is_own(of, true)
}

/// The library's function that the one at `at` called, unless it does nothing but a system call or take a lock: the call
/// that the thread waits in tells that.
fn called(user: &[&Frame], at: usize) -> Option<String> {
    let inner = user[..at].iter().rev();
    let of = inner.copied().find(|of| !is_plumbing(of))?;
    let Some(name) = of.name() else {
        // Its addresses differ from time to time.
        return of.module.as_deref().map(|path| file_name(path).to_owned());
    };
    let public = name.trim_start_matches("__GI_").trim_start_matches('_');
    let public = public.strip_prefix("libc_").unwrap_or(public);
    let says_nothing = WRAPPERS.contains(&public) || LOCKS.iter().any(|of| public.starts_with(of));
    (!says_nothing).then(|| format!("`{name}`"))
}

/// Beginnings of functions that take a lock, wait for a condition or sleep, and do no other work.
const LOCKS: [&str; 11] = [
    "pthread_",
    "lll_lock_",
    "futex_",
    "std::mutex::",
    "std::lock_guard::",
    "std::unique_lock::",
    "std::scoped_lock::",
    "std::condition_variable::",
    "std::this_thread::",
    "std::sync::",
    "std::sys::",
];

/// Whether it is the loop in which CPython runs a function.
fn is_evaluator(of: &Frame) -> bool {
    of.name() == Some("_PyEval_EvalFrameDefault")
}

/// Whether it is how an interpreter or a just-in-time compiler calls a function, or runs one: no work that has a name.
fn is_plumbing(of: &Frame) -> bool {
    const BEGINNINGS: [&str; 14] = [
        "_PyEval_",
        "PyEval_Eval",
        "_PyFunction_",
        "_PyObject_Call",
        "PyObject_Call",
        "_PyObject_MakeTpCall",
        "cfunction_",
        "call_function",
        "do_call_core",
        "eval_frame_handle_pending",
        "py_trampoline_evaluator",
        "Builtins_InterpreterEntryTrampoline",
        "Builtins_CEntry",
        "Builtins_Call",
    ];
    let Some(name) = of.name() else {
        return false;
    };
    let is_handler = || name.starts_with("Builtins_") && name.ends_with("Handler");
    of.generated
        || BEGINNINGS.iter().any(|of| name.starts_with(of))
        || name.contains("ectorcall")
        || is_handler()
}

/// Wrappers of system calls in a program that is linked statically.
const WRAPPERS: [&str; 34] = [
    "syscall",
    "read",
    "write",
    "readv",
    "writev",
    "pread",
    "pwrite",
    "fsync",
    "fdatasync",
    "sync",
    "open",
    "openat",
    "close",
    "ioctl",
    "poll",
    "ppoll",
    "select",
    "pselect",
    "epoll_wait",
    "recv",
    "recvfrom",
    "recvmsg",
    "send",
    "sendto",
    "sendmsg",
    "accept",
    "connect",
    "nanosleep",
    "clock_nanosleep",
    "usleep",
    "sleep",
    "wait4",
    "futex_wait",
    "sem_wait",
];

/// Whether a function is the author's, by its name. If the C library is a separate file, a function `send` of
/// the program is.
fn is_own(of: &Frame, has_runtime: bool) -> bool {
    /// Of a language's library, linked into the program.
    const BEGINNINGS: [&str; 20] = [
        "__",
        "_ZNSt",
        "_ZNKSt",
        "_ZSt",
        "std::",
        "core::",
        "alloc::",
        "<std::",
        "<core::",
        "<alloc::",
        "pthread_",
        "runtime.",
        "syscall.",
        "internal/",
        "sync.",
        "os.(",
        "Builtin:",
        "Stub:",
        "BytecodeHandler:",
        "py::<",
    ];
    let Some(name) = of.name() else {
        return true;
    };
    let is_wrapper = !has_runtime && WRAPPERS.contains(&name);
    // What calls `main` is nobody's.
    !is_wrapper && name != "_start" && !BEGINNINGS.iter().any(|of| name.starts_with(of))
}

impl Frame {
    /// Whether its file is the C library, the dynamic linker, or the library of a language.
    fn is_of_runtime(&self) -> bool {
        const FILES: [&str; 16] = [
            "libc.",
            "libc-",
            "libpthread",
            "ld-",
            "libstdc++",
            "libc++",
            "libgcc",
            "libm.",
            "librt.",
            "libdl.",
            "[vdso]",
            "libpython",
            "libjvm",
            "libuv",
            "libnode",
            "libglib-",
        ];
        let name = self.module.as_deref().map(file_name);
        name.is_some_and(|name| FILES.iter().any(|of| name.starts_with(of)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(function: &str, module: &str) -> Frame {
        Frame {
            function: (!function.is_empty()).then(|| function.into()),
            file: None,
            line: None,
            module: (!module.is_empty()).then(|| module.into()),
            address: Some(0x1234),
            generated: module.is_empty(),
        }
    }

    fn own(frames: &[Frame]) -> String {
        let frames: Vec<&Frame> = frames.iter().collect();
        text(&frames, Frame::clone).unwrap()
    }

    #[test]
    fn the_function_that_is_named_is_the_authors() {
        let libc = frame("__lll_lock_wait", "/lib/x86_64-linux-gnu/libc.so.6");
        let lock = frame("std::mutex::lock", "/opt/robot");
        let write = Frame {
            file: Some("src/logger.cpp".into()),
            line: Some(48),
            ..frame("Logger::write", "/opt/robot")
        };
        let main = frame("main", "/opt/robot");
        let all = [libc.clone(), lock, write, main.clone()];
        assert_eq!(own(&all), "`Logger::write` (logger.cpp:48)");
        // Linked statically.
        let all = [frame("fsync", "/opt/robot"), main.clone()];
        assert_eq!(own(&all), "`main`");
        // Stripped: the program's own address is more useful than the library's function.
        let stripped = frame("", "/opt/robot");
        assert_eq!(own(&[libc.clone(), stripped, main]), "robot+0x1234");
        assert_eq!(own(&[libc]), "`__lll_lock_wait`");
    }

    #[test]
    fn of_an_interpreter_that_is_named_which_it_interprets() {
        let all = [
            frame("clock_nanosleep", "/lib/libc.so.6"),
            frame("time_sleep", "/usr/bin/python3.12"),
            frame("_PyEval_EvalFrameDefault", "/usr/bin/python3.12"),
            frame("py::<module>:/srv/loop.py", ""),
            frame("write_log (loop.py)", ""),
        ];
        assert_eq!(own(&all), "`time_sleep`, called by `write_log (loop.py)`");
    }

    #[test]
    fn a_librarys_function_is_named_with_its_caller() {
        let all = [
            frame("futex_wait", "/lib/libc.so.6"),
            frame("__lll_lock_wait_private", "/lib/libc.so.6"),
            frame("malloc", "/lib/libc.so.6"),
            frame("main", "/opt/robot"),
            frame("_start", "/opt/robot"),
        ];
        assert_eq!(own(&all), "`malloc`, called by `main`");
        // Without symbols the library is known.
        let all = [frame("", "/lib/libc.so.6"), frame("copy", "/opt/robot")];
        assert_eq!(own(&all), "libc.so.6, called by `copy`");
        let all = [
            frame("pthread_cond_wait", "/lib/libc.so.6"),
            frame("std::__basic_future::wait", "/opt/robot"),
            frame("std::future::get", "/opt/robot"),
            frame("main", "/opt/robot"),
        ];
        assert_eq!(own(&all), "`std::future::get`, called by `main`");
        // The system call is named anyway.
        for call in ["__GI___libc_read", "__GI___clock_nanosleep"] {
            let all = [frame(call, "/lib/libc.so.6"), frame("main", "/opt/robot")];
            assert_eq!(own(&all), "`main`");
        }
    }

    #[test]
    fn pythons_own_code_is_told_with_what_it_calls() {
        let python = "/usr/lib/libpython3.11.so.1.0";
        let outer = [
            frame("_PyEval_EvalFrameDefault", python),
            frame("_PyEval_Vector", python),
            frame("Py_BytesMain", python),
            frame("__libc_start_call_main", "/lib/libc.so.6"),
            frame("_start", "/usr/bin/python3.11"),
        ];
        let inner = |functions: &[&str], module: &str| {
            let inner = functions.iter().map(|of| frame(of, module));
            own(&inner.chain(outer.clone()).collect::<Vec<_>>())
        };
        let collects = ["gc_reset_refs", "gc_collect_main", "gc_collect"];
        let expected = "`gc_collect`, called by Python code";
        assert_eq!(inner(&collects, python), expected);
        let sleeps = [
            "time_sleep",
            "cfunction_vectorcall_O",
            "PyObject_Vectorcall",
        ];
        assert_eq!(
            inner(&sleeps, python),
            "`time_sleep`, called by Python code"
        );
        assert_eq!(inner(&[], python), "Python code");
        // An extension of the author's.
        assert_eq!(inner(&["solve"], "/opt/planner.so"), "`solve`");
        // Linked into the program.
        let all = [
            "gc_collect",
            "_PyEval_EvalFrameDefault",
            "pymain_run_python",
        ];
        let all = all.map(|of| frame(of, "/usr/bin/python3.12"));
        assert_eq!(own(&all), expected);
    }

    #[test]
    fn a_function_without_a_name_is_never_told_as_nothing() {
        let empty = Frame {
            function: Some(String::new()),
            ..frame("", "/opt/robot")
        };
        assert_eq!(own(&[empty]), "robot+0x1234");
        let script = Frame {
            file: Some("/srv/loop.js".into()),
            line: Some(5),
            ..frame("(anonymous)", "")
        };
        let all = [
            frame("v8::internal::Builtin_JsonParse", "/usr/bin/node"),
            frame(
                "Builtins_CEntry_Return1_ArgvOnStack_BuiltinExit",
                "/usr/bin/node",
            ),
            frame("Builtins_InterpreterEntryTrampoline", "/usr/bin/node"),
            script,
        ];
        let expected = "`v8::internal::Builtin_JsonParse`, called by `(anonymous)` (loop.js:5)";
        assert_eq!(own(&all), expected);
    }
}
