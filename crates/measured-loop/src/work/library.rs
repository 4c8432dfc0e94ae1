//! A controller of the user's own, loaded from a shared library with the interface of
//! `include/wakepath_controller.h`. The structures here are that header's, field by field.

// Loading foreign code and calling it has no safe form.
#![allow(unsafe_code)]

use super::error::{LibraryFault, WorkError};
use super::flight::{Answer, Input, Steps};
use super::tally::{self, Tallies};
use std::ffi::{CStr, CString, c_char, c_void};
use wakepath_archive::ModuleTimes;
use wakepath_flight::Vehicle;

/// Version of the interface.
pub(crate) const VERSION: u32 = 1;

/// A controller's setup, as in the header.
#[repr(C)]
pub(super) struct SetupC {
    period_ns: u64,
    mass_kg: f64,
    inertia_kg_m2: [f64; 3],
    arm_m: f64,
    thrust: f64,
    yaw_torque: f64,
    max_speed_rad_s: f64,
    hover_speed_rad_s: f64,
    position_gain_per_s2: [f64; 3],
    velocity_gain_per_s: [f64; 3],
    attitude_gain_per_s2: f64,
    rate_gain_per_s: f64,
    settings: *const c_char,
}

/// A cycle's input, as in the header.
#[repr(C)]
#[derive(Default)]
pub(super) struct InputC {
    time_ns: u64,
    position_m: [f64; 3],
    velocity_m_s: [f64; 3],
    attitude: [f64; 4],
    rate_rad_s: [f64; 3],
    wanted_position_m: [f64; 3],
    wanted_velocity_m_s: [f64; 3],
    wanted_acceleration_m_s2: [f64; 3],
    wanted_yaw_rad: f64,
    wanted_yaw_rate_rad_s: f64,
}

/// A cycle's output, as in the header.
#[repr(C)]
#[derive(Default)]
pub(super) struct OutputC {
    pub(super) rotor_speed_rad_s: [f64; 4],
}

#[repr(C)]
struct ModuleC {
    name: *const c_char,
    budget_ns: u64,
    time_ns: u64,
    ran: u32,
    every: u32,
}

/// More modules than this are a mistake in the library.
const MOST_MODULES: u32 = 1024;

type ModulesFn = unsafe extern "C" fn(*mut c_void, *mut *const ModuleC) -> u32;
type VersionFn = unsafe extern "C" fn() -> u32;
type InitFn = unsafe extern "C" fn(*const SetupC) -> *mut c_void;
type StepFn = unsafe extern "C" fn(*mut c_void, *const InputC, *mut OutputC) -> i32;
type FreeFn = unsafe extern "C" fn(*mut c_void);

/// A loaded and initialised controller.
pub(crate) struct Library {
    controller: *mut c_void,
    step: StepFn,
    free: FreeFn,
    parts: Parts,
    tallies: Tallies,
}

/// The library's description of its parts.
#[derive(Clone, Copy)]
struct Parts {
    controller: *mut c_void,
    ask: Option<ModulesFn>,
}

