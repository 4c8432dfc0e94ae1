//! `wakepath compare`: runs against runs, with an exit code for continuous integration.

use crate::command_line::Compare;
use crate::open_run::opened;
use crate::report_files::{write, write_figures};
use std::path::PathBuf;
use std::process::ExitCode;
use wakepath_archive::Run;
use wakepath_assess::{CompareOrder, Comparison, Margin, Metric, UnknownMetric};
use wakepath_console::option_value::{InvalidValue, OptionError};
use wakepath_console::terminal::print_result;
use wakepath_console::{Outcome, runs};
use wakepath_report::{
    Origin, Style, ToText, comparison_figures, comparison_in_full, comparison_page, to_json,
};
use wakepath_scenario::units::parse_duration;

type Failure = Box<dyn std::error::Error>;

/// Reads, compares and shows.
pub fn run(arguments: &Compare) -> Outcome {
    let order = CompareOrder {
        margin: margin(arguments.margin.as_deref())?,
        metrics: metrics(&arguments.metric).map_err(|unknown| format!("--metric: {unknown}"))?,
        force: arguments.force,
        interleaved: arguments.interleaved,
    };
    let (base, against) = sides(arguments)?;
    let open = |side: &[PathBuf]| -> Result<Vec<Run>, Failure> {
        open(&runs::find_all(side)?, arguments.json)
    };
    let (base, against) = (open(&base)?, open(&against)?);
    let comparison = Comparison::new(&base, &against, &order)?;
    let style = Style::of_stdout();
    let text = match (arguments.json, arguments.details) {
        (true, _) => to_json(&comparison),
        (_, true) => comparison_in_full(&comparison, style),
        _ => comparison.to_text(style),
    };
    print_result(arguments.json, &text)?;
    if let Some(output) = &arguments.output {
        write(output, &comparison_page(&comparison))?;
    }
    if let Some(directory) = &arguments.svg {
        let origin = Origin::of_comparison(&comparison);
        write_figures(
            directory,
            "",
            comparison_figures(&comparison).iter(),
            &origin,
        )?;
    }
    Ok(ExitCode::from(comparison.exit_code()))
}

/// The runs of either side.
fn sides(arguments: &Compare) -> Result<(Vec<PathBuf>, Vec<PathBuf>), Failure> {
    let Compare {
        runs,
        base,
        against,
        ..
    } = arguments;
    if !base.is_empty() {
        return Ok((base.clone(), runs.clone()));
    }
    if !against.is_empty() {
        return Ok((runs.clone(), against.clone()));
    }
    match &runs[..] {
        [] => {
            let [last, before] = runs::latest()?;
            Ok((vec![before], vec![last]))
        }
        [base] => Ok((vec![base.clone()], vec![runs::find(None)?])),
        [base, against] => Ok((vec![base.clone()], vec![against.clone()])),
        _ => Err(format!(
            "{} runs: which are the base? `--base RUN --base RUN … RUN…` or `RUN… --against RUN…`",
            runs.len()
        )
        .into()),
    }
}

/// An archive that is not as it was written says nothing, on either side.
fn open(directories: &[PathBuf], json: bool) -> Result<Vec<Run>, Failure> {
    let mut runs = Vec::new();
    for directory in directories {
        let run = opened(directory, json)?;
        let findings = run.check()?;
        if let Some(first) = findings.first() {
            return Err(format!("{}: {first}", directory.display()).into());
        }
        runs.push(run);
    }
    Ok(runs)
}

/// Reads the values of the options.
pub fn read(arguments: &Compare) -> Result<(), Failure> {
    margin(arguments.margin.as_deref())?;
    metrics(&arguments.metric)?;
    Ok(())
}

fn metrics(words: &[String]) -> Result<Vec<Metric>, UnknownMetric> {
    if words.is_empty() {
        return Ok(Metric::ALL.to_vec());
    }
    let wanted: Vec<Metric> = words
        .iter()
        .map(|word| Metric::of_word(word))
        .collect::<Result<_, _>>()?;
    Ok(Metric::ALL
        .into_iter()
        .filter(|metric| wanted.contains(metric))
        .collect())
}

fn margin(text: Option<&str>) -> Result<Margin, OptionError> {
    let Some(text) = text else {
        return Ok(Margin::DEFAULT);
    };
    let refused = || OptionError::new("--margin", text, InvalidValue::Margin);
    if let Some(percent) = text.trim().strip_suffix('%') {
        let percent: f64 = percent.trim().parse().map_err(|_| refused())?;
        return if percent > 0.0 && percent.is_finite() {
            Ok(Margin::Share(percent / 100.0))
        } else {
            Err(refused())
        };
    }
    match parse_duration(text) {
        Ok(ns) if ns > 0 => Ok(Margin::Time(ns)),
        _ => Err(refused()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_margin_is_a_share_or_a_time_and_never_nothing() {
        assert_eq!(margin(None), Ok(Margin::Share(0.1)));
        assert_eq!(margin(Some("2.5 %")), Ok(Margin::Share(0.025)));
        assert_eq!(margin(Some("5us")), Ok(Margin::Time(5_000)));
        for bad in [
            "",
            "%",
            "0%",
            "-3%",
            "nan%",
            "5",
            "0us",
            "-5us",
            "5 parsecs",
        ] {
            let refused = margin(Some(bad)).unwrap_err().to_string();
            assert!(
                refused.contains("5us") && !refused.contains('\n'),
                "{refused}"
            );
        }
    }

    #[test]
    fn metrics_come_in_the_tables_order_once_each() {
        let words = |all: &[&str]| all.iter().map(|&word| word.to_owned()).collect::<Vec<_>>();
        let found = metrics(&words(&["misses", "p99.9", "misses"]));
        assert_eq!(found, Ok(vec![Metric::P999, Metric::Misses]));
        assert_eq!(metrics(&[]).map(|all| all.len()), Ok(5));
        let refused = metrics(&words(&["mean"])).unwrap_err().to_string();
        assert!(
            refused.contains("`mean`") && refused.contains("p99.9"),
            "{refused}"
        );
    }
}
