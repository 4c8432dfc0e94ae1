//! Lines of a trace in a file: of a web page of systrace, those between its marks.

use super::head;
use std::borrow::Cow;

/// The lines of the trace with their numbers: of a web page, those that it holds.
pub(super) fn traced(text: &str) -> impl Iterator<Item = (usize, Cow<'_, str>)> {
    // A trace without its head may begin with a thread called `<idle>` or `<...>`.
    let first = text.lines().find(|line| !line.trim().is_empty());
    let is_page =
        first.is_some_and(|line| line.trim_start().starts_with('<') && head(line).is_err());
    let mut within = !is_page;
    (1..).zip(text.lines()).filter_map(move |(number, line)| {
        // Systrace's first versions have the trace as a string of JavaScript.
        let line = line.strip_suffix("\\n\\").unwrap_or(line);
        if !is_page {
            return Some((number, Cow::Borrowed(line)));
        }
        let begins = line.contains("# tracer:") || line.contains("class=\"trace-data\"");
        let ends = within && line.contains("</script>");
        within = (within || begins) && !ends;
        (within && !line.contains("<script")).then(|| {
            let is_plain = !line.contains('&') && !line.contains("\\\"");
            let line = if is_plain {
                Cow::Borrowed(line)
            } else {
                line.replace("&lt;", "<")
                    .replace("&gt;", ">")
                    .replace("&amp;", "&")
                    .replace("\\\"", "\"")
                    .into()
            };
            (number, line)
        })
    })
}

#[cfg(test)]
mod tests {
    use super::super::Reader;
    use super::*;

    #[test]
    fn a_web_page_is_read_between_its_marks() {
        let event = "<...>-1     (-----) [000] d..2 1.500000: cpu_idle: state=1 cpu_id=0";
        for page in [
            format!(
                "<!DOCTYPE html>\n<script>\nvar a = 1-1 [0];\n</script>\n<script class=\"trace-data\" \
                 type=\"application/text\">\n# tracer: nop\n#\n{}\n</script>\nb-1 [000] 2.5: x: y\n",
                event.replace('<', "&lt;").replace('>', "&gt;")
            ),
            format!(
                "<!DOCTYPE html>\n<script>\n  var linuxPerfData = \"\\\n# tracer: nop\\n\\\n{event}\\n\\\n\
                 \";\n  </script>\n"
            ),
        ] {
            let mut reader = Reader::default();
            for (_, line) in traced(&page) {
                reader.line(&line).unwrap();
            }
            assert_eq!(reader.events.len(), 1, "{page}");
            assert_eq!(reader.events[0].cpu, 0);
        }
    }
}
