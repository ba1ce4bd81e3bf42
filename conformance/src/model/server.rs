//! The HTTP server.

use std::convert::Infallible;
use std::io::Write;
use std::net::{Ipv4Addr, TcpListener};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use http_body_util::{BodyExt, Full, LengthLimitError, Limited};
use hyper::body::{Bytes, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response, header};
use hyper_util::rt::TokioIo;
use tokio::runtime::Builder;
use tokio::sync::oneshot;

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

/// A server on loopback, which ends when this is dropped.
#[derive(Debug)]
pub(crate) struct Served {
    url: String,
    /// Ends the server as soon as it is gone.
    stop: oneshot::Sender<()>,
    thread: JoinHandle<()>,
}

impl Served {
    /// Serves a script on a port of 127.0.0.1, or on a free one for 0, and
    /// writes a line about each request to `log`.
    ///
    /// # Errors
    /// The port is taken, or the system has no means for a server.
    pub(crate) fn start(
        script: Script,
        port: u16,
        log: Box<dyn Write + Send>,
    ) -> Result<Served, String> {
        let cannot = |error: std::io::Error| {
            format!("cannot serve the scripted model on port {port}: {error}")
        };
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).map_err(cannot)?;
        listener.set_nonblocking(true).map_err(cannot)?;
        let url = format!("http://{}", listener.local_addr().map_err(cannot)?);
        let runtime = Builder::new_current_thread().enable_all().build().map_err(cannot)?;
        let listener = {
            let _entered = runtime.enter();
            tokio::net::TcpListener::from_std(listener).map_err(cannot)?
        };
        let shared = Arc::new(Shared { script, log: Mutex::new(log) });
        let (stop, stopped) = oneshot::channel();
        let thread = std::thread::Builder::new()
            .name("scripted model".to_owned())
            .spawn(move || runtime.block_on(serve(listener, shared, stopped)))
            .map_err(cannot)?;
        Ok(Served { url, stop, thread })
    }

    /// `http://127.0.0.1:PORT`
    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    /// Waits for the end of the server, which only a fault of its own brings.
    ///
    /// # Errors
    /// It has ended.
    pub(crate) fn wait(self) -> Result<(), String> {
        let Served { stop: _kept, thread, .. } = self;
        thread.join().map_err(|_| "the scripted model has broken down".to_owned())
    }
}

async fn serve(
    listener: tokio::net::TcpListener,
    shared: Arc<Shared>,
    mut stopped: oneshot::Receiver<()>,
) {
    loop {
        let accepted = tokio::select! {
            _ = &mut stopped => return,
            accepted = listener.accept() => accepted,
        };
        let Ok((stream, _)) = accepted else {
            tokio::time::sleep(REST).await;
            continue;
        };
        let shared = Arc::clone(&shared);
        let service = service_fn(move |request| answer(Arc::clone(&shared), request));
        let connection = http1::Builder::new().serve_connection(TokioIo::new(stream), service);
        // A client that breaks off is no concern of the others.
        tokio::spawn(async { drop(connection.await) });
    }
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
