//! Compressed bodies.

use std::io::Read;

use axum::http::{HeaderMap, header};
use bytes::Bytes;

use crate::body::{Held, Room};

/// Returns a body without its compression, with the room that it has; `None` if it is in an encoding that baler does not
/// read, is broken, has more than `most` bytes, or there is no room for it. A body without compression is returned as it
/// is, and needs no room of its own.
pub(crate) async fn decoded(
    headers: &HeaderMap,
    body: Bytes,
    most: usize,
    room: &Room,
) -> Option<(Bytes, Held)> {
    let held = room.hold();
    let mut encodings = headers.get_all(header::CONTENT_ENCODING).iter();
    let Some(encoding) = encodings.next() else {
        return Some((body, held));
    };
    if encodings.next().is_some() {
        return None;
    }
    let encoding = encoding.to_str().ok()?.trim().to_ascii_lowercase();
    if ["", "identity"].contains(&&*encoding) {
        return Some((body, held));
    }
    let work = move || match &*encoding {
        "gzip" | "x-gzip" => read(flate2::read::MultiGzDecoder::new(&body[..]), most, held),
        "deflate" => read(flate2::read::ZlibDecoder::new(&body[..]), most, held),
        "zstd" => {
            let decoder = ruzstd::decoding::StreamingDecoder::new(&body[..]).ok()?;
            read(decoder, most, held)
        }
        _ => None,
    };
    tokio::task::spawn_blocking(work).await.ok()?
}

/// Reads within a limit, as far as there is room.
fn read(mut decoder: impl Read, most: usize, mut held: Held) -> Option<(Bytes, Held)> {
    const STEP: usize = 64 << 10;
    let mut all = Vec::new();
    loop {
        let before = all.len();
        held.grow(before + STEP).then_some(())?;
        decoder
            .by_ref()
            .take(STEP as u64)
            .read_to_end(&mut all)
            .ok()?;
        if all.len() > most {
            return None;
        }
        if all.len() == before {
            return Some((all.into(), held));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;
    use std::time::Duration;

    use axum::http::HeaderValue;

    use super::*;

    fn of(encoding: &'static str) -> HeaderMap {
        let mut headers = HeaderMap::new();
        headers.insert(header::CONTENT_ENCODING, HeaderValue::from_static(encoding));
        headers
    }

    #[tokio::test]
    async fn compressed_bodies_are_read_within_their_limit_and_the_room() {
        let room = Room::new(1 << 20, 1 << 20, Duration::MAX);
        let decoded = async |headers: HeaderMap, body, most| {
            let decoded = super::decoded(&headers, body, most, &room).await;
            decoded.map(|(body, _)| body)
        };
        let text = "潮は七時に満ちます。".repeat(500);
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        gzip.write_all(text.as_bytes()).expect("memory");
        let gzip = Bytes::from(gzip.finish().expect("memory"));
        let zstd = ruzstd::encoding::compress_to_vec(
            text.as_bytes(),
            ruzstd::encoding::CompressionLevel::Fastest,
        );
        for (name, body) in [("gzip", gzip.clone()), ("zstd", zstd.into())] {
            let read = decoded(of(name), body.clone(), text.len())
                .await
                .expect("is read");
            assert_eq!(read, text.as_bytes(), "{name}");
            assert_eq!(
                decoded(of(name), body, text.len() - 1).await,
                None,
                "{name}: too large"
            );
        }
        let cut = decoded(of("gzip"), gzip.slice(..20), 1 << 20).await;
        assert_eq!(cut, None);
        assert_eq!(decoded(of("br"), gzip.clone(), 1 << 20).await, None);
        let plain = decoded(HeaderMap::new(), gzip.clone(), 0).await;
        assert_eq!(plain, Some(gzip.clone()));
        let small = Room::new(4 << 10, 1 << 20, Duration::MAX);
        let without_room = super::decoded(&of("gzip"), gzip, 1 << 20, &small).await;
        assert!(without_room.is_none());
    }
}
