//! Finds what an agent calls a tool.

use serde_json::{Map, Value, json};

/// A tool that an agent offers to the model.
#[derive(Debug, Clone)]
pub(super) struct Tool {
    /// The namespace of OpenAI responses that it stands in.
    pub(super) namespace: Option<String>,
    pub(super) name: String,
    /// The JSON Schema of its arguments.
    schema: Value,
}

impl Tool {
    pub(super) fn new(name: &Value, schema: &Value) -> Option<Tool> {
        let name = name.as_str()?.to_owned();
        Some(Tool { namespace: None, name, schema: schema.clone() })
    }

    pub(super) fn within(self, namespace: Option<&str>) -> Tool {
        Tool { namespace: namespace.map(str::to_owned), ..self }
    }

    /// A tool that is not offered, for an agent that knows it all the same.
    fn unseen(name: &str) -> Tool {
        Tool { namespace: None, name: name.to_owned(), schema: Value::Null }
    }

    /// Its name with that of its namespace.
    pub(super) fn full(&self) -> String {
        match &self.namespace {
            Some(namespace) => format!("{}__{}", namespace.trim_end_matches('_'), self.name),
            None => self.name.clone(),
        }
    }

    /// Whether an argument is a list.
    pub(super) fn takes_list(&self, argument: &str) -> bool {
        self.schema["properties"][argument]["type"]
            .as_str()
            .is_some_and(|kind| kind.eq_ignore_ascii_case("array"))
    }

    /// Adds arguments that its schema has.
    pub(super) fn complete(&self, arguments: &mut Map<String, Value>, with: &Map<String, Value>) {
        let known = with.iter().filter(|(name, _)| !self.schema["properties"][*name].is_null());
        for (name, value) in known {
            arguments.entry(name.clone()).or_insert_with(|| value.clone());
        }
    }

    fn requires(&self, argument: &str) -> bool {
        self.schema["required"].as_array().is_some_and(|all| all.iter().any(|it| it == argument))
    }
}

/// How a tool of an MCP server can be reached.
#[derive(Debug)]
pub(super) enum Way {
    /// By this call.
    Call(Tool, Map<String, Value>),
    /// The agent hides it until this call has searched for it.
    Search(Tool, Map<String, Value>),
    /// It is not offered, and there is no tool that finds it.
    None,
}

/// How to call the tool of that name; `searched` if it was looked for before.
pub(super) fn way(
    offered: &[Tool],
    template: &str,
    (server, tool): (&str, &str),
    arguments: &Map<String, Value>,
    searched: bool,
) -> Way {
    let name = template.replace("{server}", server).replace("{tool}", tool);
    let search = named(offered, "toolsearch");
    if let Some(found) = find(offered, &name, server, tool, search.is_none()) {
        return Way::Call(found.clone(), arguments.clone());
    }
    let Some(search) = search else { return Way::None };
    if !searched {
        let mut arguments = Map::new();
        arguments.insert("query".to_owned(), json!(format!("select:{name}")));
        if search.requires("max_results") {
            arguments.insert("max_results".to_owned(), json!(5));
        }
        return Way::Search(search.clone(), arguments);
    }
    match named(offered, "toolcall") {
        Some(wrapper) => {
            let mut wrapped = Map::new();
            wrapped.insert("name".to_owned(), json!(name));
            wrapped.insert("arguments".to_owned(), json!(arguments));
            Way::Call(wrapper.clone(), wrapped)
        }
        None => Way::Call(Tool::unseen(&name), arguments.clone()),
    }
}

/// The tool whose name, letters and digits alone, is this.
fn named<'t>(offered: &'t [Tool], name: &str) -> Option<&'t Tool> {
    offered.iter().find(|tool| plain(&tool.name).replace('_', "") == name)
}

/// The tool by its own name.
pub(super) fn own<'t>(offered: &'t [Tool], name: &str) -> Option<&'t Tool> {
    let same = offered.iter().find(|tool| tool.full() == name);
    same.or_else(|| offered.iter().find(|tool| plain(&tool.full()) == plain(name)))
}

fn find<'t>(
    offered: &'t [Tool],
    name: &str,
    server: &str,
    tool: &str,
    is_lenient: bool,
) -> Option<&'t Tool> {
    let (tool, server) = (plain(tool), plain(server));
    let ends = |it: &str| it == tool || it.ends_with(&format!("_{tool}"));
    let hashed = format!("{}_", plain(name));
    let is_hashed = |it: &str| {
        it.strip_prefix(&hashed).is_some_and(|hash| {
            hash.len() == 8 && hash.bytes().all(|byte| byte.is_ascii_hexdigit())
        })
    };
    let by = |like: &dyn Fn(&str) -> bool| offered.iter().find(|it| like(&plain(&it.full())));
    own(offered, name)
        .or_else(|| by(&is_hashed))
        .or_else(|| by(&|it| ends(it) && it.contains(&server)))
        .or_else(|| by(&|it| it == tool))
        .or_else(|| by(&|it| is_lenient && ends(it)))
}

/// In lower case, with `_` for whatever is no letter and no digit.
fn plain(name: &str) -> String {
    let lower = name.chars().map(|it| it.to_ascii_lowercase());
    lower.map(|it| if it.is_ascii_alphanumeric() { it } else { '_' }).collect()
}
