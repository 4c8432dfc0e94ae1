//! rteval's summary.xml: of each core a histogram with its statistics, measured by cyclictest or
//! timerlat. The elements that matter are found by their names; the rest is passed over.

use crate::command::Options;
use crate::form::{Fit, Reader};
use crate::histogram_lines::shortened;
use crate::imported::{counted_lacks, share_range, stopped};
use crate::{Form, Histogram, ImportError, Imported, MOST_VALUES, Thread, Values};

pub(crate) const FORM: Form = Form {
    word: "rteval",
    written_by: "rteval -D",
    uses: &[],
    reader: Reader::Text(fits, |text, _| read(text)),
};

fn fits(text: &str) -> Fit {
    Fit::certain_if(text.contains("<rteval "))
}

/// A tag with its line and the text after it.
struct Tag<'a> {
    line: usize,
    /// Between `<` and `>`.
    inner: &'a str,
    text: &'a str,
}

impl<'a> Tag<'a> {
    fn name(&self) -> &'a str {
        let end = self.inner.find(|c: char| c.is_whitespace() || c == '/');
        // A closing tag keeps its slash.
        match self.inner.strip_prefix('/') {
            Some(_) => self.inner.trim_end(),
            None => &self.inner[..end.unwrap_or(self.inner.len())],
        }
    }

    fn attribute(&self, name: &str) -> Option<&'a str> {
        let mut rest = self.inner;
        loop {
            let (before, after) = rest.split_once('=')?;
            let after = after.trim_start();
            let quote = after.chars().next().filter(|c| ['"', '\''].contains(c))?;
            let (value, further) = after[1..].split_once(quote)?;
            if before.split_whitespace().next_back() == Some(name) {
                return Some(value);
            }
            rest = further;
        }
    }
}

fn tags(text: &str) -> impl Iterator<Item = Tag<'_>> {
    let mut line = 1;
    text.split('<')
        .enumerate()
        .filter_map(move |(number, part)| {
            let own = line;
            line += part.bytes().filter(|&byte| byte == b'\n').count();
            let (inner, text) = part.split_once('>')?;
            (number > 0).then_some(Tag {
                line: own,
                inner,
                text,
            })
        })
}

/// A core while its element is open.
struct Core {
    id: u16,
    priority: Option<u8>,
    line: usize,
    samples: Option<u64>,
    found: Histogram,
}

fn read(text: &str) -> Result<Imported, ImportError> {
    let (mut version, mut kernel, mut command) = (None, None, Vec::<String>::new());
    let mut tool = "cyclictest";
    let mut threads = Vec::new();
    let mut open: Option<Core> = None;
    let mut broken_off = None;
    for tag in tags(text) {
        let wrong = |why: String| ImportError::at(tag.line, why);
        let number = |text: &str| {
            let value = text
                .trim()
                .parse::<f64>()
                .ok()
                .filter(|us| (0.0..1e12).contains(us));
            value.ok_or_else(|| wrong(format!("`{}` is not a number", shortened(text.trim()))))
        };
        match (tag.name(), &mut open) {
            ("rteval", _) => version = tag.attribute("version").map(shortened),
            ("kernel", None) => {
                kernel = Some(shortened(tag.text.trim()))
                    .filter(|k| !k.is_empty())
                    .or(kernel)
            }
            ("cyclictest" | "timerlat", None) => {
                tool = if tag.name() == "timerlat" {
                    "rtla timerlat"
                } else {
                    "cyclictest"
                };
                let words = tag.attribute("command_line").unwrap_or("");
                command = words.split_whitespace().map(str::to_owned).collect();
            }
            ("breaktrace" | "stop_tracing", None) => {
                broken_off = tag.attribute("measured_latency").map(shortened);
            }
            ("core", None) => {
                let id = tag.attribute("id").and_then(|id| id.parse().ok());
                open = Some(Core {
                    id: id.ok_or_else(|| wrong("a core without its number".into()))?,
                    priority: tag.attribute("priority").and_then(|own| own.parse().ok()),
                    line: tag.line,
                    samples: None,
                    found: Histogram::default(),
                });
            }
            ("samples", Some(core)) => core.samples = Some(number(tag.text)? as u64),
            ("minimum", Some(core)) => core.found.min_ns = Some((number(tag.text)? * 1e3) as i64),
            ("maximum", Some(core)) => core.found.max_ns = Some((number(tag.text)? * 1e3) as i64),
            ("mean", Some(core)) => {
                core.found.mean_ns = Some((number(tag.text)? * 1e3).round() as i64)
            }
            ("bucket", Some(core)) => {
                let value = |name| number(tag.attribute(name).unwrap_or(""));
                let (low, count) = ((value("index")? as i64) * 1_000, value("value")? as u64);
                if core.found.bins.last().is_some_and(|last| last.0 >= low) {
                    return Err(wrong(
                        "a bucket that does not come after the one before".into(),
                    ));
                }
                if count > 0 {
                    core.found.bins.push((low, low + 999, count));
                }
                core.found.range_end_ns = Some(low + 1_000);
            }
            ("/core", _) => {
                if let Some(core) = open.take() {
                    threads.extend(core.thread()?);
                }
            }
            _ => {}
        }
    }
    if open.is_some() {
        return Err(ImportError::whole(
            "its last core is not closed: it is truncated",
        ));
    }
    if threads.is_empty() {
        let why = "has no core with values: rteval leaves them out if a latency is beyond its buckets \
                   (--cyclictest-buckets)";
        return Err(ImportError::whole(why));
    }
    share_range(&mut threads);
    let options = Options::new(
        &command,
        "a::b:d:D:h:H:i:l:p:t::",
        &["interval:", "period:"],
    );
    let interval = match tool {
        "cyclictest" => options
            .value(&["i", "interval"])
            .or(Some("1000").filter(|_| !command.is_empty())),
        _ => options.value(&["p", "period"]),
    };
    let period_ns = interval.and_then(|us| us.parse::<u64>().ok()?.checked_mul(1_000));
    let mut lacks = counted_lacks(&threads);
    if let Some(latency) = broken_off {
        lacks.push(stopped(&format!("a latency of {latency}")));
    }
    Ok(Imported {
        tool,
        tool_version: version.map(|version| format!("by rteval {version}")),
        command,
        kernel,
        measures: "wake-up latency",
        lacks,
        threads,
        period_ns: period_ns.filter(|ns| *ns > 0),
        ..Imported::default()
    })
}

