//! One request, on its way to an upstream and back.

use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, Method, Request, Response, StatusCode, Uri, header};
use baler_host::Format;
use baler_http::Token;
use baler_models::clients::UsageReader;
use bytes::Bytes;
use tower_service::Service as _;
use tracing::Instrument as _;

use crate::answers::{self, Answer};
use crate::body::{Passing, Room, Taken, Unread};
use crate::encoding::decoded;
use crate::errors;
use crate::fit::{Fit, Fitter};
use crate::headers;
use crate::local;
use crate::record::Record;
use crate::route;
use crate::session::{self, Action, Exchange, Observer};
use crate::upstream::{self, Connected};

/// What all requests share.
pub(crate) struct App {
    pub(crate) upstreams: Vec<Connected>,
    pub(crate) fitter: Arc<Fitter>,
    pub(crate) room: Room,
    pub(crate) most_bytes: usize,
    pub(crate) token: Option<Token>,
    pub(crate) is_shadow: bool,
    pub(crate) observer: Option<Observer>,
    pub(crate) pages: Router,
}

/// A request that holds a conversation.
struct Asked<'a> {
    upstream: &'a Connected,
    url: reqwest::Url,
    method: Method,
    headers: HeaderMap,
    path: &'a str,
    format: Format,
    /// The body as it came.
    came: Bytes,
}

impl Asked<'_> {
    /// Begins what is recorded of it. `again`: it is sent in place of what the provider refused.
    fn record(&self, app: &App, again: bool) -> Record {
        let bytes = self.came.len();
        let exchange = Exchange {
            time: session::now(),
            session: String::new(),
            run: None,
            program: session::program(&self.headers),
            upstream: self.upstream.name.clone(),
            format: self.format,
            model: session::model(self.path),
            action: Action::Passed,
            why: None,
            shadow: app.is_shadow,
            again,
            messages: [0; 2],
            tokens: [0; 2],
            bytes: [bytes; 2],
            added_us: 0,
            status: 0,
            usage: None,
            receipt: None,
        };
        Record::new(exchange, app.observer.clone())
    }
}

/// Passes a request on, and its answer back.
pub(crate) async fn relay(app: Arc<App>, request: Request<Body>) -> Response<Body> {
    let (mut parts, body) = request.into_parts();
    let format = route::conversation(&parts.method, parts.uri.path());
    let page = route::page(parts.uri.path());
    // Pages for browsers ask for the token as these know it.
    if page != Some("ui")
        && let Some(response) = turned_away(&app, &parts, format)
    {
        return response;
    }
    if page.is_some() {
        let request = Request::from_parts(parts, body);
        let Ok(response) = app.pages.clone().call(request).await;
        return response;
    }
    let path_and_query = path_and_query(&parts.uri);
    let Some((upstream, path)) = upstream::choose(&app.upstreams, &path_and_query, &parts.headers)
    else {
        let names: Vec<_> = app
            .upstreams
            .iter()
            .map(|upstream| &*upstream.name)
            .collect();
        let message = format!(
            "no upstream has this path: begin it with /NAME, where NAME is {}, or send it to /v1 or /v1beta",
            names.join(", ")
        );
        return errors::respond(format, StatusCode::NOT_FOUND, &message);
    };
    let Some(url) = upstream.url(path) else {
        let message = "expected a path behind the name of the upstream, such as /v1/messages, and none that leads out of it";
        return errors::respond(format, StatusCode::BAD_REQUEST, message);
    };
    headers::for_upstream(&mut parts.headers);
    let Some(format) = format else {
        let body = reqwest::Body::wrap(Passing::new(Bytes::new(), body));
        return pass(upstream, url, parts, body, None).await;
    };
    match app.room.take(body).await {
        Ok(Taken::Part(body)) => {
            let body = reqwest::Body::wrap(body);
            let mut response = pass(upstream, url, parts, body, Some(format)).await;
            let done = HeaderValue::from_static("passed; why=too-large");
            response.headers_mut().insert(headers::DONE, done);
            response
        }
        Ok(Taken::Whole(came, _room)) => {
            let Parts {
                method, headers, ..
            } = parts;
            let asked = Asked {
                upstream,
                url,
                method,
                headers,
                path: path.split('?').next().unwrap_or_default(),
                format,
                came,
            };
            let span = tracing::debug_span!("proxy.request", upstream = %upstream.name, ?format);
            converse(&app, asked).instrument(span).await
        }
        Err(Unread::TooSlow) => errors::respond(
            Some(format),
            StatusCode::REQUEST_TIMEOUT,
            "the body of the request did not arrive in time",
        ),
        Err(Unread::BrokeOff) => errors::respond(
            Some(format),
            StatusCode::BAD_REQUEST,
            "the body of the request broke off",
        ),
    }
}

/// Returns an answer to what is not passed on at all.
fn turned_away(app: &App, parts: &Parts, format: Option<Format>) -> Option<Response<Body>> {
    if let Some(token) = &app.token {
        let shown = parts.headers.get(headers::TOKEN);
        if !shown.is_some_and(|shown| token.is(shown.as_bytes())) {
            let message = "send the token of this proxy in the header `x-baler-token`; the key of the provider stays in its own header";
            return Some(errors::respond(format, StatusCode::UNAUTHORIZED, message));
        }
    } else if !local::is_local(&parts.uri, &parts.headers) {
        let message = "without a token only programs of this machine are served, at 127.0.0.1 or localhost: the headers `Host` and `Origin` name another place. For others, start it with a token";
        return Some(errors::respond(format, StatusCode::FORBIDDEN, message));
    }
    if parts.method == Method::CONNECT {
        let message = "this is no proxy for other hosts: use its address as the base URL";
        return Some(errors::respond(
            format,
            StatusCode::METHOD_NOT_ALLOWED,
            message,
        ));
    }
    if route::is_websocket(&parts.headers) {
        // Codex then goes on over HTTPS at once.
        let message = "WebSockets do not pass; send the request over HTTP";
        let mut response = errors::respond(format, StatusCode::UPGRADE_REQUIRED, message);
        let http = HeaderValue::from_static("HTTP/1.1");
        response.headers_mut().insert(header::UPGRADE, http);
        return Some(response);
    }
    None
}

