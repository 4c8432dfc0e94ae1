//! The chapters after a page's beginning: folded until the reader opens one, and listed before the
//! first.

use crate::markup::Markup;

/// One chapter. Links reach it by its `id`.
pub(super) fn write(
    markup: &mut Markup,
    id: &str,
    heading: &str,
    unfolded: bool,
    content: impl FnOnce(&mut Markup),
) {
    let heading_id = format!("{id}-heading");
    markup.raw("\n");
    markup.open("section", &[("id", &id), ("aria-labelledby", &heading_id)]);
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
    chapters: impl IntoIterator<Item = (String, &'a str)>,
) {
    markup.raw("<nav aria-label=\"Chapters\"><ul>");
    for (id, heading) in chapters {
        markup.raw("<li>");
        markup.element("a", &[("href", &format!("#{id}"))], heading);
        markup.raw("</li>");
    }
    markup.raw(
        "</ul><button type=\"button\" class=\"unfold\" hidden>Unfold all chapters</button></nav>",
    );
}
