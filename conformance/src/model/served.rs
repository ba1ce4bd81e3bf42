//! A scripted model beside a run.

use std::net::{Ipv4Addr, TcpListener};
use std::thread::JoinHandle;

use tokio::sync::oneshot;

use super::{Script, serve};

/// A model that is served until this is dropped.
#[derive(Debug)]
pub(crate) struct Served {
    url: String,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<Result<(), String>>>,
}

impl Served {
    /// Serves the script on a free port of loopback.
    ///
    /// # Errors
    /// A model cannot have an agent do it, or there is no port or thread.
    pub(crate) fn start(script: Script) -> Result<Served, String> {
        script.check()?;
        let cannot = |error: std::io::Error| format!("cannot serve the scripted model: {error}");
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).map_err(cannot)?;
        let address = listener.local_addr().map_err(cannot)?;
        let (stop, stopped) = oneshot::channel::<()>();
        // Whoever drops the sender stops it, too.
        let stopped = async { drop(stopped.await) };
        let thread = std::thread::Builder::new()
            .spawn(move || serve(listener, script, Box::new(std::io::sink()), stopped))
            .map_err(cannot)?;
        Ok(Served { url: format!("http://{address}"), stop: Some(stop), thread: Some(thread) })
    }

    /// Without a slash at its end.
    pub(crate) fn url(&self) -> &str {
        &self.url
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        self.stop.take();
        if let Some(thread) = self.thread.take() {
            // A server that failed was heard of by the agent.
            let _ = thread.join();
        }
    }
}
