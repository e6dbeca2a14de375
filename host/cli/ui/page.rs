//! The frame of all pages.

use axum::body::Body;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::Response;
use maud::{DOCTYPE, Markup, html};

use crate::report::words::label;

/// Which of the pages in the navigation one belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Here {
    Sessions,
    Try,
    Elsewhere,
}

/// A page without its content.
pub(super) struct Page<'a> {
    title: &'a str,
    here: Here,
    is_live: bool,
}

impl<'a> Page<'a> {
    pub(super) const fn new(title: &'a str, here: Here) -> Self {
        Self {
            title,
            here,
            is_live: false,
        }
    }

    /// Has the script refresh the page while it is looked at.
    pub(super) const fn live(mut self) -> Self {
        self.is_live = true;
        self
    }

    /// Makes the answer with this content.
    pub(super) fn answer(&self, status: StatusCode, content: Markup) -> Response {
        let link = |to: &str, name: &str, here: Here| {
            let current = (self.here == here).then_some("page");
            html! { a href=(to) aria-current=[current] { (name) } }
        };
        let page = html! {
            (DOCTYPE)
            html lang="en" {
                head {
                    meta charset="utf-8";
                    meta name="viewport" content="width=device-width, initial-scale=1";
                    title { (label(self.title, 80)) " – baler" }
                    link rel="icon" href="/ui/icon.svg" type="image/svg+xml";
                    link rel="stylesheet" href="/ui/style.css";
                    script src="/ui/script.js" defer {}
                }
                body {
                    a class="skip" href="#main" { "Skip to the content" }
                    header class="top" {
                        a class="brand" href="/ui" { "baler" }
                        nav aria-label="Pages" {
                            (link("/ui", "Sessions", Here::Sessions))
                            (link("/ui/try", "Try strategies", Here::Try))
                        }
                        p id="state" role="status" {}
                    }
                    main id="main" tabindex="-1" data-live[self.is_live] { (content) }
                    footer { "baler " (env!("CARGO_PKG_VERSION")) ". These pages load nothing from elsewhere." }
                }
            }
        };
        let mut response = Response::new(Body::from(page.into_string()));
        *response.status_mut() = status;
        let kind = HeaderValue::from_static("text/html; charset=utf-8");
        response.headers_mut().insert(header::CONTENT_TYPE, kind);
        response
    }
}

/// Returns a box in which a wide table scrolls, also by the keyboard.
pub(super) fn scroll(name: &str, content: Markup) -> Markup {
    html! { div class="scroll" tabindex="0" role="group" aria-label=(name) { (content) } }
}

/// Returns a figure with its name above and a note below.
pub(super) fn tile(name: &str, figure: &str, note: Markup) -> Markup {
    html! { div { dt { (name) } dd { span class="value" { (figure) } span class="note" { (note) } } } }
}

/// Returns a number in few signs, such as `84.3k`.
pub(super) fn short(number: u64) -> String {
    let (unit, sign) = match number {
        0..1_000 => return number.to_string(),
        1_000..1_000_000 => (1_000.0, 'k'),
        _ => (1_000_000.0, 'M'),
    };
    let shown = number as f64 / unit;
    match shown {
        ..99.95 => format!("{shown:.1}{sign}").replace(".0", ""),
        _ => format!("{shown:.0}{sign}"),
    }
}

/// Returns an answer that a browser stores as a file.
pub(super) fn attachment(name: &str, kind: &'static str, content: String) -> Response {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || ".-_".contains(letter);
    let name: String = name
        .chars()
        .map(|letter| if is_plain(letter) { letter } else { '-' })
        .collect();
    let mut response = Response::new(Body::from(content));
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    if let Ok(named) = format!("attachment; filename=\"{name}\"").parse() {
        headers.insert(header::CONTENT_DISPOSITION, named);
    }
    response
}

#[cfg(test)]
mod tests {
    use super::short;

    #[test]
    fn short_numbers_keep_three_digits() {
        for (number, shown) in [
            (0, "0"),
            (999, "999"),
            (1_000, "1k"),
            (84_310, "84.3k"),
            (99_960, "100k"),
            (160_000, "160k"),
            (1_250_000, "1.2M"),
        ] {
            assert_eq!(short(number), shown);
        }
    }
}
