//! Claims from their data file.

use super::{Claim, Claims, Condition, Quantity, Reasoned, Smallest, Test};
use crate::Figure;
use serde::Deserialize;
use sha2::{Digest, Sha256};

/// Reason why a data file of claims is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ClaimsError {
    /// It is no such file.
    #[error("no claims: {0}")]
    Toml(String),
    /// A claim lacks something, or has too much.
    #[error("the claim \"{statement}\": {fault}")]
    Claim {
        /// Which.
        statement: String,
        /// What, and what would be right.
        fault: &'static str,
    },
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    seeds: usize,
    claim: Vec<Entry>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct Entry {
    statement: String,
    /// How it was published, if not by two figures.
    text: Option<String>,
    published: Option<Pair>,
    quantity: Option<String>,
    smallest: Option<f64>,
    because: Option<String>,
    lower: Option<String>,
    higher: Option<String>,
    alike: Option<[String; 2]>,
    below: Option<String>,
    limit_ms: Option<f64>,
    woken: Option<String>,
    way: Option<String>,
    show: Option<Vec<String>>,
    not_comparable: Option<String>,
    not_run: Option<String>,
}

/// Two published figures.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Pair {
    lower: f64,
    higher: f64,
    #[serde(default = "micros")]
    unit: String,
}

fn micros() -> String {
    "µs".into()
}

impl Claims {
    /// Reads a data file.
    ///
    /// # Errors
    /// [`ClaimsError`] for a file that registers no test, a wrong one, or an effect without a reason.
    pub fn read(text: &str) -> Result<Self, ClaimsError> {
        let file: File =
            toml::from_str(text).map_err(|error| ClaimsError::Toml(one_line(error.message())))?;
        let digest = Sha256::digest(text);
        Ok(Self {
            before_the_runs: true,
            seeds: file.seeds,
            all: file
                .claim
                .into_iter()
                .map(claim)
                .collect::<Result<_, _>>()?,
            sha256: digest.iter().map(|byte| format!("{byte:02x}")).collect(),
        })
    }
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn claim(entry: Entry) -> Result<Claim, ClaimsError> {
    let statement = entry.statement.clone();
    let published = match (&entry.text, &entry.published) {
        (Some(text), _) => text.clone(),
        (None, Some(pair)) => format!("{} against {} {}", pair.lower, pair.higher, pair.unit),
        (None, None) => String::new(),
    };
    let test = test(entry).map_err(|fault| ClaimsError::Claim {
        statement: statement.clone(),
        fault,
    })?;
    Ok(Claim {
        statement,
        published,
        test,
    })
}

fn test(entry: Entry) -> Result<Test, &'static str> {
    let quantity = || quantity(entry.quantity.as_deref());
    let smallest = smallest(entry.published.as_ref(), entry.smallest, entry.because);
    let kinds = (
        entry.lower.zip(entry.higher),
        entry.alike,
        entry.below.zip(entry.limit_ms),
        entry.woken.zip(entry.way),
        entry.not_comparable,
        entry.not_run,
    );
    Ok(match kinds {
        (Some((low, high)), None, None, None, None, None) => Test::Lower {
            low: condition(&low)?,
            high: condition(&high)?,
            quantity: quantity()?,
            smallest: smallest?,
        },
        (None, Some([one, other]), None, None, None, None) => Test::Alike {
            both: [condition(&one)?, condition(&other)?],
            quantity: quantity()?,
            smallest: smallest?,
        },
        (None, None, Some((below, limit_ms)), None, None, None) => Test::Below {
            condition: condition(&below)?,
            quantity: quantity()?,
            ns: limit_ms * 1e6,
        },
        (None, None, None, Some((woken, way)), None, None) => Test::Woken {
            condition: condition(&woken)?,
            way,
        },
        (None, None, None, None, Some(reason), None) => Test::NotComparable {
            reason,
            shown: match entry.show {
                None => None,
                Some(show) => {
                    let all: Result<_, _> = show.iter().map(|text| condition(text)).collect();
                    Some((all?, quantity()?))
                }
            },
        },
        (None, None, None, None, None, Some(reason)) => Test::NotRun { reason },
        _ => {
            return Err(
                "needs one test: lower and higher, alike, below and limit-ms, woken and way, not-comparable, or not-run",
            );
        }
    })
}

