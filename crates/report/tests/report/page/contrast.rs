//! Contrast of every word of the page with its background, light and dark, on figures too: a tool such as axe can't tell the
//! background of words in an SVG, so it is computed here, colour by colour, at the middle of each word.

use super::browser::Browser;
use super::on_paper::{eight_policies, explanation};
use serde_json::{Value, json};

/// WCAG 2, level AA: contrast of words of the usual size, and of large ones.
const WORDS_THAT_ARE_HARD_TO_READ: &str = r"
(() => {
  const parsed = (text) => {
    const numbers = (text.match(/[\d.]+/g) || []).map(Number);
    return /^rgb/.test(text) ? [numbers[0], numbers[1], numbers[2], numbers.length > 3 ? numbers[3] : 1] : null;
  };
  const over = ([r, g, b, a], [R, G, B]) => [r * a + R * (1 - a), g * a + G * (1 - a), b * a + B * (1 - a)];
  const channel = (value) => (value /= 255) <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  const luminance = (c) => 0.2126 * channel(c[0]) + 0.7152 * channel(c[1]) + 0.0722 * channel(c[2]);
  const ratio = (a, b) => {
    const [x, y] = [luminance(a), luminance(b)];
    return (Math.max(x, y) + 0.05) / (Math.min(x, y) + 0.05);
  };
  const opacity = (e) => { let o = 1; for (; e; e = e.parentElement) o *= Number(getComputedStyle(e).opacity); return o; };
  // The paint of an element at a point, with its opacity.
  const paint = (e) => {
    const style = getComputedStyle(e);
    const is_shape = e instanceof SVGElement && !['svg', 'g', 'text', 'tspan', 'a'].includes(e.localName);
    const name = is_shape && style.fill === 'none' ? 'stroke' : 'fill';
    const colour = parsed(is_shape ? style[name] : style.backgroundColor);
    if (!colour) return null;
    if (is_shape) colour[3] *= Number(style[name + 'Opacity']);
    colour[3] *= opacity(e);
    return colour[3] > 0 ? colour : null;
  };
  const paper = parsed(getComputedStyle(document.documentElement).backgroundColor);
  const found = [];
  let judged = 0;
  const words = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const seen = [];
  while (words.nextNode()) if (words.currentNode.data.trim()) seen.push(words.currentNode);
  for (const node of seen) {
    const own = node.parentElement;
    const style = getComputedStyle(own);
    if (['script', 'style', 'title', 'desc'].includes(own.localName) || style.visibility === 'hidden') continue;
    const range = document.createRange();
    range.selectNodeContents(node);
    let box = range.getClientRects()[0];
    if (!box || box.width < 2) continue;
    if (box.top < 0 || box.bottom > innerHeight || box.left < 0 || box.right > innerWidth) {
      own.scrollIntoView({ block: 'center', inline: 'center', behavior: 'instant' });
      box = range.getClientRects()[0];
    }
    const [x, y] = [box.left + box.width / 2, box.top + box.height / 2];
    const under = document.elementsFromPoint(x, y);
    const at = under.indexOf(own);
    // Folded away, or scrolled out of its box.
    if (at < 0 && !under.some((e) => e.contains(own))) continue;
    const behind = under.slice(at + 1).filter((e) => e !== own && !own.contains(e)).map(paint).filter(Boolean);
    let ground = paper.slice(0, 3);
    for (const colour of (paint(own) ? [paint(own), ...behind] : behind).reverse()) ground = over(colour, ground);
    const halo = own instanceof SVGElement && style.paintOrder.startsWith('stroke') && parseFloat(style.strokeWidth) >= 2;
    if (halo && parsed(style.stroke)) ground = over(parsed(style.stroke), ground);
    const ink = parsed(own instanceof SVGElement ? style.fill : style.color);
    if (!ink) continue;
    ink[3] *= opacity(own);
    const size = parseFloat(style.fontSize);
    const is_large = size >= 24 || size >= 18.66 && Number(style.fontWeight) >= 700;
    const contrast = ratio(over(ink, ground), ground);
    judged += 1;
    if (contrast < (is_large ? 3 : 4.5)) {
      found.push(`${contrast.toFixed(2)}: ${node.data.trim().slice(0, 40)} (${own.localName} ${own.getAttribute('class')}) in `
        + `${(own.closest('[data-figure]') || own.closest('section,header') || own).getAttribute('data-figure')}`);
    }
  }
  return { judged, found: [...new Set(found)].slice(0, 40) };
})()
";

#[test]
fn every_word_can_be_read_in_the_light_and_in_the_dark() {
    let written = eight_policies().write();
    std::fs::write(written.directory.join("explanation.json"), explanation()).unwrap();
    let reporting = written.report();
    let Some(mut browser) = Browser::showing(&reporting.file, 1280, 900) else {
        return;
    };
    browser.value("document.querySelectorAll('details').forEach(one => { one.open = true; })");
    for scheme in ["light", "dark"] {
        let features = json!({ "features": [{ "name": "prefers-color-scheme", "value": scheme }] });
        browser.ask("Emulation.setEmulatedMedia", features);
        browser
            .value("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))");
        let of = browser.value(WORDS_THAT_ARE_HARD_TO_READ);
        assert!(of["judged"].as_u64() > Some(500), "{scheme}: {of}");
        let found: Vec<&str> = of["found"]
            .as_array()
            .unwrap()
            .iter()
            .filter_map(Value::as_str)
            .collect();
        assert!(found.is_empty(), "{scheme}:\n{}", found.join("\n"));
    }
}

#[test]
fn words_that_are_hard_to_read_are_found_on_figures_too() {
    let place = tempfile::tempdir().unwrap();
    let file = place.path().join("hard.html");
    let page = "<!doctype html><html style='background:#fff'><body><p style='color:#999'>pale</p><p>dark</p>\
                <svg width='200' height='50' data-figure='f'><rect width='200' height='50' fill='#222'/>\
                <text x='5' y='30' fill='#333'>black</text><text x='100' y='30' fill='#fff'>white</text></svg>";
    std::fs::write(&file, page).unwrap();
    let Some(mut browser) = Browser::showing_as_it_is(&file, 400, 300) else {
        return;
    };
    let of = browser.value(WORDS_THAT_ARE_HARD_TO_READ);
    assert_eq!(of["judged"], json!(4), "{of}");
    let found = of["found"].to_string();
    assert!(found.contains("pale") && found.contains("black"), "{found}");
    assert!(
        !found.contains("white") && !found.contains(": dark"),
        "{found}"
    );
}
