//! Everything the official schema names is implemented, or absent for a stated reason.

use std::collections::BTreeSet;

use crate::schema::Schema;
use crate::subjects;

/// What is left out: name or beginning of a name, and why.
const ABSENT: &[(&str, &str)] = &[
    ("ExtNotification", "any JSON: an extension's own types belong to the extension"),
    ("ExtRequest", "any JSON, as above"),
    ("ExtResponse", "any JSON, as above"),
    ("ErrorData", "any JSON: `Error::data`; its two known forms are types of their own"),
    ("ProtocolVersion", "shared by both versions, in the crate's root"),
    // Behind unstable features; nothing negotiates them, and unknown methods and updates are refused or skipped.
    ("Archive", "unstable: archived sessions"),
    ("Unarchive", "unstable: archived sessions"),
    ("SessionArchive", "unstable: archived sessions"),
    ("AuthAccount", "unstable: sign-in state"),
    ("AuthState", "unstable: sign-in state"),
    ("AuthStatus", "unstable: sign-in state"),
    ("Cursor", "unstable: positions in a conversation"),
    ("SessionCursors", "unstable: positions in a conversation"),
    ("Fork", "unstable: forked sessions"),
    ("SessionFork", "unstable: forked sessions"),
    ("InitialSessionConfigOption", "unstable: options before a session exists"),
    ("SessionOptions", "unstable: options before a session exists"),
    ("LlmProtocol", "unstable: model providers set by the client"),
    ("ListProviders", "unstable: model providers set by the client"),
    ("SetProvider", "unstable: model providers set by the client"),
    ("DisableProvider", "unstable: model providers set by the client"),
    ("Provider", "unstable: model providers set by the client"),
    ("Mcp", "unstable: MCP over the ACP connection"),
    ("MessageMcp", "unstable: MCP over the ACP connection"),
    ("PromptSuggestion", "unstable: suggested prompts"),
    ("SessionStatus", "unstable: whether a session is open"),
    ("SessionTitle", "unstable: titles set by the client"),
    ("SetSessionTitle", "unstable: titles set by the client"),
    ("Skill", "unstable: skills as content"),
    ("PromptSkill", "unstable: skills as content"),
    ("CommandsCapabilities", "unstable: skills as content"),
    ("CommandsSkill", "unstable: skills as content"),
    ("ClientSessionCapabilities", "version 2: holds only unstable capabilities"),
];

fn absent(name: &str) -> bool {
    ABSENT.iter().any(|(absent, _)| name.starts_with(absent))
}

/// Definitions neither implemented nor listed as absent.
fn missing(file: &str, subjects: &[subjects::Subject]) -> Vec<String> {
    let schema = Schema::read(file);
    let present: BTreeSet<_> = subjects.iter().map(|subject| subject.name).collect();
    schema.names().filter(|name| !present.contains(name) && !absent(name)).map(str::to_owned).collect()
}

#[test]
fn every_definition_is_implemented_or_absent_for_a_reason() {
    for file in ["schema-v1.json", "schema-v1-unstable.json"] {
        assert_eq!(missing(file, &subjects::v1()), Vec::<String>::new(), "{file}");
    }
    for file in ["schema-v2.json", "schema-v2-unstable.json"] {
        assert_eq!(missing(file, &subjects::v2()), Vec::<String>::new(), "{file}");
    }
}

/// The stable definitions left out, so that the list above hides nothing by accident.
#[test]
fn nothing_stable_is_absent_but_what_is_any_json() {
    for (file, subjects) in [("schema-v1.json", subjects::v1()), ("schema-v2.json", subjects::v2())] {
        let present: BTreeSet<_> = subjects.iter().map(|subject| subject.name).collect();
        let schema = Schema::read(file);
        let left: Vec<_> = schema.names().filter(|name| !present.contains(name)).collect();
        let expected: &[&str] =
            &["ErrorData", "ExtNotification", "ExtRequest", "ExtResponse", "ProtocolVersion"];
        assert!(left.iter().all(|name| expected.contains(name)), "{file}: {left:?}");
    }
}

/// The discriminators of a union in the schema.
fn tags(schema: &Schema, union: &str, tag: &str) -> BTreeSet<String> {
    let definition = schema.definition(union);
    let branches = definition["oneOf"].as_array().or(definition["anyOf"].as_array()).expect("branches");
    branches
        .iter()
        .filter_map(|branch| branch["properties"][tag]["const"].as_str())
        .map(str::to_owned)
        .collect()
}

fn known(tags: &[&str]) -> BTreeSet<String> {
    tags.iter().map(|tag| (*tag).to_owned()).collect()
}

#[test]
fn every_update_and_content_block_of_the_stable_schema_is_a_variant() {
    use acp_wire::{v1, v2};
    let schema = Schema::read("schema-v1.json");
    assert_eq!(known(v1::SessionUpdate::TAGS), tags(&schema, "SessionUpdate", "sessionUpdate"));
    assert_eq!(known(v1::ContentBlock::TAGS), tags(&schema, "ContentBlock", "type"));
    assert_eq!(known(v1::ToolCallContent::TAGS), tags(&schema, "ToolCallContent", "type"));
    let schema = Schema::read("schema-v2.json");
    assert_eq!(known(v2::SessionUpdate::TAGS), tags(&schema, "SessionUpdate", "sessionUpdate"));
    assert_eq!(known(v2::ContentBlock::TAGS), tags(&schema, "ContentBlock", "type"));
    assert_eq!(known(v2::ToolCallContent::TAGS), tags(&schema, "ToolCallContent", "type"));
    assert_eq!(known(v2::StateUpdate::TAGS), tags(&schema, "StateUpdate", "state"));
    assert_eq!(known(v2::BackgroundWork::TAGS), tags(&schema, "BackgroundWork", "type"));
}

/// The method names in the schema, with the name of the type of their parameters.
fn methods(schema: &Schema) -> BTreeSet<String> {
    schema
        .names()
        .filter_map(|name| schema.definition(name)["x-method"].as_str())
        .map(str::to_owned)
        .collect()
}

macro_rules! names {
    ($version:ident: $($method:ident)*; $($notification:ident)*) => {
        known(&[
            $(<acp_wire::$version::method::$method as acp_wire::Method>::NAME,)*
            $(<acp_wire::$version::method::$notification as acp_wire::Notification>::NAME,)*
        ])
    };
}

#[test]
fn every_method_of_the_stable_schema_has_its_types() {
    let v1 = names!(v1:
        Initialize Authenticate Logout SessionNew SessionLoad SessionResume SessionList SessionDelete SessionClose
        SessionSetMode SessionSetConfigOption SessionPrompt SessionRequestPermission FsReadTextFile FsWriteTextFile
        TerminalCreate TerminalOutput TerminalWaitForExit TerminalKill TerminalRelease ElicitationCreate;
        SessionCancel SessionUpdate ElicitationComplete CancelRequest);
    assert_eq!(v1, methods(&Schema::read("schema-v1.json")));
    let v2 = names!(v2:
        Initialize AuthLogin AuthLogout SessionNew SessionList SessionResume SessionClose SessionDelete SessionPrompt
        SessionSetConfigOption ToolCallCancel TerminalCancel SessionRequestPermission ElicitationCreate;
        SessionCancel SessionUpdate ElicitationComplete CancelRequest);
    assert_eq!(v2, methods(&Schema::read("schema-v2.json")));
}
