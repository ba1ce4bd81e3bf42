//! The HTTP server.

use std::convert::Infallible;
use std::io::Write;
use std::net::TcpListener;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use http_body_util::{BodyExt, Full, LengthLimitError, Limited};
use hyper::body::{Bytes, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response, header};
use hyper_util::rt::TokioIo;

use super::Script;
use super::reply::{self, Reply};

/// How long a request may be, in bytes.
const MOST_BYTES: usize = 16 << 20;

/// How long the server rests when it cannot accept, as without descriptors.
const REST: Duration = Duration::from_millis(50);

struct Shared {
    script: Script,
    log: Mutex<Box<dyn Write + Send>>,
}

/// Answers requests until `stop` is ready, and writes a line about each to `log`.
///
/// # Errors
/// The server cannot start.
pub(crate) fn serve(
    listener: TcpListener,
    script: Script,
    log: Box<dyn Write + Send>,
    stop: impl Future<Output = ()>,
) -> Result<(), String> {
    let cannot = |error: std::io::Error| format!("cannot serve the scripted model: {error}");
    listener.set_nonblocking(true).map_err(cannot)?;
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(cannot)?;
    let shared = Arc::new(Shared { script, log: Mutex::new(log) });
    runtime.block_on(async {
        let listener = tokio::net::TcpListener::from_std(listener).map_err(cannot)?;
        let mut stop = std::pin::pin!(stop);
        loop {
            let accepted = tokio::select! {
                () = &mut stop => return Ok(()),
                accepted = listener.accept() => accepted,
            };
            match accepted {
                Ok((stream, _)) => {
                    let shared = Arc::clone(&shared);
                    let service = service_fn(move |request| answer(Arc::clone(&shared), request));
                    let connection =
                        http1::Builder::new().serve_connection(TokioIo::new(stream), service);
                    // A client that breaks off is no concern of the others.
                    tokio::spawn(async { drop(connection.await) });
                }
                Err(_) => tokio::time::sleep(REST).await,
            }
        }
    })
}

async fn answer(
    shared: Arc<Shared>,
    request: Request<Incoming>,
) -> Result<Response<Full<Bytes>>, Infallible> {
    let (head, body) = request.into_parts();
    let path = head.uri.path().to_owned();
    let reply = match Limited::new(body, MOST_BYTES).collect().await {
        Ok(body) => reply::to(
            &shared.script,
            head.method.as_str(),
            &path,
            head.uri.query(),
            &body.to_bytes(),
        ),
        Err(error) if error.is::<LengthLimitError>() => {
            Reply::refusal(413, "the request is longer than 16 MiB")
        }
        Err(error) => Reply::refusal(400, &format!("the request cannot be read: {error}")),
    };
    {
        let mut log = shared.log.lock().unwrap_or_else(PoisonError::into_inner);
        // The log is a help, and no part of what is served.
        let _ = writeln!(log, "{} {path}: {} {}", head.method, reply.status, reply.about);
    }
    tokio::time::sleep(reply.after).await;
    let response = Response::builder()
        .status(reply.status)
        .header(header::CONTENT_TYPE, reply.content_type)
        .header(header::CACHE_CONTROL, "no-store")
        .body(Full::from(reply.body));
    Ok(response.expect("statuses and headers are fixed"))
}
