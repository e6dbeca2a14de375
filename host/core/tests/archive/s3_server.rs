//! A server that speaks as much of S3 as an archive needs, and checks every signature.

use std::collections::{BTreeMap, VecDeque};
use std::fmt::Write as _;
use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::{Digest as _, Sha256};

pub(crate) const BUCKET: &str = "bales";
pub(crate) const KEY: &str = "AKIATEST";
pub(crate) const SECRET: &str = "a secret of this test";
/// Keys of a page of a list.
const PAGE: usize = 7;

/// What happens to a request instead of being answered.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Trouble {
    Status(u16),
    /// The connection is closed without a word.
    Closed,
    /// The answer breaks off.
    CutShort,
    Slow(Duration),
}

#[derive(Debug)]
pub(crate) struct S3Server {
    address: SocketAddr,
    stage: Arc<Mutex<Stage>>,
}

#[derive(Debug, Default)]
struct Stage {
    objects: BTreeMap<String, (Vec<u8>, SystemTime)>,
    /// Method and key of each request.
    requests: Vec<(String, String)>,
    troubles: VecDeque<Trouble>,
    always: Option<Trouble>,
    /// How long each removal takes until it is done.
    removal: Duration,
}

impl S3Server {
    pub(crate) fn start() -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port");
        let address = listener.local_addr().expect("an address");
        let stage = Arc::new(Mutex::new(Stage::default()));
        let shared = Arc::clone(&stage);
        // It ends with the test's process.
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let stage = Arc::clone(&shared);
                std::thread::spawn(move || {
                    // Errors are the client's going away.
                    let _ = serve(&stream, &stage);
                });
            }
        });
        Self { address, stage }
    }

    /// What says where it is and lets in.
    pub(crate) fn options(&self) -> Vec<(&'static str, String)> {
        vec![
            ("aws_endpoint", format!("http://{}", self.address)),
            ("aws_region", "eu-west-1".to_owned()),
            ("aws_access_key_id", KEY.to_owned()),
            ("aws_secret_access_key", SECRET.to_owned()),
        ]
    }

    /// What happens to the next requests.
    pub(crate) fn troubles(&self, troubles: impl IntoIterator<Item = Trouble>) {
        locked(&self.stage).troubles.extend(troubles);
    }

    /// What happens to all requests from now on.
    pub(crate) fn always(&self, trouble: Option<Trouble>) {
        locked(&self.stage).always = trouble;
    }

    /// How long each removal takes from now on until it is done.
    pub(crate) fn removals_take(&self, time: Duration) {
        locked(&self.stage).removal = time;
    }

    pub(crate) fn requests(&self) -> Vec<(String, String)> {
        locked(&self.stage).requests.clone()
    }

    /// Makes all objects this much older.
    pub(crate) fn age(&self, by: Duration) {
        for (_, written) in locked(&self.stage).objects.values_mut() {
            *written -= by;
        }
    }

    /// Makes all objects as if they were written again.
    pub(crate) fn renew(&self) {
        for (_, written) in locked(&self.stage).objects.values_mut() {
            *written = SystemTime::now();
        }
    }

    pub(crate) fn keys(&self) -> Vec<String> {
        locked(&self.stage).objects.keys().cloned().collect()
    }
}

fn locked(stage: &Mutex<Stage>) -> MutexGuard<'_, Stage> {
    stage.lock().unwrap_or_else(PoisonError::into_inner)
}

struct Request {
    method: String,
    path: String,
    query: BTreeMap<String, String>,
    raw_query: Vec<String>,
    headers: BTreeMap<String, String>,
    body: Vec<u8>,
}

struct Answer {
    status: u16,
    headers: Vec<(&'static str, String)>,
    body: Vec<u8>,
}

impl Answer {
    fn of(status: u16, body: impl Into<Vec<u8>>) -> Self {
        Self {
            status,
            headers: Vec::new(),
            body: body.into(),
        }
    }
}

fn serve(stream: &TcpStream, stage: &Mutex<Stage>) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let mut reader = BufReader::new(stream);
    loop {
        let request = read(&mut reader)?;
        let (trouble, removal) = {
            let mut stage = locked(stage);
            let key = request.path.clone();
            stage.requests.push((request.method.clone(), key));
            let trouble = stage.troubles.pop_front().or(stage.always);
            (trouble, stage.removal)
        };
        if request.method == "DELETE" {
            std::thread::sleep(removal);
        }
        let mut answer = match trouble {
            Some(Trouble::Closed) => return Ok(()),
            Some(Trouble::Status(status)) => {
                Answer::of(status, "<Error><Code>InternalError</Code></Error>")
            }
            Some(Trouble::Slow(time)) => {
                std::thread::sleep(time);
                respond(&request, stage)
            }
            Some(Trouble::CutShort) | None => respond(&request, stage),
        };
        let mut head = format!("HTTP/1.1 {} Whatever\r\n", answer.status);
        for (name, value) in &answer.headers {
            let _ = write!(head, "{name}: {value}\r\n");
        }
        let _ = write!(head, "content-length: {}\r\n\r\n", answer.body.len());
        if request.method == "HEAD" {
            answer.body.clear();
        }
        let mut bytes = [head.as_bytes(), &answer.body].concat();
        if matches!(trouble, Some(Trouble::CutShort)) {
            bytes.truncate(bytes.len() * 2 / 3);
            return (&*stream).write_all(&bytes);
        }
        (&*stream).write_all(&bytes)?;
    }
}

