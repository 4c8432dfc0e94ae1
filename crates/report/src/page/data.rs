//! The data that the page's scripts move about in, as JSON: pyramids, violations, shapes. Every
//! time is whole nanoseconds, as in the archive.

use super::Reported;
use crate::figure::MeasureName;
use crate::label;
use serde::Serialize;
use serde_json::json;
use std::collections::BTreeMap;
use wakepath_assess::{Level, Measure, Picture, Shape};
use wakepath_timeline::duration::three_digits;

#[derive(Serialize)]
struct RunData<'a> {
    /// Whether kernel events were recorded.
    traced: bool,
    /// The main cause of the worst cycles, by segment and cycle.
    causes: BTreeMap<String, String>,
    conditions: Vec<ConditionData<'a>>,
}

#[derive(Serialize)]
struct ConditionData<'a> {
    policy: String,
    phase: &'a str,
    colour: usize,
    period: u64,
    due_times: u64,
    latency_limit: Option<u64>,
    deadline: Option<u64>,
    /// First index, first cycle, segment, repetition, thread of each stretch.
    stretches: Vec<(u64, u64, u32, u32, u16)>,
    measures: Measures<'a>,
    late: Late,
    skipped: Skipped,
}

#[derive(Serialize)]
struct Measures<'a> {
    latency: MeasureData<'a>,
    response: MeasureData<'a>,
    execution: MeasureData<'a>,
}

#[derive(Serialize)]
struct MeasureData<'a> {
    /// The finest level; the script computes the coarser ones, in the pyramid's way.
    finest: LevelData<'a>,
    /// Value and count at or above it, by descending value.
    tail: Vec<(i64, u64)>,
    /// From, below, count.
    bins: Vec<(i64, i64, u64)>,
    count: u64,
}

/// A level in columns, which are a third shorter than rows.
#[derive(Serialize)]
struct LevelData<'a> {
    size: u64,
    /// `None` for an execution time of single values, which is response − latency.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "some")]
    max: Option<Column<'a>>,
    /// `None` where buckets are single values: they are their own smallest.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "some")]
    min: Option<Column<'a>>,
    /// Where in its bucket the largest value is; likewise.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "some")]
    at: Option<Column<'a>>,
}

/// A bucket's number, its size and the bucket, as a number of the column.
type Cell = fn(u64, u64, &wakepath_assess::Bucket) -> i64;

struct Column<'a> {
    level: &'a Level,
    cell: Cell,
}

fn column<S: serde::Serializer>(column: &Column<'_>, serializer: S) -> Result<S::Ok, S::Error> {
    let Column { level, cell } = column;
    let cells = (0_u64..).zip(&level.buckets);
    serializer.collect_seq(cells.map(|(number, bucket)| {
        bucket
            .as_ref()
            .map(|bucket| cell(number, level.size, bucket))
    }))
}

fn some<S: serde::Serializer>(some: &Option<Column<'_>>, serializer: S) -> Result<S::Ok, S::Error> {
    match some {
        Some(some) => column(some, serializer),
        None => serializer.serialize_none(),
    }
}

/// Columns; indices as distances from the one before.
#[derive(Serialize, Default)]
struct Late {
    index: Vec<u64>,
    latency: Vec<i64>,
    response: Vec<i64>,
    after_overrun: Vec<u8>,
}

#[derive(Serialize, Default)]
struct Skipped {
    index: Vec<u64>,
    count: Vec<u64>,
    latency: Vec<i64>,
}

/// The data of one run.
pub(super) fn json(run: &Reported<'_>) -> String {
    let policies = crate::figure::distinct(run.pictures.iter().map(|one| label::policy(&one.name)));
    let data = RunData {
        traced: run.explanation.is_some(),
        causes: causes(run),
        conditions: run
            .pictures
            .iter()
            .map(|picture| condition(picture, &policies))
            .collect(),
    };
    // Plain data: no map has a key that isn't a string.
    serde_json::to_string(&data).unwrap_or_else(|_| "{\"conditions\":[]}".into())
}