fn path_and_query(uri: &Uri) -> String {
    uri.path_and_query()
        .map(ToString::to_string)
        .unwrap_or_default()
}

/// Passes a request and its answer, both as they arrive.
async fn pass(
    upstream: &Connected,
    url: reqwest::Url,
    parts: Parts,
    body: reqwest::Body,
    format: Option<Format>,
) -> Response<Body> {
    let mut request = reqwest::Request::new(parts.method, url);
    *request.headers_mut() = parts.headers;
    *request.body_mut() = Some(body);
    match upstream.http.execute(request).await {
        Ok(response) => for_client(Response::<reqwest::Body>::from(response).map(Body::new)),
        Err(error) => errors::unreachable(format, &upstream.name, &error),
    }
}

/// Makes an answer of an upstream one for the client.
fn for_client(mut response: Response<Body>) -> Response<Body> {
    headers::remove_hop_by_hop(response.headers_mut());
    // Only this proxy says what it did.
    response.headers_mut().remove(headers::DONE);
    response
}

/// Passes on a request that holds a conversation, within the window.
async fn converse(app: &Arc<App>, mut asked: Asked<'_>) -> Response<Body> {
    let decoded = decoded(
        &asked.headers,
        asked.came.clone(),
        app.most_bytes,
        &app.room,
    );
    let Some((body, _room)) = decoded.await else {
        let record = asked.record(app, false).because("content-encoding");
        return match send(&asked, None).await {
            Ok(answer) => finish(record, answer),
            Err(error) => unreachable(record, &error),
        };
    };
    // What comes back is read as it passes.
    let plain = HeaderValue::from_static("identity");
    asked.headers.insert(header::ACCEPT_ENCODING, plain);
    let mut fit = fit(app, &asked, body.clone(), false).await;
    let sent = fit.body.take().filter(|_| !app.is_shadow);
    let answer = match send(&asked, sent.clone()).await {
        Ok(answer) => answer,
        Err(error) => return unreachable(fit.record.because("unreachable"), &error),
    };
    if answer.is_too_long && !app.is_shadow {
        let mut less = self::fit(app, &asked, body.clone(), true).await;
        let before = sent.as_ref().map_or(body.len(), Bytes::len);
        if let Some(smaller) = less.body.take().filter(|smaller| smaller.len() < before)
            && let Ok(again) = send(&asked, Some(smaller)).await
        {
            refused(fit, &answer, "too-long");
            return finish(less.record, again);
        }
        less.record.forget();
    } else if sent.is_some() && answer.response.status() == StatusCode::BAD_REQUEST {
        // Nothing that baler made of a request may end a session that would have gone on without it.
        if let Ok(whole) = send(&asked, None).await
            && whole.response.status().is_success()
        {
            app.fitter.forget(&asked.headers, &fit);
            let record = fit.record.as_it_came(asked.record(app, true));
            refused(fit, &answer, "refused-by-provider");
            return finish(record, whole);
        }
    }
    finish(fit.record, answer)
}

/// Fits a request into the window. `less`: the provider refused what went on before as too long.
async fn fit(app: &Arc<App>, asked: &Asked<'_>, body: Bytes, less: bool) -> Fit {
    let record = asked.record(app, less);
    let fit = app.fitter.fit(record, &asked.headers, body, less).await;
    fit.unwrap_or_else(|| Fit::passed(asked.record(app, less).because("failed")))
}

/// Ends the record of what the provider refused.
fn refused(mut fit: Fit, answer: &Answer, why: &str) {
    fit.record.exchange.status = answer.response.status().as_u16();
    drop(fit.record.because(why));
}

/// Writes why a request was not answered.
fn unreachable(mut record: Record, error: &reqwest::Error) -> Response<Body> {
    let (format, upstream) = (record.exchange.format, &record.exchange.upstream);
    let response = errors::unreachable(Some(format), upstream, error);
    record.exchange.status = response.status().as_u16();
    response
}

/// Sends a request with another body, or the one that came.
async fn send(asked: &Asked<'_>, body: Option<Bytes>) -> Result<Answer, reqwest::Error> {
    let mut request = reqwest::Request::new(asked.method.clone(), asked.url.clone());
    *request.headers_mut() = asked.headers.clone();
    if body.is_some() {
        request.headers_mut().remove(header::CONTENT_ENCODING);
    }
    *request.body_mut() = Some(body.unwrap_or_else(|| asked.came.clone()).into());
    let response = asked.upstream.http.execute(request).await?;
    Ok(answers::look(response).await)
}

/// Passes an answer back, and tells of the exchange once it has ended.
fn finish(mut record: Record, answer: Answer) -> Response<Body> {
    let done = session::said(&record.exchange);
    record.exchange.status = answer.response.status().as_u16();
    let is_stream = answers::is_event_stream(answer.response.headers());
    record.reader = Some(UsageReader::new(is_stream));
    let mut response = for_client(answers::tapped(answer.response, move |piece| {
        record.see(piece)
    }));
    response.headers_mut().insert(headers::DONE, done);
    response
}