fn read(reader: &mut BufReader<&TcpStream>) -> io::Result<Request> {
    let mut line = String::new();
    let next = |reader: &mut BufReader<&TcpStream>, line: &mut String| -> io::Result<()> {
        line.clear();
        match reader.read_line(line)? {
            0 => Err(io::ErrorKind::UnexpectedEof.into()),
            _ => Ok(()),
        }
    };
    next(reader, &mut line)?;
    let mut words = line.split(' ');
    let method = words.next().unwrap_or_default().to_owned();
    let target = words.next().unwrap_or_default().to_owned();
    let mut headers = BTreeMap::new();
    loop {
        next(reader, &mut line)?;
        let Some((name, value)) = line.trim_end().split_once(':') else {
            break;
        };
        headers.insert(name.to_ascii_lowercase(), value.trim().to_owned());
    }
    let length = headers
        .get("content-length")
        .and_then(|length| length.parse().ok());
    let mut body = vec![0; length.unwrap_or(0)];
    reader.read_exact(&mut body)?;
    let (path, query) = target.split_once('?').unwrap_or((&target, ""));
    let raw_query: Vec<String> = query
        .split('&')
        .filter(|pair| !pair.is_empty())
        .map(str::to_owned)
        .collect();
    let pairs = raw_query
        .iter()
        .map(|pair| pair.split_once('=').unwrap_or((pair, "")));
    Ok(Request {
        method,
        path: path.to_owned(),
        query: pairs
            .map(|(name, value)| (name.to_owned(), decoded(value)))
            .collect(),
        raw_query,
        headers,
        body,
    })
}

fn decoded(text: &str) -> String {
    let mut pieces = text.split('%');
    let mut decoded = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let byte = u8::from_str_radix(&piece[..2], 16).expect("two hex digits");
        decoded.push(char::from(byte));
        decoded.push_str(&piece[2..]);
    }
    decoded
}

fn respond(request: &Request, stage: &Mutex<Stage>) -> Answer {
    if !is_signed(request) {
        return Answer::of(403, "<Error><Code>SignatureDoesNotMatch</Code></Error>");
    }
    let bucket = format!("/{BUCKET}");
    let Some(key) = request.path.strip_prefix(&bucket) else {
        return Answer::of(404, "<Error><Code>NoSuchBucket</Code></Error>");
    };
    let key = key.trim_start_matches('/');
    let mut stage = locked(stage);
    match request.method.as_str() {
        "GET" if request.query.contains_key("list-type") => list(request, &stage),
        "GET" | "HEAD" => match stage.objects.get(key) {
            None => Answer::of(404, "<Error><Code>NoSuchKey</Code></Error>"),
            Some((content, written)) => Answer {
                status: 200,
                headers: vec![
                    ("etag", format!("\"{}\"", hex(&Sha256::digest(content)))),
                    ("last-modified", http_date(*written)),
                ],
                body: content.clone(),
            },
        },
        "PUT" => {
            if request.headers.contains_key("if-none-match") && stage.objects.contains_key(key) {
                return Answer::of(412, "<Error><Code>PreconditionFailed</Code></Error>");
            }
            let content = request.body.clone();
            let etag = format!("\"{}\"", hex(&Sha256::digest(&content)));
            stage
                .objects
                .insert(key.to_owned(), (content, SystemTime::now()));
            Answer {
                headers: vec![("etag", etag)],
                ..Answer::of(200, "")
            }
        }
        "DELETE" => {
            stage.objects.remove(key);
            Answer::of(204, "")
        }
        _ => Answer::of(405, "<Error><Code>MethodNotAllowed</Code></Error>"),
    }
}

