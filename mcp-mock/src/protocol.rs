//! The shapes of all revisions of MCP, as JSON text.
//!
//! A request is *modern* when its `_meta` names the 2026-07-28 revision: it
//! needs no handshake, and its result says `resultType` and who the server is.
//! Each reply has the shape of its own request's revision.

use std::collections::BTreeMap;
use std::ops::Range;

use fixtures::document::{Json, Revision, Server, Tool};
use serde::ser::{SerializeMap, SerializeSeq};
use serde::{Serialize, Serializer};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use crate::stdio::Id;

/// The newest revision with a handshake.
const NEWEST_HANDSHAKE: Revision = Revision::V2025_11_25;

const META_VERSION: &str = "io.modelcontextprotocol/protocolVersion";
const META_CLIENT: &str = "io.modelcontextprotocol/clientInfo";
const META_CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";

/// `UnsupportedProtocolVersion` of MCP 2026-07-28.
const UNSUPPORTED_VERSION: i32 = -32022;

/// A JSON-RPC error.
#[derive(Debug, Serialize)]
pub(crate) struct RpcError {
    code: i32,
    message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    data: Option<Box<Value>>,
}

impl RpcError {
    pub(crate) fn invalid_request(reason: &str) -> RpcError {
        RpcError { code: -32600, message: format!("invalid request: {reason}"), data: None }
    }

    pub(crate) fn unknown_method(method: &str) -> RpcError {
        RpcError { code: -32601, message: format!("method not found: {method}"), data: None }
    }

    pub(crate) fn invalid_params(reason: impl Into<String>) -> RpcError {
        RpcError { code: -32602, message: reason.into(), data: None }
    }

    pub(crate) fn message(&self) -> &str {
        &self.message
    }

    /// Whether the client broke the protocol, rather than asked for what is not there.
    pub(crate) fn is_violation(&self) -> bool {
        self.code == -32602
    }

    /// Whether the client speaks a revision that this server does not know.
    pub(crate) fn is_unsupported_version(&self) -> bool {
        self.code == UNSUPPORTED_VERSION
    }

    fn unsupported_version(requested: &str) -> RpcError {
        let supported: Vec<&str> = supported_versions().collect();
        let data = serde_json::json!({"supported": supported, "requested": requested});
        RpcError {
            code: UNSUPPORTED_VERSION,
            message: "Unsupported protocol version".to_owned(),
            data: Some(Box::new(data)),
        }
    }
}

fn supported_versions() -> impl Iterator<Item = &'static str> {
    Revision::ALL.into_iter().map(Revision::as_str)
}

/// The `_meta` of params, which must be an object where it is given.
pub(crate) fn meta(params: &Map<String, Value>) -> Result<Option<&Map<String, Value>>, RpcError> {
    match params.get("_meta") {
        None => Ok(None),
        Some(Value::Object(meta)) => Ok(Some(meta)),
        Some(_) => Err(RpcError::invalid_params("`_meta` must be an object")),
    }
}

/// The revision that a request's `_meta` names, if it names one.
pub(crate) fn revision_of(meta: Option<&Map<String, Value>>) -> Result<Option<Revision>, RpcError> {
    let Some((meta, version)) = meta.and_then(|meta| Some((meta, meta.get(META_VERSION)?))) else {
        return Ok(None);
    };
    let Value::String(version) = version else {
        return Err(RpcError::invalid_params(format!("`{META_VERSION}` must be a string")));
    };
    let Some(revision) = Revision::named(version) else {
        return Err(RpcError::unsupported_version(version));
    };
    if revision.is_modern() && !matches!(meta.get(META_CAPABILITIES), Some(Value::Object(_))) {
        let reason = format!("`_meta` must have `{META_CAPABILITIES}`, an object");
        return Err(RpcError::invalid_params(reason));
    }
    Ok(Some(revision))
}

/// The client as a modern request names it.
pub(crate) fn client_of(params: &Map<String, Value>) -> Option<&Value> {
    params.get("_meta")?.get(META_CLIENT)
}

/// The version that `initialize` agrees on: the client's when known, else the newest.
pub(crate) fn negotiate(params: &Map<String, Value>) -> Result<Revision, RpcError> {
    let Some(Value::String(requested)) = params.get("protocolVersion") else {
        return Err(RpcError::invalid_params("`protocolVersion` must be a string"));
    };
    if !matches!(params.get("capabilities"), Some(Value::Object(_))) {
        return Err(RpcError::invalid_params("`capabilities` must be an object"));
    }
    let client = params.get("clientInfo").and_then(Value::as_object);
    if !client.is_some_and(|client| {
        ["name", "version"].iter().all(|key| client.get(*key).is_some_and(Value::is_string))
    }) {
        return Err(RpcError::invalid_params(
            "`clientInfo` must be an object with `name` and `version`",
        ));
    }
    let known = Revision::named(requested).filter(|revision| !revision.is_modern());
    Ok(known.unwrap_or(NEWEST_HANDSHAKE))
}

