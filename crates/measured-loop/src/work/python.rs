//! A controller in Python, with the same interface as one in a shared library.
//!
//! libpython is loaded at run time and called through functions of its stable C interface, so that
//! nothing is linked and any Python from 3.8 on is suitable. It is measured like any other work. It
//! is never real-time: its memory comes from an allocator, and its garbage collector can run at any
//! time.

// Loading foreign code and calling it has no safe form. Only the thread that holds Python's lock
// calls Python.
#![allow(unsafe_code)]

use super::error::{PythonFault, WorkError};
use super::flight::{Answer, Input, Steps};
use super::interpreter::Found;
use super::library::{InputC, OutputC, SetupC, setup};
use super::parts::Parts;
use super::tally::Tallies;
use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::sync::OnceLock;
use wakepath_archive::ModuleTimes;
use wakepath_flight::Vehicle;

const SEAM: &str = include_str!("python_seam.py");
/// Interpreter if the scenario names none.
const USUAL: &str = "python3";

type Object = *mut c_void;

/// Functions of Python's stable C interface.
struct Python {
    interpreter: String,
    path: CString,
    none: Object,
    compile: unsafe extern "C" fn(*const c_char, *const c_char, c_int) -> Object,
    evaluate: unsafe extern "C" fn(Object, Object, Object) -> Object,
    add_module: unsafe extern "C" fn(*const c_char) -> Object,
    module_dict: unsafe extern "C" fn(Object) -> Object,
    dict_get: unsafe extern "C" fn(Object, *const c_char) -> Object,
    call: unsafe extern "C" fn(Object, Object) -> Object,
    tuple_new: unsafe extern "C" fn(isize) -> Object,
    tuple_set: unsafe extern "C" fn(Object, isize, Object) -> c_int,
    text_new: unsafe extern "C" fn(*const c_char, isize) -> Object,
    text_bytes: unsafe extern "C" fn(Object) -> Object,
    bytes_text: unsafe extern "C" fn(Object) -> *const c_char,
    memory: unsafe extern "C" fn(*mut c_char, isize, c_int) -> Object,
    release: unsafe extern "C" fn(Object),
    clear_error: unsafe extern "C" fn(),
    take_lock: unsafe extern "C" fn() -> c_int,
    let_go: unsafe extern "C" fn() -> *mut c_void,
    restore: unsafe extern "C" fn(*mut c_void),
}

// SAFETY: functions, and one object of Python's that lives forever.
unsafe impl Send for Python {}
// SAFETY: as above; Python's own lock guards the functions.
unsafe impl Sync for Python {}

/// One Python for each process.
static PYTHON: OnceLock<Result<Python, PythonFault>> = OnceLock::new();

/// Start and end of a text for `Py_CompileString`: a file's statements.
const FILE_INPUT: c_int = 257;
const READ: c_int = 0x100;
const WRITE: c_int = 0x200;

/// A controller from a Python file.
pub(crate) struct PythonController {
    python: &'static Python,
    step: Object,
    /// This thread's place in Python, while it is out of it.
    state: *mut c_void,
    /// Python looks at these as long as it lives, which is as long as the process.
    given: *mut InputC,
    answer: *mut OutputC,
    parts: Parts,
    tallies: Tallies,
    failure: Option<String>,
}

impl PythonController {
    /// Loads Python and the file, and creates its controller.
    ///
    /// # Errors
    /// One line: the file, its fault or Python's, and what would be right.
    pub(super) fn load(
        file: &str,
        interpreter: Option<&str>,
        settings: &str,
        vehicle: &Vehicle,
        period_ns: u64,
    ) -> Result<Self, WorkError> {
        let interpreter = interpreter.unwrap_or(USUAL);
        let python = match PYTHON.get_or_init(|| Python::load(interpreter)) {
            Ok(python) if python.interpreter == interpreter => python,
            Ok(python) => {
                let loaded = python.interpreter.clone();
                return Err(wrong(file, PythonFault::AnotherLoaded(loaded)));
            }
            Err(why) => return Err(wrong(file, why.clone())),
        };
        let given = Box::into_raw(Box::new(InputC::default()));
        let answer = Box::into_raw(Box::new(OutputC::default()));
        let parts = Parts::new();
        let nothing = CString::default();
        let setup = setup(vehicle, period_ns, &nothing);
        // SAFETY: Python is initialised. The views' memory lives as long as `Self`; the
        // setup's memory is only kept beyond the call if the call fails.
        unsafe {
            (python.take_lock)();
            let started = python.start(file, settings, &setup, given, answer, parts);
            let state = (python.let_go)();
            Ok(Self {
                python,
                step: started?,
                state,
                given,
                answer,
                parts,
                tallies: Tallies::new(parts.described(), period_ns),
                failure: None,
            })
        }
    }
}

