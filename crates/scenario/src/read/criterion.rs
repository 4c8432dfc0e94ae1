//! Reads the loop's tolerance, resolved to nanoseconds.

use super::choice;
use crate::document::{Node, Section};
use crate::error::{Finding, Findings};
use crate::units::{parse_of_period, parse_share};
use crate::{Criterion, PoliciesNeeded, Tier, keys};
use wakepath_timeline::duration::exact;

const MISS_FRACTION: f64 = 0.005;
const CONFIDENCE: f64 = 0.95;

pub(super) fn read_criterion(
    root: &Section<'_>,
    period_ns: u64,
    findings: &mut Findings,
) -> Option<Criterion> {
    let Some(node) = root.get("criterion") else {
        return Some(Criterion {
            latency_ns: None,
            deadline_ns: period_ns,
            miss_fraction: MISS_FRACTION,
            evidence: None,
            confidence: CONFIDENCE,
            consecutive_misses: None,
            outage_ns: None,
            mode_switches: 0.0,
            policies: PoliciesNeeded::Any,
        });
    };
    if let Some(name) = node.as_text() {
        return match Tier::named(name) {
            // A loop that is due more often has that much less time for its work, and to wake up for it.
            Some(tier) => {
                let criterion = tier.criterion();
                let deadline_ns = tier.period_ns.min(period_ns);
                Some(Criterion {
                    latency_ns: criterion.latency_ns.map(|latency| latency.min(deadline_ns)),
                    deadline_ns,
                    ..criterion
                })
            }
            None => {
                let remedy = format!("give a table, or one of {}", keys::listed(keys::TIER_NAMES));
                findings.push(node.refuse("is not a known criterion", remedy));
                None
            }
        };
    }
    let section = findings.keep(node.table("give a table [criterion]"))?;
    keys::check(&section, &keys::CRITERION, findings);
    let deadline_ns = findings.optional(section.get("deadline"), period_ns, |node| {
        time(node, period_ns)
    });
    let latency_ns = findings.optional(section.get("latency"), None, |node| {
        time(node, period_ns).map(Some)
    });
    if let (Some(node), Some(Some(latency)), Some(deadline)) =
        (section.get("latency"), latency_ns, deadline_ns)
        && latency > deadline
    {
        let deadline = exact(deadline);
        let problem =
            format!("is longer than the deadline ({deadline}), which it can never decide");
        findings.push(node.refuse(problem, format!("give at most {deadline}")));
    }
    let outage_ns = findings.optional(section.get("outage"), None, |node| {
        let outage_ns = time(node, period_ns)?;
        if outage_ns < period_ns {
            let period = exact(period_ns);
            let problem =
                format!("is shorter than the period ({period}), so no loop could hold it");
            return Err(node.refuse(problem, format!("give at least {period}")));
        }
        Ok(Some(outage_ns))
    });
    let miss_fraction = findings.optional(section.get("miss-fraction"), MISS_FRACTION, |node| {
        share(node, "is not a share of the due times to tolerate")
    });
    let evidence = read_evidence(&section, miss_fraction, findings);
    let confidence = findings.optional(section.get("confidence"), CONFIDENCE, |node| {
        let remedy = "give a number from 0.5 to below 1, such as 0.95";
        let value = node.number(remedy)?;
        match (0.5..1.0).contains(&value) {
            true => Ok(value),
            false => Err(node.refuse("is not a confidence", remedy)),
        }
    });
    let consecutive_misses = findings.optional(section.get("consecutive-misses"), None, |node| {
        Ok(Some(node.integer(0..=1_000_000_000)? as u64))
    });
    let mode_switches = findings.optional(section.get("mode-switches"), 0.0, |node| {
        share(node, "is not a share of the cycles to tolerate")
    });
    let policies = findings.optional(section.get("policies"), PoliciesNeeded::Any, |node| {
        choice(
            node,
            &[
                ("any", PoliciesNeeded::Any),
                ("every", PoliciesNeeded::Every),
            ],
        )
    });
    Some(Criterion {
        latency_ns: latency_ns?,
        deadline_ns: deadline_ns?,
        miss_fraction: miss_fraction?,
        evidence: evidence?,
        confidence: confidence?,
        consecutive_misses: consecutive_misses?,
        outage_ns: outage_ns?,
        mode_switches: mode_switches?,
        policies: policies?,
    })
}

pub(super) fn time(node: &Node<'_>, period_ns: u64) -> Result<u64, Finding> {
    let remedy =
        "give a time or a share of the period, such as \"400 µs\", \"10 %\" or \"3 periods\"";
    match node.quantity(remedy, |text| parse_of_period(text, period_ns))? {
        0 => Err(node.refuse("allows no time", remedy)),
        ns => Ok(ns),
    }
}

pub(super) fn share(node: &Node<'_>, problem: &str) -> Result<f64, Finding> {
    let remedy = "give a share from 0 to below 1, such as 0.005 or \"0.5 %\"";
    let value = match node.as_text() {
        Some(_) => node.quantity(remedy, parse_share)?,
        None => node.number(remedy)?,
    };
    match (0.0..1.0).contains(&value) {
        // Adding 0 turns −0 into 0.
        true => Ok(value + 0.0),
        false => Err(node.refuse(problem, remedy)),
    }
}

fn read_evidence(
    section: &Section<'_>,
    miss_fraction: Option<f64>,
    findings: &mut Findings,
) -> Option<Option<f64>> {
    let remedy = "give the bound on the miss probability to be shown, such as evidence = 5e-6";
    let evidence = findings.optional(section.get("evidence"), None, |node| {
        let value = node.number(remedy)?;
        match value > 0.0 && value < 1.0 {
            true => Ok(Some(value)),
            false => Err(node.refuse("is not a probability between 0 and 1", remedy)),
        }
    })?;
    match (miss_fraction, evidence, section.get("evidence")) {
        (Some(0.0), None, _) => {
            let problem = "is missing, and with miss-fraction 0 no run could ever be long enough";
            findings.push(section.refuse_key("evidence", problem, remedy));
            None
        }
        (Some(fraction), Some(_), Some(node)) if fraction > 0.0 => {
            let problem = format!("has no meaning with miss-fraction {fraction}");
            findings.push(node.refuse(problem, "leave it out, or give miss-fraction = 0"));
            None
        }
        _ => Some(evidence),
    }
}
