//! A board's page: its history with changes, the latencies of its newest run, every run with its worst
//! cycles.

use crate::front::sentence;
use crate::markup::escaped;
use crate::plot::{history, latencies};
use crate::policy::page;
use crate::seen::{Curve, Seen, SeenRun};
use wakepath_timeline::count::counted;
use wakepath_timeline::duration::rounded;

/// Runs in the table: the newest of more.
const MOST_RUNS: usize = 1000;

/// The page `board/NAME.html`; `newest` are the latencies of its newest run that can be trusted.
pub fn board_page(seen: &Seen, board: &str, newest: Option<(&str, &[Curve])>) -> String {
    let runs: Vec<&SeenRun> = seen.runs.iter().filter(|run| run.board == board).collect();
    let shown = &runs[runs.len().saturating_sub(MOST_RUNS)..];
    let changes: Vec<_> = seen
        .changes
        .iter()
        .filter(|change| change.board == board)
        .collect();
    let mut body = format!(
        "<p><a href=\"../index.html\">Fleet</a></p>\n<h1>{}</h1>\n<p>{}.</p>\n",
        escaped(board),
        counted(runs.len() as u64, "run", "runs")
    );
    body += "<h2>History</h2>\n";
    let names: Vec<&str> = changes
        .iter()
        .map(|change| &*change.change.run_id)
        .collect();
    match history(shown, &names) {
        Some(svg) => {
            body += "<p class=\"soft\">Full dots are p99.9, circles the largest latency of each run, crosses \
                     invalid runs, dashed lines changes.</p>\n";
            body += &format!("<div class=\"wide\">{svg}</div>\n");
        }
        None => body += "<p>No run of it can be trusted.</p>\n",
    }
    if !changes.is_empty() {
        body += "<ul class=\"feed\">\n";
        for change in &changes {
            body += &format!("<li>{}</li>\n", sentence(change, ""));
        }
        body += "</ul>\n";
    }
    if let Some((run, curves)) = newest
        && let Some(svg) = latencies(curves)
    {
        body += &format!(
            "<h2>Latencies of its newest run</h2>\n<p class=\"soft\">Run {}; each bar is one microsecond.</p>\n\
             <div class=\"wide\">{svg}</div>",
            escaped(run)
        );
    }
    body += "<h2>Runs</h2>\n";
    if shown.len() < runs.len() {
        body += &format!("<p class=\"soft\">The newest {}.</p>\n", shown.len());
    }
    body += "<div class=\"wide\"><table><thead><tr><th>began</th><th>run</th><th>kernel</th><th>verdict</th>\
             <th class=\"n\">p99.9</th><th class=\"n\">largest</th><th class=\"n\">missed</th>\
             <th class=\"n\">due times</th><th>seal</th><th>worst cycles by response</th></tr></thead><tbody>\n";
    for run in shown.iter().rev() {
        body += &row(run);
    }
    body += "</tbody></table></div>\n\
             <p class=\"soft\">For one run in full: <code>wakepath-fleet serve</code>, or <code>wakepath report RUN</code> \
             on the machine that has it.</p>\n";
    page(board, &body, "")
}

fn row(run: &SeenRun) -> String {
    let time = |ns: Option<i64>| ns.map_or("unknown".to_owned(), rounded);
    let worst: Vec<String> = run
        .worst
        .iter()
        .map(|(segment, thread, cycle, response)| {
            format!(
                "{} (segment {segment}, thread {thread}, cycle {cycle})",
                rounded(*response)
            )
        })
        .collect();
    let class = if run.is_invalid() {
        " class=\"invalid-run\""
    } else {
        ""
    };
    let kernel = if run.kernel.is_empty() {
        "unknown"
    } else {
        &run.kernel
    };
    let name = match run.has_report {
        // A run's name is plain ASCII wherever a record was read.
        true => format!(
            "<a href=\"../report/{0}.html\">{0}</a>",
            escaped(&run.run_id)
        ),
        false => escaped(&run.run_id),
    };
    let causes = if run.has_report {
        format!(
            " <a href=\"../report/{}.html#causes-0\">why</a>",
            escaped(&run.run_id)
        )
    } else {
        String::new()
    };
    let worst = match worst.split_first() {
        None => String::new(),
        Some((first, [])) => first.clone(),
        Some((first, more)) => format!(
            "<details><summary>{first}</summary>{}</details>",
            more.join("<br>")
        ),
    };
    format!(
        "<tr{class}><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td class=\"n\">{}</td><td class=\"n\">{}</td>\
         <td class=\"n\">{}</td><td class=\"n\">{}</td><td>{}</td><td>{worst}{causes}</td></tr>\n",
        escaped(&run.started),
        name,
        escaped(kernel),
        escaped(run.verdict()),
        time(run.p999_ns),
        time(run.max_ns),
        run.missed,
        run.due,
        escaped(run.seal.words()),
    )
}