impl Steps for PythonController {
    #[inline]
    fn step(&mut self, input: &Input) -> Answer {
        // SAFETY: Python only reads and writes this memory during the call; this thread's own
        // state, given back below; the function that `start` returned.
        let rotor_speeds = unsafe {
            *self.given = InputC::new(input);
            (self.python.restore)(self.state);
            let said = (self.python.call)(self.step, std::ptr::null_mut());
            if said != self.python.none {
                self.failure = Some(self.python.text_of(said));
            }
            if !said.is_null() {
                (self.python.release)(said);
            }
            self.state = (self.python.let_go)();
            (*self.answer).rotor_speed_rad_s
        };
        Answer {
            rotor_speeds,
            fault: self.failure.is_some() || !rotor_speeds.iter().all(|speed| speed.is_finite()),
        }
    }

    fn note(&mut self, time_ns: u64) {
        self.tallies.note(time_ns, self.parts.take());
    }

    fn failure(&mut self) -> Option<String> {
        self.failure.take()
    }

    fn modules(&self) -> Vec<ModuleTimes> {
        self.tallies.modules()
    }

    fn end_warm_up(&mut self) {
        self.tallies.end_warm_up();
    }
}

impl Python {
    /// Finds and loads the interpreter's library, and initialises it. The lock is free afterwards.
    #[allow(clippy::missing_transmute_annotations)] // The type is that of the field being filled.
    fn load(interpreter: &str) -> Result<Self, PythonFault> {
        let found = Found::new(interpreter)?;
        let library = found.open(interpreter)?;
        let symbol = |name: &CStr| {
            // SAFETY: a handle that dlopen gave, and a NUL-terminated name.
            let address = unsafe { libc::dlsym(library, name.as_ptr()) };
            if address.is_null() {
                Err(PythonFault::TooOld {
                    interpreter: interpreter.into(),
                    version: found.version.clone(),
                    symbol: name.to_string_lossy().into_owned(),
                })
            } else {
                Ok(address)
            }
        };
        // The type of each function is the one that Python documents.
        macro_rules! function {
            ($name:literal) => {
                // SAFETY: the variable has the function's documented type.
                unsafe { std::mem::transmute::<*mut c_void, _>(symbol($name)?) }
            };
        }
        let python = Self {
            interpreter: interpreter.into(),
            path: CString::new(found.path.replace('\t', "\n")).unwrap_or_default(),
            none: symbol(c"_Py_NoneStruct")?,
            compile: function!(c"Py_CompileString"),
            evaluate: function!(c"PyEval_EvalCode"),
            add_module: function!(c"PyImport_AddModule"),
            module_dict: function!(c"PyModule_GetDict"),
            dict_get: function!(c"PyDict_GetItemString"),
            call: function!(c"PyObject_CallObject"),
            tuple_new: function!(c"PyTuple_New"),
            tuple_set: function!(c"PyTuple_SetItem"),
            text_new: function!(c"PyUnicode_FromStringAndSize"),
            text_bytes: function!(c"PyUnicode_AsUTF8String"),
            bytes_text: function!(c"PyBytes_AsString"),
            memory: function!(c"PyMemoryView_FromMemory"),
            release: function!(c"Py_DecRef"),
            clear_error: function!(c"PyErr_Clear"),
            take_lock: function!(c"PyGILState_Ensure"),
            let_go: function!(c"PyEval_SaveThread"),
            restore: function!(c"PyEval_RestoreThread"),
        };
        let initialise: unsafe extern "C" fn(c_int) = function!(c"Py_InitializeEx");
        // SAFETY: called once in this process; 0: Python installs no signal handlers. Its home is
        // set by the environment because the functions for it are not part of the stable interface;
        // no other thread of the loop reads or writes the environment while work is prepared.
        unsafe {
            std::env::set_var("PYTHONHOME", &found.home);
            initialise(0);
            std::env::remove_var("PYTHONHOME");
            (python.let_go)();
        }
        Ok(python)
    }

