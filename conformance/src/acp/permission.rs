//! Permission: given to whatever asks for it, as somebody who tests the agent would.

use agent_client_protocol_schema::v1::{
    RequestPermissionOutcome, RequestPermissionResponse, SelectedPermissionOutcome,
};
use serde_json::{Value, json};

/// The options that are chosen, the best first.
const WANTED: [&str; 3] = ["allow_once", "allow", "reject"];

/// The answer to a request for permission, and what is told of it.
pub(super) fn answered(params: &Value, is_cancelled: bool) -> (RequestPermissionResponse, Value) {
    let options = params["options"].as_array().map(Vec::as_slice).unwrap_or_default();
    let chosen = chosen(options).filter(|_| !is_cancelled);
    let outcome = chosen
        .and_then(|option| option["optionId"].as_str())
        .map_or(RequestPermissionOutcome::Cancelled, |id| {
            RequestPermissionOutcome::Selected(SelectedPermissionOutcome::new(id.to_owned()))
        });
    let chosen = chosen.map(|option| &option["kind"]);
    let told = json!({"toolCall": params["toolCall"], "options": options, "chosen": chosen});
    (RequestPermissionResponse::new(outcome), json!({"permission": told}))
}

fn chosen(options: &[Value]) -> Option<&Value> {
    let kind = |option: &Value| option["kind"].as_str().unwrap_or_default().to_owned();
    let usable = || options.iter().filter(|option| option["optionId"].is_string());
    WANTED.iter().find_map(|wanted| usable().find(|option| kind(option).starts_with(wanted)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(kinds: &[&str]) -> Value {
        let option = |kind: &&str| json!({"optionId": format!("id-{kind}"), "kind": kind});
        json!({"toolCall": {"toolCallId": "c"}, "options": kinds.iter().map(option).collect::<Vec<_>>()})
    }

    #[test]
    fn the_least_that_allows_is_chosen() {
        for (kinds, chosen) in [
            (vec!["allow_always", "allow_once", "reject_once"], Some("allow_once")),
            (vec!["reject_once", "allow_always"], Some("allow_always")),
            (vec!["reject_always"], Some("reject_always")),
            (vec!["ask_again"], None),
            (vec![], None),
        ] {
            let (response, told) = answered(&options(&kinds), false);
            assert_eq!(told["permission"]["chosen"].as_str(), chosen);
            let outcome = &json!(response)["outcome"];
            let id = chosen.map(|kind| format!("id-{kind}"));
            assert_eq!(outcome["optionId"].as_str(), id.as_deref(), "{outcome}");
            let how = if chosen.is_some() { "selected" } else { "cancelled" };
            assert_eq!(outcome["outcome"], how);
        }
    }

    #[test]
    fn nothing_is_permitted_once_the_turn_is_cancelled() {
        let (response, told) = answered(&options(&["allow_once"]), true);
        assert_eq!(json!(response)["outcome"]["outcome"], "cancelled");
        assert_eq!(told["permission"]["chosen"], Value::Null);
    }
}