impl Core {
    fn thread(self) -> Result<Option<Thread>, ImportError> {
        let within = self.found.count();
        if within > MOST_VALUES {
            return Err(ImportError::at(
                self.line,
                "more values than a run can have",
            ));
        }
        if within == 0 {
            return Ok(None);
        }
        if self.samples.is_some_and(|samples| samples != within) {
            let why = format!(
                "core {} has {within} values in its buckets and {} samples: some are missing",
                self.id,
                self.samples.unwrap_or(0)
            );
            return Err(ImportError::at(self.line, why));
        }
        self.found.agree(Some(self.line), Some(self.line))?;
        Ok(Some(Thread {
            priority: self
                .priority
                .filter(|own| *own <= 99)
                .map(|own| (own, false)),
            ..Thread::new(
                format!("CPU {}", self.id),
                Some(self.id),
                Values::Histogram(self.found),
            )
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const XML: &str = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<rteval version=\"3.7\">\n\
        <uname><kernel is_RT=\"1\">6.6.0-rt1</kernel></uname>\n\
        <Measurements><Profile><cyclictest command_line=\"cyclictest -i100 -qmu -h 3500 -p95 -t2 -a0-1\">\n\
        <system description=\"(1 cores)\"><statistics><samples>12</samples></statistics></system>\n\
        <core id=\"1\" priority=\"95\"><statistics><samples>12</samples><minimum unit=\"us\">3</minimum>\n\
        <maximum unit=\"us\">17</maximum><median unit=\"us\">4</median><mean unit=\"us\">4.75</mean>\n\
        </statistics><histogram nbuckets=\"3500\"><bucket index=\"3\" value=\"4\"/>\n\
        <bucket index=\"4\" value=\"7\"/><bucket index=\"17\" value=\"1\"/></histogram></core>\n\
        </cyclictest></Profile></Measurements></rteval>\n";

    #[test]
    fn each_core_is_a_thread_and_the_system_is_none() {
        assert_eq!(fits(XML), Fit::Certain);
        let found = read(XML).unwrap();
        assert_eq!(found.threads.len(), 1);
        let only = &found.threads[0];
        assert_eq!((only.cpu, only.priority), (Some(1), Some((95, false))));
        assert_eq!(
            (found.period_ns, found.kernel.as_deref()),
            (Some(100_000), Some("6.6.0-rt1"))
        );
        let Values::Histogram(all) = &only.values else {
            panic!("{found:?}");
        };
        assert_eq!((all.count(), all.bins[2]), (12, (17_000, 17_999, 1)));
        assert_eq!((all.max_ns, all.mean_ns), (Some(17_000), Some(4_750)));
    }

    #[test]
    fn what_is_cut_changed_or_left_out_is_named() {
        let changed = XML.replace("value=\"7\"", "value=\"8\"");
        assert!(read(&changed).unwrap_err().why.contains("13 values"));
        let cut = XML.split("</core>").next().unwrap();
        assert!(read(cut).unwrap_err().why.contains("truncated"));
        assert!(
            read("<rteval version='3'></rteval>")
                .unwrap_err()
                .why
                .contains("beyond its buckets")
        );
        let odd = XML.replace(">17<", ">x<");
        assert_eq!(read(&odd).unwrap_err().line, Some(7));
    }
}
