//! The chapters after a page's beginning: folded until the reader opens one, and listed before the
//! first.

use crate::markup::Markup;

/// One chapter. Links reach it by its `id`; of several runs on a page it is that of one.
pub(super) fn write(
    markup: &mut Markup,
    (id, heading): (&str, &str),
    run: Option<usize>,
    unfolded: bool,
    content: impl FnOnce(&mut Markup),
) {
    markup.raw("\n");
    let heading_id = format!("{id}-heading");
    let name = match run {
        Some(_) => ("aria-label", label(heading, run)),
        None => ("aria-labelledby", heading_id.clone()),
    };
    markup.open("section", &[("id", &id), (name.0, &name.1)]);
    if unfolded {
        markup.raw("<details class=\"chapter\" open><summary>")
    } else {
        markup.raw("<details class=\"chapter\"><summary>")
    }
    markup.element("h2", &[("id", &heading_id)], heading);
    markup.raw("</summary>");
    content(markup);
    markup.raw("</details>");
    markup.close("section");
}

/// A link to each, by its `id` and heading.
pub(super) fn contents<'a>(
    markup: &mut Markup,
    run: Option<usize>,
    chapters: impl IntoIterator<Item = (String, &'a str)>,
) {
    markup.open("nav", &[("aria-label", &label("Chapters", run))]);
    markup.raw("<ul>");
    for (id, heading) in chapters {
        markup.raw("<li>");
        markup.element("a", &[("href", &format!("#{id}"))], heading);
        markup.raw("</li>");
    }
    markup.raw(
        "</ul><button type=\"button\" class=\"unfold\" hidden>Unfold all chapters</button></nav>",
    );
}

/// A name that no other landmark of the page has.
fn label(of: &str, run: Option<usize>) -> String {
    match run {
        Some(number) => format!("{of}, run {}", number + 1),
        None => of.to_owned(),
    }
}
