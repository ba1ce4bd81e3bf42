//! The mode of a session: what the agent asks about, and what it does unasked.

use agent_client_protocol_schema::v1::{
    NewSessionResponse, SessionConfigId, SessionConfigKind, SessionConfigOption,
    SessionConfigOptionCategory, SessionConfigSelectOptions,
};

/// How agents name the option that is their mode.
const OPTION: &str = "mode";

/// How a mode is chosen.
#[derive(Debug, PartialEq)]
pub(super) enum Way {
    /// As a mode of the session.
    Mode,
    /// As a value of this option.
    Option(SessionConfigId),
}

/// The way to a mode of this session.
///
/// # Errors
/// The agent does not offer it.
pub(super) fn way(wanted: &str, session: &NewSessionResponse) -> Result<Way, String> {
    let modes = session.modes.iter().flat_map(|it| &it.available_modes);
    let modes: Vec<&str> = modes.map(|mode| &*mode.id.0).collect();
    if modes.contains(&wanted) {
        return Ok(Way::Mode);
    }
    let options = session.config_options.iter().flatten().filter(|option| is_mode(option));
    let options: Vec<_> = options.map(|option| (option, values(option))).collect();
    if let Some((option, _)) = options.iter().find(|(_, values)| values.contains(&wanted)) {
        return Ok(Way::Option(option.id.clone()));
    }
    let mut offered = modes;
    offered.extend(options.iter().flat_map(|(_, values)| values));
    offered.dedup();
    Err(match &*offered {
        [] => {
            format!("the agent offers no modes, so that `{wanted}` cannot be chosen: leave it out")
        }
        offered => {
            let offered: Vec<_> = offered.iter().map(|mode| format!("`{mode}`")).collect();
            format!("the agent offers no mode `{wanted}`: it has {}", offered.join(", "))
        }
    })
}

fn is_mode(option: &SessionConfigOption) -> bool {
    option.category == Some(SessionConfigOptionCategory::Mode) || &*option.id.0 == OPTION
}

fn values(option: &SessionConfigOption) -> Vec<&str> {
    let SessionConfigKind::Select(select) = &option.kind else { return Vec::new() };
    match &select.options {
        SessionConfigSelectOptions::Ungrouped(options) => {
            options.iter().map(|it| &*it.value.0).collect()
        }
        SessionConfigSelectOptions::Grouped(groups) => {
            groups.iter().flat_map(|it| &it.options).map(|it| &*it.value.0).collect()
        }
        _ => Vec::new(),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn session(more: Value) -> NewSessionResponse {
        let mut session = json!({"sessionId": "s"});
        session.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        serde_json::from_value(session).unwrap()
    }

    #[test]
    fn a_mode_is_found_where_the_agent_has_it() {
        let modes = session(json!({"modes": {"currentModeId": "auto", "availableModes": [
            {"id": "auto", "name": "Auto"}, {"id": "default", "name": "Default"}]}}));
        assert_eq!(way("default", &modes), Ok(Way::Mode));
        let option = |options: Value| {
            session(json!({"configOptions": [
                {"id": "m", "name": "Model", "category": "model", "type": "select",
                 "currentValue": "full", "options": [{"value": "full", "name": "Full"}]},
                {"id": "approval", "name": "Mode", "category": "mode", "type": "select",
                 "currentValue": "ask", "options": options}]}))
        };
        let plain =
            option(json!([{"value": "ask", "name": "Ask"}, {"value": "yolo", "name": "Y"}]));
        assert_eq!(way("yolo", &plain), Ok(Way::Option("approval".into())));
        let groups = option(json!([
            {"group": "g", "name": "G", "options": [{"value": "yolo", "name": "Y"}]}]));
        assert_eq!(way("yolo", &groups), Ok(Way::Option("approval".into())));
        assert!(way("full", &plain).is_err(), "a model is no mode");
    }

    #[test]
    fn the_modes_that_there_are_are_named() {
        let modes = session(json!({"modes": {"currentModeId": "a", "availableModes": [
            {"id": "a", "name": "A"}, {"id": "b", "name": "B"}]}}));
        let reason = way("c", &modes).unwrap_err();
        assert_eq!(reason, "the agent offers no mode `c`: it has `a`, `b`");
        assert!(way("c", &session(json!({}))).unwrap_err().contains("no modes"));
    }
}