/// Appends a response line; where the result stands in it.
pub(crate) fn write_result(out: &mut Vec<u8>, id: &Id, result: &impl Serialize) -> Range<usize> {
    out.extend_from_slice(format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":").as_bytes());
    write_last(out, result)
}

/// Appends an error line, without an `id` where it could not be read; where the error stands in it.
pub(crate) fn write_error(out: &mut Vec<u8>, id: Option<&Id>, error: &RpcError) -> Range<usize> {
    out.extend_from_slice(b"{\"jsonrpc\":\"2.0\"");
    if let Some(id) = id {
        out.extend_from_slice(format!(",\"id\":{id}").as_bytes());
    }
    out.extend_from_slice(b",\"error\":");
    write_last(out, error)
}

/// Appends the last value of a line.
fn write_last(out: &mut Vec<u8>, value: &impl Serialize) -> Range<usize> {
    let start = out.len();
    write_json(out, value);
    let end = out.len();
    out.extend_from_slice(b"}\n");
    start..end
}

fn write_json(out: &mut Vec<u8>, value: &impl Serialize) {
    serde_json::to_writer(out, value).expect("string keys and a growing buffer cannot fail");
}

/// The result of `initialize`.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct InitializeResult<'a> {
    protocol_version: &'static str,
    capabilities: Capabilities,
    server_info: ServerInfo<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    instructions: Option<&'a str>,
}

impl<'a> InitializeResult<'a> {
    pub(crate) fn new(server: &'a Server, revision: Revision) -> InitializeResult<'a> {
        InitializeResult {
            protocol_version: revision.as_str(),
            capabilities: Capabilities::default(),
            server_info: ServerInfo::of(server),
            instructions: server.instructions.as_deref(),
        }
    }
}

/// The result of `server/discover`.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct DiscoverResult<'a> {
    result_type: &'static str,
    supported_versions: Vec<&'static str>,
    capabilities: Capabilities,
    #[serde(skip_serializing_if = "Option::is_none")]
    instructions: Option<&'a str>,
    ttl_ms: u32,
    cache_scope: &'static str,
    #[serde(rename = "_meta")]
    meta: Meta<'a>,
}

impl<'a> DiscoverResult<'a> {
    pub(crate) fn new(server: &'a Server) -> DiscoverResult<'a> {
        DiscoverResult {
            result_type: COMPLETE,
            supported_versions: supported_versions().collect(),
            capabilities: Capabilities::default(),
            instructions: server.instructions.as_deref(),
            ttl_ms: 0,
            cache_scope: "private",
            meta: Meta { reason: None, server_info: Some(ServerInfo::of(server)) },
        }
    }
}

const COMPLETE: &str = "complete";

/// The capabilities of a mock: tools, whose list never changes.
#[derive(Default, Serialize)]
struct Capabilities {
    tools: Empty,
}

/// `{}`
#[derive(Default, Serialize)]
pub(crate) struct Empty {}

/// Who the server says it is.
#[derive(Clone, Copy, Serialize)]
struct ServerInfo<'a> {
    name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    title: Option<&'a str>,
    version: &'static str,
}

impl<'a> ServerInfo<'a> {
    fn of(server: &'a Server) -> ServerInfo<'a> {
        ServerInfo {
            name: &server.name,
            title: server.title.as_deref(),
            version: env!("CARGO_PKG_VERSION"),
        }
    }
}

/// The `_meta` of a result.
#[derive(Serialize)]
struct Meta<'a> {
    #[serde(rename = "mcp-mock/reason", skip_serializing_if = "Option::is_none")]
    reason: Option<&'static str>,
    #[serde(
        rename = "io.modelcontextprotocol/serverInfo",
        skip_serializing_if = "Option::is_none"
    )]
    server_info: Option<ServerInfo<'a>>,
}

/// The result of `tools/list`.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ListResult<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    result_type: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ttl_ms: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cache_scope: Option<&'static str>,
    tools: Tools<'a>,
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    meta: Option<Meta<'a>>,
}

impl<'a> ListResult<'a> {
    pub(crate) fn new(server: &'a Server, revision: Revision) -> ListResult<'a> {
        let is_modern = revision.is_modern();
        ListResult {
            result_type: is_modern.then_some(COMPLETE),
            ttl_ms: is_modern.then_some(0),
            cache_scope: is_modern.then_some("private"),
            tools: Tools { tools: &server.tools, revision },
            meta: is_modern
                .then(|| Meta { reason: None, server_info: Some(ServerInfo::of(server)) }),
        }
    }
}

/// The tools by name, in byte order.
struct Tools<'a> {
    tools: &'a BTreeMap<String, Tool>,
    revision: Revision,
}

impl Serialize for Tools<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let revision = self.revision;
        let listed = self.tools.iter().map(|(name, tool)| ListedTool { name, tool, revision });
        serializer.collect_seq(listed)
    }
}

struct ListedTool<'a> {
    name: &'a str,
    tool: &'a Tool,
    revision: Revision,
}