impl Library {
    /// Loads the library, checks its version, initialises it.
    ///
    /// # Errors
    /// One line: the library, its fault, and what would be right.
    pub(super) fn load(
        path: &str,
        settings: &str,
        vehicle: &Vehicle,
        period_ns: u64,
    ) -> Result<Self, WorkError> {
        let wrong = |why| WorkError::Library {
            library: path.into(),
            why,
        };
        let c_text = |text: &str| CString::new(text).map_err(|_| wrong(LibraryFault::Nul));
        let (c_path, settings) = (c_text(path)?, c_text(settings)?);
        // SAFETY: the path is NUL-terminated. The author of the scenario that names the library
        // vouches for its start-up code.
        let library = unsafe { libc::dlopen(c_path.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL) };
        if library.is_null() {
            return Err(wrong(LibraryFault::NotLoaded(last_error())));
        }
        let symbol = |name: &CStr| {
            // SAFETY: a handle that dlopen gave, and a NUL-terminated name.
            let found = unsafe { libc::dlsym(library, name.as_ptr()) };
            if found.is_null() {
                Err(wrong(LibraryFault::NoController(
                    name.to_string_lossy().into_owned(),
                )))
            } else {
                Ok(found)
            }
        };
        // SAFETY: the header gives these functions these types; libraries of another version are
        // refused before any function but the first, whose type never changes, is called.
        let (version, init, step, free) = unsafe {
            (
                std::mem::transmute::<*mut c_void, VersionFn>(symbol(
                    c"wakepath_controller_version",
                )?),
                std::mem::transmute::<*mut c_void, InitFn>(symbol(c"wakepath_controller_init")?),
                std::mem::transmute::<*mut c_void, StepFn>(symbol(c"wakepath_controller_step")?),
                std::mem::transmute::<*mut c_void, FreeFn>(symbol(c"wakepath_controller_free")?),
            )
        };
        // SAFETY: as above.
        let version = unsafe { version() };
        if version != VERSION {
            let (found, own) = (version, VERSION);
            return Err(wrong(LibraryFault::OtherInterface { found, own }));
        }
        let setup = setup(vehicle, period_ns, &settings);
        // SAFETY: as above; the structure outlives the call, which is all that the header promises.
        let controller = unsafe { init(&setup) };
        if controller.is_null() {
            Err(wrong(LibraryFault::Refused))
        } else {
            // SAFETY: a handle that dlopen gave, and a NUL-terminated name.
            let found = unsafe { libc::dlsym(library, c"wakepath_controller_modules".as_ptr()) };
            // SAFETY: the header gives this function this type.
            let modules = (!found.is_null())
                .then(|| unsafe { std::mem::transmute::<*mut c_void, ModulesFn>(found) });
            let parts = Parts {
                controller,
                ask: modules,
            };
            let named = parts.now().iter().map(named);
            Ok(Self {
                controller,
                step,
                free,
                tallies: Tallies::new(named, period_ns),
                parts,
            })
        }
    }
}

impl Parts {
    /// As they are now.
    fn now(&self) -> &[ModuleC] {
        let Some(modules) = self.ask else {
            return &[];
        };
        let mut first = std::ptr::null();
        // SAFETY: the controller that init gave, and a place for the answer.
        let count = unsafe { modules(self.controller, &mut first) };
        match first.is_null() || count > MOST_MODULES {
            true => &[],
            // SAFETY: the header promises this number of modules at that address.
            false => unsafe { std::slice::from_raw_parts(first, count as usize) },
        }
    }
}

/// The structure holds a pointer to `settings`.
pub(super) fn setup(vehicle: &Vehicle, period_ns: u64, settings: &CStr) -> SetupC {
    SetupC {
        period_ns,
        mass_kg: vehicle.mass,
        inertia_kg_m2: vehicle.inertia,
        arm_m: vehicle.arm,
        thrust: vehicle.rotor.thrust,
        yaw_torque: vehicle.rotor.yaw_torque,
        max_speed_rad_s: vehicle.rotor.max_speed,
        hover_speed_rad_s: vehicle.hover_speed(),
        position_gain_per_s2: vehicle.gains.position,
        velocity_gain_per_s: vehicle.gains.velocity,
        attitude_gain_per_s2: vehicle.gains.attitude,
        rate_gain_per_s: vehicle.gains.rate,
        settings: settings.as_ptr(),
    }
}

impl InputC {
    #[inline]
    pub(super) fn new(input: &Input) -> Self {
        Self {
            time_ns: input.time_ns,
            position_m: input.state.position,
            velocity_m_s: input.state.velocity,
            attitude: input.state.attitude,
            rate_rad_s: input.state.rate,
            wanted_position_m: input.reference.position,
            wanted_velocity_m_s: input.reference.velocity,
            wanted_acceleration_m_s2: input.reference.acceleration,
            wanted_yaw_rad: input.reference.yaw,
            wanted_yaw_rate_rad_s: input.reference.yaw_rate,
        }
    }
}

impl Steps for Library {
    #[inline]
    fn step(&mut self, input: &Input) -> Answer {
        let given = InputC::new(input);
        let mut answer = OutputC::default();
        // SAFETY: the controller that init gave, and structures of the header's layout that
        // outlive the call.
        let code = unsafe { (self.step)(self.controller, &given, &mut answer) };
        let speeds = answer.rotor_speed_rad_s;
        Answer {
            rotor_speeds: speeds,
            fault: code != 0 || !speeds.iter().all(|speed| speed.is_finite()),
        }
    }