/// The data of distributions alone, for the figures that show them.
pub(super) fn json_of_shapes<'a>(shapes: impl Iterator<Item = &'a Shape>) -> String {
    let of = |shape: &Shape| {
        json!({ "measures": { "latency": {
            "finest": { "size": 1, "max": [] }, "tail": tail(shape), "bins": bins(shape), "count": shape.count,
        } }, "due_times": 0 })
    };
    json!({ "traced": false, "causes": {}, "conditions": shapes.map(of).collect::<Vec<_>>() })
        .to_string()
}

fn tail(shape: &Shape) -> Vec<(i64, u64)> {
    let tail = shape.tail.iter();
    tail.map(|point| (point.value, point.at_least)).collect()
}

fn bins(shape: &Shape) -> Vec<(i64, i64, u64)> {
    let bins = shape.bins.iter();
    bins.map(|bin| (bin.from, bin.below, bin.count)).collect()
}

/// The largest cause of each kept late cycle. Cycles of several loops side by side can't be distinguished
/// by their numbers and are left to `wakepath explain`.
fn causes(run: &Reported<'_>) -> BTreeMap<String, String> {
    let alone = |segment: u32| {
        let known = run
            .manifest
            .segments
            .iter()
            .find(|one| one.segment == segment);
        known.is_some_and(|one| one.threads.len() == 1)
    };
    let conditions = run.explanation.iter().flat_map(|found| &found.conditions);
    let kept = conditions.flat_map(|condition| &condition.worst);
    let told = kept
        .filter(|cycle| alone(cycle.segment))
        .filter_map(|cycle| {
            let main = cycle.pieces.iter().max_by_key(|piece| piece.ns)?;
            let length = three_digits(i64::try_from(main.ns).unwrap_or(i64::MAX));
            let text = format!("{} ({length} of it)", main.cause);
            Some((format!("{}/{}", cycle.segment, cycle.cycle), text))
        });
    told.collect()
}

fn condition<'a>(picture: &'a Picture, policies: &[String]) -> ConditionData<'a> {
    let policy = label::policy(&picture.name);
    let mut late = Late::default();
    let mut before = 0;
    for cycle in &picture.violations.late {
        late.index.push(cycle.index - before);
        late.latency.push(cycle.latency_ns);
        late.response.push(cycle.response_ns);
        late.after_overrun.push(cycle.after_overrun.into());
        before = cycle.index;
    }
    let mut skipped = Skipped::default();
    before = 0;
    for cycles in &picture.violations.skipped {
        skipped.index.push(cycles.index - before);
        skipped.count.push(cycles.count);
        skipped.latency.push(cycles.latency_ns);
        before = cycles.index;
    }
    let of = |name: MeasureName| measure(name, name.chosen(picture));
    ConditionData {
        colour: policies.iter().position(|one| *one == policy).unwrap_or(0),
        policy,
        phase: &picture.name.phase,
        period: picture.period_ns,
        due_times: picture.due_times,
        latency_limit: picture.latency_limit_ns,
        deadline: picture.deadline_ns,
        stretches: picture
            .stretches
            .iter()
            .map(|one| {
                let numbers = (one.segment, one.repetition, one.thread);
                let (segment, repetition, thread) = numbers;
                (
                    one.first_index,
                    one.first_cycle,
                    segment,
                    repetition,
                    thread,
                )
            })
            .collect(),
        measures: Measures {
            latency: of(MeasureName::Latency),
            response: of(MeasureName::Response),
            execution: of(MeasureName::Execution),
        },
        late,
        skipped,
    }
}

fn measure<'a>(name: MeasureName, measure: &'a Measure) -> MeasureData<'a> {
    let shape = measure.shape.as_ref();
    let column = |level: &'a Level, cell: Cell| Column { level, cell };
    let finest = &measure.pyramid.levels[0];
    let several = |cell: Cell| (finest.size > 1).then(|| column(finest, cell));
    MeasureData {
        finest: LevelData {
            size: finest.size,
            max: (name != MeasureName::Execution || finest.size > 1)
                .then(|| column(finest, |_, _, bucket| bucket.max)),
            min: several(|_, _, bucket| bucket.min),
            at: several(|number, size, bucket| (bucket.at - number * size) as i64),
        },
        tail: shape.map_or(vec![], tail),
        bins: shape.map_or(vec![], bins),
        count: shape.map_or(0, |shape| shape.count),
    }
}