impl ListedTool<'_> {
    /// What the revision has of an output schema.
    fn output_schema(&self) -> Option<&Json> {
        let schema = self.tool.output_schema.as_ref()?;
        let is_known = self.revision >= Revision::ANY_STRUCTURED
            || (self.revision >= Revision::STRUCTURED
                && self.revision >= Revision::of_output_schema(&schema.value()));
        is_known.then_some(schema)
    }
}

impl Serialize for ListedTool<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let tool = self.tool;
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("name", self.name)?;
        if let Some(title) = &tool.title {
            map.serialize_entry("title", title)?;
        }
        if let Some(description) = &tool.description {
            map.serialize_entry("description", description)?;
        }
        match &tool.input_schema {
            Some(schema) => map.serialize_entry("inputSchema", schema.raw())?,
            None => map.serialize_entry("inputSchema", &NO_ARGUMENTS)?,
        }
        let passed_through = [
            ("outputSchema", self.output_schema()),
            ("annotations", tool.annotations.as_ref()),
            ("icons", tool.icons.as_ref().filter(|_| self.revision >= Revision::ICONS)),
            ("_meta", tool.meta.as_ref()),
        ];
        for (key, value) in passed_through {
            if let Some(value) = value {
                map.serialize_entry(key, value.raw())?;
            }
        }
        map.end()
    }
}

/// What a tool without `input_schema` is listed with; providers ask for `properties`.
#[derive(Serialize)]
struct NoArguments {
    r#type: &'static str,
    properties: Empty,
}

const NO_ARGUMENTS: NoArguments = NoArguments { r#type: "object", properties: Empty {} };

/// The result of `tools/call`.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct CallResult<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    result_type: Option<&'static str>,
    content: Content<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    structured_content: Option<&'a RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    is_error: Option<bool>,
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    meta: Option<Meta<'a>>,
}

impl<'a> CallResult<'a> {
    /// A success with this content.
    pub(crate) fn success(content: Content<'a>, structured: Option<&'a Json>) -> CallResult<'a> {
        CallResult {
            result_type: None,
            content,
            structured_content: structured.map(Json::raw),
            is_error: None,
            meta: None,
        }
    }

    /// A tool error with this content.
    pub(crate) fn error(content: Content<'a>) -> CallResult<'a> {
        CallResult { is_error: Some(true), ..CallResult::success(content, None) }
    }

    /// The same with an authored `isError`.
    pub(crate) fn with_is_error(self, is_error: Option<bool>) -> CallResult<'a> {
        CallResult { is_error, ..self }
    }

    /// An error of the mock itself, which a harness recognises without reading its text.
    pub(crate) fn mock_error(text: &'a str, reason: &'static str) -> CallResult<'a> {
        let meta = Some(Meta { reason: Some(reason), server_info: None });
        CallResult { meta, ..CallResult::error(Content::Text(text)) }
    }

    /// The same in the shape of a request's revision, without what is newer.
    pub(crate) fn shaped(mut self, revision: Revision, server: &'a Server) -> CallResult<'a> {
        self.content = self.content.known_to(revision);
        self.structured_content = self.structured_content.filter(|value| {
            revision >= Revision::ANY_STRUCTURED
                || (revision >= Revision::STRUCTURED && value.get().starts_with('{'))
        });
        if revision.is_modern() {
            self.result_type = Some(COMPLETE);
            let reason = self.meta.and_then(|meta| meta.reason);
            self.meta = Some(Meta { reason, server_info: Some(ServerInfo::of(server)) });
        }
        self
    }
}

/// The content blocks of a result.
pub(crate) enum Content<'a> {
    /// One text block.
    Text(&'a str),
    /// The authored blocks.
    Blocks(&'a [Json]),
    /// The authored blocks that an older client knows.
    Some(Vec<&'a Json>),
}

impl<'a> Content<'a> {
    /// The same without the blocks that came with a later revision.
    fn known_to(self, revision: Revision) -> Content<'a> {
        // Later ones know every block, and are not asked.
        match self {
            Content::Blocks(blocks) if revision < Revision::V2025_06_18 => {
                let is_known = |block: &&Json| {
                    let block = block.value();
                    let since =
                        block.get("type").and_then(Value::as_str).and_then(Revision::of_block);
                    since.is_none_or(|since| since <= revision)
                };
                Content::Some(blocks.iter().filter(is_known).collect())
            }
            content => content,
        }
    }
}

impl Serialize for Content<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct TextBlock<'a> {
            r#type: &'static str,
            text: &'a str,
        }
        match self {
            Content::Text(text) => {
                let mut blocks = serializer.serialize_seq(Some(1))?;
                blocks.serialize_element(&TextBlock { r#type: "text", text })?;
                blocks.end()
            }
            Content::Blocks(blocks) => serializer.collect_seq(blocks.iter().map(Json::raw)),
            Content::Some(blocks) => serializer.collect_seq(blocks.iter().map(|it| it.raw())),
        }
    }
}
