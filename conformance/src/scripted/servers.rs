//! The MCP servers of the generated configuration, through a real client.

use std::collections::BTreeMap;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Child, Command};
use std::time::Duration;

use fixtures::document::task::LiveServer;
use rmcp::ServiceExt;
use rmcp::model::{CallToolRequest, CallToolRequestParams, ClientRequest, ServerResult};
use rmcp::service::{PeerRequestOptions, RoleClient, RunningService};
use serde_json::{Map, Value};

use crate::wiring;

/// How long a server may take to end after its input did.
const GRACE: Duration = Duration::from_secs(5);

/// The servers, started when they are first called.
#[derive(Debug)]
pub(super) struct Servers {
    configured: BTreeMap<String, LiveServer>,
    connected: BTreeMap<String, Connection>,
}

#[derive(Debug)]
struct Connection {
    client: RunningService<RoleClient, ()>,
    process: Child,
}

impl Servers {
    pub(super) fn configured(path: &Path) -> Result<Servers, String> {
        Ok(Servers { configured: wiring::read_mcp_json(path)?, connected: BTreeMap::new() })
    }

    /// Calls a tool, for so long as the patience lasts; whether that was a success.
    pub(super) async fn call(
        &mut self,
        server: &str,
        tool: &str,
        arguments: Map<String, Value>,
        patience: Option<Duration>,
    ) -> Result<bool, String> {
        let failed =
            |error: &dyn std::fmt::Display| format!("cannot call {server}.{tool}: {error}");
        let client = self.client(server).await?;
        let parameters = CallToolRequestParams::new(tool.to_owned()).with_arguments(arguments);
        let request = ClientRequest::CallToolRequest(CallToolRequest::new(parameters));
        let options = PeerRequestOptions::no_options();
        let mut call = client
            .send_cancellable_request(request, options)
            .await
            .map_err(|error| failed(&error))?;
        let answer = match patience {
            None => (&mut call.rx).await,
            Some(patience) => match tokio::time::timeout(patience, &mut call.rx).await {
                Ok(answer) => answer,
                Err(_) => {
                    let reason = Some("the script cancels it".to_owned());
                    call.cancel(reason).await.map_err(|error| failed(&error))?;
                    return Ok(false);
                }
            },
        };
        match answer.map_err(|_| failed(&"the server is gone"))? {
            Ok(ServerResult::CallToolResult(result)) => Ok(result.is_error != Some(true)),
            // An error of the protocol is one of the call: the agent goes on.
            Ok(_) | Err(_) => Ok(false),
        }
    }

    async fn client(&mut self, name: &str) -> Result<&RunningService<RoleClient, ()>, String> {
        if !self.connected.contains_key(name) {
            let server = self.configured.get(name);
            let server = server.ok_or_else(|| format!("no server `{name}` is configured"))?;
            let connection = connect(server)
                .await
                .map_err(|reason| format!("cannot reach the server `{name}`: {reason}"))?;
            self.connected.insert(name.to_owned(), connection);
        }
        Ok(&self.connected[name].client)
    }

    /// Ends the input of every server, and waits for it.
    pub(super) async fn leave(self) {
        for (_, Connection { client, mut process }) in self.connected {
            // The client ends either way.
            let _ = client.cancel().await;
            let end = tokio::time::Instant::now() + GRACE;
            while process.try_wait().is_ok_and(|status| status.is_none()) {
                if tokio::time::Instant::now() > end {
                    let _ = process.kill();
                }
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
        }
    }
}

async fn connect(server: &LiveServer) -> Result<Connection, String> {
    let (ours, theirs) = UnixStream::pair().map_err(|error| error.to_string())?;
    let input = theirs.try_clone().map_err(|error| error.to_string())?;
    let process = Command::new(&server.command)
        .args(&server.args)
        .envs(&server.env)
        .stdin(OwnedFd::from(input))
        .stdout(OwnedFd::from(theirs))
        .spawn()
        .map_err(|error| format!("cannot start `{}`: {error}", server.command))?;
    ours.set_nonblocking(true).map_err(|error| error.to_string())?;
    let stream = tokio::net::UnixStream::from_std(ours).map_err(|error| error.to_string())?;
    let client = ().serve(stream).await.map_err(|error| error.to_string())?;
    Ok(Connection { client, process })
}
