//! The first page: changes for the worse, and every board under every kernel at a glance.

use crate::heat::{STEPS_NS, miss_step, step_of};
use crate::markup::{escaped, json_in_page};
use crate::policy::page;
use crate::seen::{Seen, SeenChange};
use serde_json::json;
use std::collections::BTreeMap;
use wakepath_timeline::count::{count, counted};
use wakepath_timeline::duration::rounded;

/// Kernels that the first page shows: the newest of more.
const MOST_KERNELS: usize = 60;

/// Changes that it lists.
const MOST_CHANGES: usize = 100;

/// The page `index.html`.
pub fn front_page(seen: &Seen) -> String {
    let boards = seen.boards();
    let all_kernels = seen.kernels();
    let kernels = &all_kernels[all_kernels.len().saturating_sub(MOST_KERNELS)..];
    let mut body = format!(
        "<h1>Fleet</h1>\n<p>{} on {} under {}.</p>\n",
        counted(seen.runs.len() as u64, "run", "runs"),
        counted(boards.len() as u64, "board", "boards"),
        counted(all_kernels.len() as u64, "kernel", "kernels"),
    );
    body += &feed(&seen.changes);
    body += "<h2>Boards and kernels</h2>\n";
    if kernels.len() < all_kernels.len() {
        body += &format!(
            "<p class=\"soft\">The newest {} kernels; a board's page has all of its own.</p>\n",
            kernels.len()
        );
    }
    body += "<div class=\"tools\">\
             <label>Show <input type=\"radio\" name=\"what\" value=\"p999\" checked> p99.9 of the latency</label>\
             <label><input type=\"radio\" name=\"what\" value=\"misses\"> missed due times</label>\
             <input type=\"search\" id=\"search\" placeholder=\"find a board or kernel\" aria-label=\"find a board or kernel\">\
             <span id=\"count\" class=\"soft\"></span></div>\n";
    body += &legend();
    body += "<p id=\"said\" role=\"status\"></p>\n\
             <div class=\"wide\"><canvas id=\"heat\" aria-label=\"boards by kernels; the list below leads to each board\"></canvas></div>\n";
    body += "<h2>Every board</h2>\n<ul id=\"list\">\n";
    for board in &boards {
        // A board's name is plain ASCII wherever a record was read.
        body += &format!(
            "<li><a href=\"board/{0}.html\">{0}</a></li>\n",
            escaped(board)
        );
    }
    body += "</ul>\n";
    body += &format!(
        "<script type=\"application/json\" id=\"fleet\">{}</script>\n",
        json_in_page(&data(seen, &boards, kernels))
    );
    page("Fleet", &body, include_str!("assets/heat.js"))
}

/// Cells of each board as short rows: kernel, runs, invalid runs, p99.9, missed, due, the steps of both.
fn data(seen: &Seen, boards: &[&str], kernels: &[&str]) -> serde_json::Value {
    let place = |all: &[&str]| -> BTreeMap<String, usize> {
        let pairs = all.iter().enumerate();
        pairs.map(|(i, name)| ((*name).to_owned(), i)).collect()
    };
    let (board_of, kernel_of) = (place(boards), place(kernels));
    let mut cells = vec![Vec::new(); boards.len()];
    for ((board, kernel), cell) in seen.cells() {
        let Some(kernel) = kernel_of.get(kernel) else {
            continue;
        };
        let step = cell.p999_ns.map_or(-1, |ns| step_of(ns) as i64);
        let misses = miss_step(cell.missed, cell.due);
        cells[board_of[board]].push(json!([
            kernel,
            cell.runs,
            cell.invalid,
            cell.p999_ns,
            cell.missed,
            cell.due,
            step,
            misses
        ]));
    }
    let shown = |all: &[&str]| -> Vec<String> {
        all.iter()
            .map(|name| wakepath_timeline::one_line(name))
            .collect()
    };
    json!({"boards": shown(boards), "kernels": shown(kernels), "cells": cells})
}

fn legend() -> String {
    let mut text = "<div class=\"legend\"><span>p99.9:</span>".to_owned();
    for (step, &end) in STEPS_NS.iter().enumerate() {
        text += &format!(
            "<span><i class=\"k{step}\"></i>up to {}</span>",
            rounded(end)
        );
    }
    text += "<span><i class=\"k8\"></i>more</span>\
             <span><i class=\"none\"></i>not measured</span>\
             <span><i class=\"invalid\"></i>invalid</span></div>\n\
             <div class=\"legend\"><span>misses:</span><span><i class=\"k0\"></i>none seen</span>";
    for (step, share) in ["10⁻⁶", "10⁻⁵", "10⁻⁴", "10⁻³", "10⁻²", "0.1", "1"]
        .iter()
        .enumerate()
    {
        text += &format!("<span><i class=\"k{}\"></i>up to {share}</span>", step + 1);
    }
    text + "</div>\n"
}

fn feed(changes: &[SeenChange]) -> String {
    let mut text = "<h2>What changed</h2>\n".to_owned();
    if changes.is_empty() {
        return text + "<p>No history shows a change of its p99.9.</p>\n";
    }
    text += "<p class=\"soft\"><a href=\"feed.xml\">What got later, as a feed</a></p>\n<ul class=\"feed\">\n";
    for seen in changes.iter().take(MOST_CHANGES) {
        text += &format!("<li>{}</li>\n", sentence(seen, "board/"));
    }
    text += "</ul>\n";
    if changes.len() > MOST_CHANGES {
        text += &format!(
            "<p class=\"soft\">And {} older ones, on the boards' pages.</p>\n",
            count((changes.len() - MOST_CHANGES) as u64)
        );
    }
    text
}

/// A change in one sentence.
pub(crate) fn sentence(seen: &SeenChange, to_board: &str) -> String {
    let board = escaped(&seen.board);
    let rest = told(seen, escaped);
    format!("<a href=\"{to_board}{board}.html\">{board}</a>, {rest}")
}

/// The sentence without its board; `safe` escapes foreign text for it.
pub(crate) fn told(seen: &SeenChange, safe: impl Fn(&str) -> String) -> String {
    let change = &seen.change;
    let mut text = format!(
        "{}: p99.9 {} from {} to {} with run {} of {}",
        safe(&seen.condition),
        if change.after_ns > change.before_ns {
            "rose"
        } else {
            "fell"
        },
        rounded(change.before_ns),
        rounded(change.after_ns),
        safe(&change.run_id),
        safe(&change.started),
    );
    if change.differences.is_empty() {
        return text + "; no recorded setting changed with it.";
    }
    let shown = |value: &str| {
        if value.is_empty() {
            "unknown".to_owned()
        } else {
            safe(value)
        }
    };
    for difference in change.differences.iter().take(12) {
        text += &format!(
            "; {}: {} → {}",
            safe(&difference.fact.replace('_', " ")),
            shown(&difference.before),
            shown(&difference.after)
        );
    }
    text + "."
}
