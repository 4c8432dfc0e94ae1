//! `wakepath fly`: effect of the recorded timing of a run on a vehicle's flight.

use crate::command_line::Fly;
use crate::open_run::opened;
use std::num::NonZeroUsize;
use std::process::ExitCode;
use wakepath_archive::Run;
use wakepath_assess::{FlightOrder, Flights};
use wakepath_console::option_value::OptionError;
use wakepath_console::progress::Progress;
use wakepath_console::terminal::print_result;
use wakepath_console::{Outcome, runs};
use wakepath_report::{Style, ToText, flights_in_short, to_json};
use wakepath_scenario::{
    Course, FlightCriterion, FlightTerms, FlightVehicle, KnownCpus, NamedFileError, Scenario, Word,
};

type Failure = Box<dyn std::error::Error>;

/// Flies and shows.
pub fn run(arguments: &Fly) -> Outcome {
    let directory = runs::find(arguments.run.as_deref())?;
    let run = opened(&directory, arguments.json)?;
    let order = order(arguments, &run)?;
    let workers = std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
    let progress = Progress::new("flying");
    let flights = Flights::new(&run, &order, workers, &|ready, of| progress.tell(ready, of));
    progress.end();
    let flights = flights?;
    let text = match arguments.json {
        true => to_json(&flights),
        false if arguments.all => flights.to_text(Style::of_stdout()),
        false => {
            let name = runs::word_for(&directory);
            flights_in_short(&flights, Style::of_stdout(), &name)
        }
    };
    print_result(arguments.json, &text)?;
    Ok(ExitCode::from(flights.exit_code()))
}

/// The run's own terms with what the command line changes in them. A run whose scenario names no
/// vehicle flies the one that its loop controlled, else the Hummingbird.
fn order(arguments: &Fly, run: &Run) -> Result<FlightOrder, Failure> {
    let scenario = Scenario::parse(
        &run.manifest.scenario.toml,
        "scenario of the run",
        &KnownCpus::first(1024),
    )
    .map_err(|errors| format!("the run's own scenario can't be read: {errors}"))?;
    let own = scenario.flight.clone();
    let controlled = scenario.works().find_map(|work| work.flight());
    let mut terms = own.clone().unwrap_or_else(|| FlightTerms {
        vehicle: controlled.map_or(FlightVehicle::BuiltIn("hummingbird".into()), |flight| {
            flight.vehicle.clone()
        }),
        choices: wakepath_flight::replay::Choices::default(),
        course: Course::Circle,
        seed: 0,
        task: None,
        criterion: FlightCriterion::default(),
    });
    if let Some(name) = &arguments.vehicle {
        let vehicle = FlightVehicle::named(name).resolved(|path| std::fs::read_to_string(path));
        terms.vehicle = vehicle.map_err(|error| match error {
            NamedFileError::Unread { .. } => {
                let names: Vec<&str> = wakepath_flight::Vehicle::built_in_names().collect();
                let names = names.join(" and ");
                format!("--vehicle {error}; built in are {names}")
            }
            other => other.to_string(),
        })?;
    }
    let choices = &mut terms.choices;
    choose("--sample", &arguments.sample, &mut choices.sampling)?;
    choose("--missed", &arguments.missed, &mut choices.missed)?;
    choose("--overrun", &arguments.overrun, &mut choices.overrun)?;
    choose("--trajectory", &arguments.trajectory, &mut terms.course)?;
    if let Some(seed) = arguments.seed {
        terms.seed = seed;
    }
    let mut order = FlightOrder::thorough(&terms)?;
    order.criterion = own.map(|own| own.criterion);
    Ok(order)
}

fn choose<T: Word>(
    option: &'static str,
    word: &Option<String>,
    choice: &mut T,
) -> Result<(), OptionError> {
    if let Some(word) = word {
        *choice = T::of_word(word).map_err(|refused| OptionError::new(option, word, refused))?;
    }
    Ok(())
}