    /// The seam's `start`: the function of a cycle.
    ///
    /// # Safety
    /// The calling thread holds the lock; `given` and `answer` outlive the function.
    unsafe fn start(
        &self,
        file: &str,
        settings: &str,
        setup: *const SetupC,
        given: *mut InputC,
        answer: *mut OutputC,
        parts: Parts,
    ) -> Result<Object, WorkError> {
        let failed = || wrong(file, PythonFault::NoSeam);
        let source = CString::new(SEAM).map_err(|_| failed())?;
        let path = self.path.to_str().unwrap_or_default();
        // SAFETY: the caller's promise; each object is checked before it is used.
        unsafe {
            let module = (self.add_module)(c"wakepath_seam".as_ptr());
            let code = (self.compile)(source.as_ptr(), c"wakepath".as_ptr(), FILE_INPUT);
            if module.is_null() || code.is_null() {
                (self.clear_error)();
                return Err(failed());
            }
            let names = (self.module_dict)(module);
            let done = (self.evaluate)(code, names, names);
            let start = (self.dict_get)(names, c"start".as_ptr());
            if done.is_null() || start.is_null() {
                (self.clear_error)();
                return Err(failed());
            }
            let text = |text: &str| (self.text_new)(text.as_ptr().cast(), text.len() as isize);
            let (times, size) = parts.memory();
            let arguments = [
                text(file),
                text(settings),
                text(path),
                (self.memory)(setup.cast_mut().cast(), size_of::<SetupC>() as isize, READ),
                (self.memory)(given.cast(), size_of::<InputC>() as isize, READ),
                (self.memory)(answer.cast(), size_of::<OutputC>() as isize, WRITE),
                (self.memory)(times, size as isize, WRITE),
            ];
            let tuple = (self.tuple_new)(arguments.len() as isize);
            if tuple.is_null() || arguments.iter().any(|argument| argument.is_null()) {
                (self.clear_error)();
                return Err(failed());
            }
            for (place, argument) in (0..).zip(arguments) {
                (self.tuple_set)(tuple, place, argument);
            }
            let started = (self.call)(start, tuple);
            (self.release)(tuple);
            // A text is a complaint, anything else the function.
            if started.is_null() {
                Err(WorkError::Complaint(self.text_of(started)))
            } else {
                match self.text(started) {
                    Some(complaint) => Err(WorkError::Complaint(complaint)),
                    None => Ok(started),
                }
            }
        }
    }

    /// The text of an object that should be text.
    ///
    /// # Safety
    /// The calling thread holds the lock; the object is valid or NULL.
    unsafe fn text_of(&self, object: Object) -> String {
        let text = match object.is_null() {
            true => None,
            // SAFETY: the caller's promise.
            false => unsafe { self.text(object) },
        };
        if text.is_none() {
            // SAFETY: the lock is held.
            unsafe { (self.clear_error)() };
        }
        text.unwrap_or_else(|| "Python gave up without a reason".into())
    }

    /// The text of an object, if it is text.
    ///
    /// # Safety
    /// The calling thread holds the lock; the object is valid.
    unsafe fn text(&self, object: Object) -> Option<String> {
        // SAFETY: the caller's promise; an object that isn't text gives NULL and an error, which is
        // cleared.
        unsafe {
            let bytes = (self.text_bytes)(object);
            if bytes.is_null() {
                (self.clear_error)();
                return None;
            }
            let text = (self.bytes_text)(bytes);
            let text = (!text.is_null()).then(|| in_one_line(CStr::from_ptr(text)));
            (self.release)(bytes);
            text
        }
    }
}

fn wrong(file: &str, why: PythonFault) -> WorkError {
    WorkError::Python {
        file: file.into(),
        why,
    }
}

/// A traceback has line ends.
fn in_one_line(text: &CStr) -> String {
    let text = text.to_string_lossy();
    let words: Vec<&str> = text.split_whitespace().collect();
    wakepath_timeline::shortened(&words.join(" "), 1000)
}