    fn note(&mut self, time_ns: u64) {
        let reported = self.parts.now().iter();
        let taken_ns = reported.map(|module| (module.ran != 0).then_some(module.time_ns));
        self.tallies.note(time_ns, taken_ns);
    }

    fn modules(&self) -> Vec<ModuleTimes> {
        self.tallies.modules()
    }

    fn end_warm_up(&mut self) {
        self.tallies.end_warm_up();
    }
}

fn named(module: &ModuleC) -> ModuleTimes {
    let name = match module.name.is_null() {
        true => String::new(),
        // SAFETY: the header promises a NUL-terminated text.
        false => unsafe { CStr::from_ptr(module.name) }
            .to_string_lossy()
            .into_owned(),
    };
    tally::part(&name, module.budget_ns, module.every.into())
}

impl Drop for Library {
    fn drop(&mut self) {
        // SAFETY: the controller that init returned, freed once. The library itself stays loaded
        // until the process ends, because it can have threads.
        unsafe { (self.free)(self.controller) }
    }
}

/// dlopen's message about its last failure.
fn last_error() -> String {
    // SAFETY: dlerror gives a NUL-terminated text, valid until the next call of this thread, or
    // NULL.
    unsafe {
        let text = libc::dlerror();
        if text.is_null() {
            "no reason is given".into()
        } else {
            CStr::from_ptr(text).to_string_lossy().replace('\n', " ")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::mem::offset_of;
    use std::process::Command;

    const INCLUDE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/include");

    /// Needs cc: the header as a C compiler lays it out is the interface.
    #[test]
    fn the_structures_are_those_of_the_header() {
        let place = std::env::temp_dir().join(format!("wakepath-header-{}", std::process::id()));
        std::fs::create_dir_all(&place).unwrap();
        let (source, program) = (place.join("layout.c"), place.join("layout"));
        let text = "#include \"wakepath_controller.h\"\n#include <stddef.h>\n#include <stdio.h>\n\
            int main(void) { printf(\"%zu %zu %zu %zu %zu %zu %zu %zu %u\",\n\
            sizeof(wakepath_controller_setup), offsetof(wakepath_controller_setup, settings),\n\
            offsetof(wakepath_controller_setup, rate_gain_per_s),\n\
            sizeof(wakepath_controller_input),\n\
            offsetof(wakepath_controller_input, wanted_position_m),\n\
            offsetof(wakepath_controller_input, wanted_yaw_rate_rad_s),\n\
            sizeof(wakepath_controller_output), sizeof(wakepath_controller_module), WAKEPATH_CONTROLLER_VERSION); return 0; }\n";
        std::fs::write(&source, text).unwrap();
        let mut compiler = Command::new("cc");
        compiler.args([
            "-std=c11", "-Wall", "-Wextra", "-Werror", "-I", INCLUDE, "-o",
        ]);
        assert!(
            compiler
                .arg(&program)
                .arg(&source)
                .status()
                .unwrap()
                .success()
        );
        let output = Command::new(&program).output().unwrap();
        std::fs::remove_dir_all(&place).unwrap();
        let ours = [
            size_of::<SetupC>(),
            offset_of!(SetupC, settings),
            offset_of!(SetupC, rate_gain_per_s),
            size_of::<InputC>(),
            offset_of!(InputC, wanted_position_m),
            offset_of!(InputC, wanted_yaw_rate_rad_s),
            size_of::<OutputC>(),
            size_of::<ModuleC>(),
            VERSION as usize,
        ];
        let ours: Vec<String> = ours.iter().map(usize::to_string).collect();
        assert_eq!(String::from_utf8_lossy(&output.stdout), ours.join(" "));
    }

    #[test]
    fn a_file_that_is_no_library_is_named_with_the_loaders_reason() {
        let vehicle = Vehicle::built_in("hummingbird").unwrap();
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml");
        let Err(error) = Library::load(path, "", &vehicle, 4_000_000) else {
            panic!("a text file was loaded")
        };
        let line = error.to_string();
        assert!(line.contains("Cargo.toml: can't be loaded: "), "{line}");
        assert!(!line.contains('\n'), "{line}");
    }
}
