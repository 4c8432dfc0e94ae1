//! How often the 95 % bounds of tails hold and how often the goodness of fit rejects a model that is
//! true: `cargo run --release -p wakepath-extremes --example bound_coverage -- [SAMPLES] [DRAWS]`. The table
//! in `docs/reference/benchmarks.md` is its output. Simulation with a fixed seed; no measurement.

use wakepath_extremes::{
    Excesses, Level, Pareto, Random, Resampling, approaches_its_limit, distances,
};

/// Share of the cycles that exceed the threshold.
const RATE: f64 = 0.01;
/// How much further out than the run the level asked for lies.
const BEYOND: f64 = 10.0;
const NORMAL: f64 = -1.644_853_626_951;

/// Where values come from.
enum Source {
    /// Excesses of this shape.
    Pareto(f64),
    /// Values of a Weibull distribution of this shape, above its own quantile.
    Weibull(f64),
}

impl Source {
    fn name(&self) -> String {
        match self {
            Self::Pareto(shape) => format!("Pareto, ξ = {shape}"),
            Self::Weibull(shape) => format!("Weibull, shape {shape}"),
        }
    }

    /// The excess whose −ln P(Y > y) is `hazard`.
    fn excess(&self, hazard: f64) -> f64 {
        match *self {
            Self::Pareto(shape) => Pareto { scale: 1.0, shape }.at_hazard(hazard),
            Self::Weibull(shape) => {
                let threshold = -RATE.ln();
                (threshold + hazard).powf(1.0 / shape) - threshold.powf(1.0 / shape)
            }
        }
    }
}

fn main() {
    let mut arguments = std::env::args().skip(1).map(|word| word.parse());
    let mut number = |without: u32| match arguments.next() {
        None => without,
        Some(Ok(number)) => number,
        Some(Err(_)) => panic!("give the number of samples, and of draws of each"),
    };
    let (samples, draws) = (number(400), number(199));
    println!(
        "| values | exceedances | profile bound holds | calibrated bound holds | calibrated bound over \
         the true level, median | goodness of fit rejects |"
    );
    println!("|---|---|---|---|---|---|");
    let sources = [
        Source::Pareto(-0.2),
        Source::Pareto(0.0),
        Source::Pareto(0.2),
        Source::Weibull(0.8),
        Source::Weibull(1.0),
        Source::Weibull(1.5),
    ];
    for (place, source) in (0..).zip(sources) {
        for count in [100_u64, 300, 1000] {
            row(&source, count, (10_000 * place) + count, samples, draws);
        }
    }
}

fn row(source: &Source, count: u64, seed: u64, samples: u32, draws: u32) {
    let cycles = (count as f64 / RATE) as u64;
    let exceed = 1.0 / (BEYOND * cycles as f64);
    let truth = source.excess((RATE / exceed).ln());
    let (mut plain, mut calibrated, mut rejected) = (0, 0, 0);
    let mut ratios = Vec::new();
    for number in 0..samples {
        let mut random = Random::stream(seed, number.into());
        let seen = random.binomial(cycles, RATE);
        let mut values: Vec<f64> = (0..seen)
            .map(|_| source.excess(random.exponential()))
            .collect();
        let excesses = Excesses::new(&values, None);
        let Some(fit) = excesses.fit() else { continue };
        let level = Level {
            excesses: &excesses,
            fit,
            cycles,
            exceed,
        };
        let resampling = Resampling {
            draws,
            seed: seed + (u64::from(number) << 32),
            resolution: None,
        };
        let resampled = resampling.of(&level, true);
        values.sort_by(f64::total_cmp);
        let (p_value, _) = resampled.probabilities(distances(&values, &fit.pareto));
        rejected += u32::from(p_value <= 0.05);
        // A bound holds just where the root at the truth is not below the critical one. `values` are
        // ascending.
        let root = level.signed_root(truth);
        let critical = resampled.root(0.05).unwrap_or(NORMAL).min(NORMAL);
        plain += u32::from(root >= NORMAL);
        let half = &values[values.len() - values.len() * 4 / 9..];
        let higher = approaches_its_limit(fit.pareto.shape, values.len() as f64)
            && holds_above(
                half,
                values[values.len() - half.len() - 1],
                &level,
                truth,
                critical,
            );
        calibrated += u32::from(root >= critical || higher);
        if number < 50 {
            let bound = level.upper_bound(critical).unwrap_or(f64::INFINITY);
            ratios.push(bound / truth);
        }
    }
    ratios.sort_by(f64::total_cmp);
    let share = |held: u32| f64::from(held) / f64::from(samples) * 100.0;
    println!(
        "| {} | {count} | {:.1} % | {:.1} % | {:.2} | {:.1} % |",
        source.name(),
        share(plain),
        share(calibrated),
        ratios.get(ratios.len() / 2).copied().unwrap_or(f64::NAN),
        share(rejected)
    );
}

/// Whether the bound above a higher threshold is beyond the true level: the verb takes the higher of
/// the two where the tail still approaches its limit, from a threshold that 4/9 exceed.
fn holds_above(half: &[f64], threshold: f64, level: &Level<'_>, truth: f64, critical: f64) -> bool {
    let excesses: Vec<f64> = half.iter().map(|value| value - threshold).collect();
    let excesses = Excesses::new(&excesses, None);
    let Some(fit) = excesses.fit() else {
        return false;
    };
    let higher = Level {
        excesses: &excesses,
        fit,
        ..*level
    };
    truth <= threshold || higher.signed_root(truth - threshold) >= critical
}