/// A page of keys.
fn list(request: &Request, stage: &Stage) -> Answer {
    let prefix = request.query.get("prefix").cloned().unwrap_or_default();
    let after = request
        .query
        .get("continuation-token")
        .cloned()
        .unwrap_or_default();
    let mut found = stage
        .objects
        .iter()
        .filter(|(key, _)| key.starts_with(&prefix) && **key > after);
    let page: Vec<_> = found.by_ref().take(PAGE).collect();
    let is_truncated = found.next().is_some();
    let mut xml = format!("<ListBucketResult><IsTruncated>{is_truncated}</IsTruncated>");
    if let Some((last, _)) = page.last().filter(|_| is_truncated) {
        let _ = write!(xml, "<NextContinuationToken>{last}</NextContinuationToken>");
    }
    for (key, (content, written)) in page {
        let _ = write!(
            xml,
            "<Contents><Key>{key}</Key><Size>{}</Size><LastModified>{}</LastModified><ETag>\"x\"</ETag></Contents>",
            content.len(),
            iso_date(*written)
        );
    }
    xml.push_str("</ListBucketResult>");
    Answer::of(200, xml)
}

/// Whether a request carries the signature (AWS Signature Version 4) of who has the secret.
fn is_signed(request: &Request) -> bool {
    let header = |name: &str| request.headers.get(name).map_or("", String::as_str);
    let field = |name: &str| {
        header("authorization")
            .split([' ', ','])
            .find_map(|field| field.strip_prefix(name)?.strip_prefix('='))
            .unwrap_or_default()
            .to_owned()
    };
    let (credential, signed, signature) = (
        field("Credential"),
        field("SignedHeaders"),
        field("Signature"),
    );
    let Some(scope) = credential.strip_prefix(&format!("{KEY}/")) else {
        return false;
    };
    let content = header("x-amz-content-sha256");
    if content != "UNSIGNED-PAYLOAD" && content != hex(&Sha256::digest(&request.body)) {
        return false;
    }
    let mut query: Vec<String> = request
        .raw_query
        .iter()
        .map(|pair| {
            if pair.contains('=') {
                pair.clone()
            } else {
                format!("{pair}=")
            }
        })
        .collect();
    query.sort();
    let headers: String = signed
        .split(';')
        .map(|name| format!("{name}:{}\n", header(name)))
        .collect();
    let canonical = [
        request.method.as_str(),
        &request.path,
        &query.join("&"),
        &headers,
        &signed,
        content,
    ]
    .join("\n");
    let to_sign = format!(
        "AWS4-HMAC-SHA256\n{}\n{scope}\n{}",
        header("x-amz-date"),
        hex(&Sha256::digest(canonical.as_bytes()))
    );
    let key = scope
        .split('/')
        .fold(format!("AWS4{SECRET}").into_bytes(), |key, part| {
            mac(&key, part)
        });
    hex(&mac(&key, &to_sign)) == signature
}

fn mac(key: &[u8], text: &str) -> Vec<u8> {
    let mut mac = Hmac::<Sha256>::new_from_slice(key).expect("keys have any length");
    mac.update(text.as_bytes());
    mac.finalize().into_bytes().to_vec()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Year, month, day, hour, minute, second, and days since 1970.
fn civil(time: SystemTime) -> ([i64; 6], i64) {
    let since = time
        .duration_since(SystemTime::UNIX_EPOCH)
        .expect("after 1970");
    let seconds = i64::try_from(since.as_secs()).expect("not that far");
    let (days, rest) = (seconds / 86_400, seconds % 86_400);
    // Howard Hinnant's: years begin in March, so that the leap day is a year's last.
    let shifted = days + 719_468;
    let era = shifted / 146_097;
    let day = shifted % 146_097;
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let date = day - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    let year = year + era * 400 + i64::from(month <= 2);
    (
        [year, month, date, rest / 3_600, rest / 60 % 60, rest % 60],
        days,
    )
}

fn iso_date(time: SystemTime) -> String {
    let ([year, month, day, hour, minute, second], _) = civil(time);
    format!("{year}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.000Z")
}

fn http_date(time: SystemTime) -> String {
    const DAYS: [&str; 7] = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"];
    const MONTHS: [&str; 12] = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ];
    let ([year, month, day, hour, minute, second], days) = civil(time);
    let weekday = DAYS[usize::try_from(days % 7).expect("small")];
    let month = MONTHS[usize::try_from(month - 1).expect("small")];
    format!("{weekday}, {day:02} {month} {year} {hour:02}:{minute:02}:{second:02} GMT")
}