fn condition(text: &str) -> Result<Condition, &'static str> {
    let parts: Vec<&str> = text.split(" / ").collect();
    let [guest, phase, policy] = parts[..] else {
        return Err("a condition is written \"KERNEL / LOAD / POLICY\"");
    };
    Ok(Condition {
        guest: guest.into(),
        phase: phase.into(),
        policy: policy.into(),
    })
}

fn quantity(name: Option<&str>) -> Result<Quantity, &'static str> {
    let name = name.ok_or("needs a quantity")?;
    let mut figures = Figure::ALL.into_iter();
    match figures.find(|figure| figure.name() == name) {
        Some(figure) => Ok(Quantity::Figure(figure)),
        None if name == Quantity::DisturbedCycles.name() => Ok(Quantity::DisturbedCycles),
        None => Err("has an unknown quantity"),
    }
}

impl Quantity {
    /// Its name in a sentence and in data files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Figure(figure) => figure.name(),
            Self::DisturbedCycles => "disturbed cycles",
        }
    }
}

fn smallest(
    published: Option<&Pair>,
    smallest: Option<f64>,
    because: Option<String>,
) -> Result<Smallest, &'static str> {
    match (published, smallest, because) {
        (_, Some(times), Some(because)) if times > 1.0 => Ok(Smallest {
            times,
            from: Reasoned::Argued(because),
        }),
        (Some(pair), None, None) if pair.higher > pair.lower && pair.lower > 0.0 => {
            let times = pair.higher / pair.lower;
            Ok(Smallest {
                times: times.cbrt(),
                from: Reasoned::ThirdOf(times),
            })
        }
        _ => Err(
            "needs its smallest effect: published figures, lower and higher, of which a third counts, or smallest \
             (more than 1 times) with because",
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CLAIM: &str = "seeds = 10\n[[claim]]\nstatement = \"one is below another\"\nquantity = \"largest\"\n\
                         lower = \"a / idle / FIFO 80\"\nhigher = \"b, c / idle / FIFO 80\"\n";

    #[test]
    fn a_third_of_a_published_effect_is_its_cube_root() {
        let text = format!("{CLAIM}published = {{ lower = 10, higher = 80 }}\n");
        let claims = Claims::read(&text).unwrap();
        let Test::Lower { high, smallest, .. } = &claims.all[0].test else {
            panic!("{claims:?}");
        };
        assert_eq!(high.guest, "b, c");
        assert!((smallest.times - 2.0).abs() < 1e-12);
        assert_eq!(smallest.from, Reasoned::ThirdOf(8.0));
        assert_eq!(claims.all[0].published, "10 against 80 µs");
        assert_eq!((claims.seeds, claims.tested()), (10, 1));
    }

    #[test]
    fn an_effect_without_a_reason_a_second_test_and_an_unknown_key_are_refused() {
        for (more, expected) in [
            ("", "smallest effect"),
            ("smallest = 1.5\n", "smallest effect"),
            ("smallest = 0.5\nbecause = \"so\"\n", "smallest effect"),
            ("published = { lower = 8, higher = 8 }\n", "smallest effect"),
            (
                "smallest = 2\nbecause = \"so\"\nnot-run = \"no\"\n",
                "one test",
            ),
            ("smalest = 2\n", "smalest"),
        ] {
            let refused = Claims::read(&format!("{CLAIM}{more}")).unwrap_err();
            let said = refused.to_string();
            assert!(
                said.contains(expected) && said.lines().count() == 1,
                "{said}"
            );
        }
        let argued = format!("{CLAIM}smallest = 2\nbecause = \"so\"\n");
        assert!(Claims::read(&argued).is_ok());
        let unknown = argued.replace("\"largest\"", "\"longest\"");
        let said = Claims::read(&unknown).unwrap_err().to_string();
        assert!(said.contains("unknown quantity"), "{said}");
        let cell = argued.replace("a / idle", "a, idle");
        let said = Claims::read(&cell).unwrap_err().to_string();
        assert!(said.contains("KERNEL / LOAD / POLICY"), "{said}");
    }
}
