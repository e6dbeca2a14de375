//! Compressed bodies.

use std::io::Read as _;

use axum::http::{HeaderMap, header};
use bytes::Bytes;

/// Returns a body without its compression; `None` if it is in an encoding that baler does not read, is broken, or has more
/// than `most` bytes. A body without compression is returned as it is.
pub(crate) fn decoded(headers: &HeaderMap, body: Bytes, most: usize) -> Option<Bytes> {
    let mut encodings = headers.get_all(header::CONTENT_ENCODING).iter();
    let Some(encoding) = encodings.next() else {
        return Some(body);
    };
    if encodings.next().is_some() {
        return None;
    }
    let limit = most as u64 + 1;
    let mut read = Vec::new();
    match encoding.to_str().ok()?.trim().to_ascii_lowercase().as_str() {
        "" | "identity" => return Some(body),
        "gzip" | "x-gzip" => {
            let decoder = flate2::read::MultiGzDecoder::new(&body[..]);
            decoder.take(limit).read_to_end(&mut read).ok()?;
        }
        "deflate" => {
            let decoder = flate2::read::ZlibDecoder::new(&body[..]);
            decoder.take(limit).read_to_end(&mut read).ok()?;
        }
        "zstd" => {
            let decoder = ruzstd::decoding::StreamingDecoder::new(&body[..]).ok()?;
            decoder.take(limit).read_to_end(&mut read).ok()?;
        }
        _ => return None,
    }
    (read.len() <= most).then(|| read.into())
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use axum::http::HeaderValue;

    use super::*;

    fn of(encoding: &'static str) -> HeaderMap {
        let mut headers = HeaderMap::new();
        headers.insert(header::CONTENT_ENCODING, HeaderValue::from_static(encoding));
        headers
    }

    #[test]
    fn compressed_bodies_are_read_within_their_limit() {
        let text = "潮は七時に満ちます。".repeat(500);
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        gzip.write_all(text.as_bytes()).expect("memory");
        let gzip = Bytes::from(gzip.finish().expect("memory"));
        let zstd = ruzstd::encoding::compress_to_vec(
            text.as_bytes(),
            ruzstd::encoding::CompressionLevel::Fastest,
        );
        for (name, body) in [("gzip", gzip.clone()), ("zstd", zstd.into())] {
            let read = decoded(&of(name), body.clone(), text.len()).expect("is read");
            assert_eq!(read, text.as_bytes(), "{name}");
            assert_eq!(
                decoded(&of(name), body, text.len() - 1),
                None,
                "{name}: too large"
            );
        }
        assert_eq!(decoded(&of("gzip"), gzip.slice(..20), 1 << 20), None);
        assert_eq!(decoded(&of("br"), gzip.clone(), 1 << 20), None);
        assert_eq!(decoded(&HeaderMap::new(), gzip.clone(), 0), Some(gzip));
    }
}
