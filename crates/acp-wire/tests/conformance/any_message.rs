//! What must hold for any text read as any message: the body of the fuzz target, and its run over the seeds.

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// One method of one version: `v1 session/new`, and what is tried on a text that claims to belong to it.
type Case = (&'static str, &'static str, fn(&str));

/// Reads the first line of `bytes` as a version and a method (`v2 session/prompt`), and the rest as that method's
/// parameters and as its result. A first line that names none stands for some method all the same.
pub(crate) fn decode(bytes: &[u8]) {
    let Some(end) = bytes.iter().position(|byte| *byte == b'\n') else { return };
    let (header, text) = (&bytes[..end], &bytes[end + 1..]);
    let Ok(text) = std::str::from_utf8(text) else { return };
    let cases = cases();
    let named = cases.iter().find(|(version, method, _)| header == format!("{version} {method}").as_bytes());
    let any =
        || header.iter().fold(0_usize, |sum, byte| sum.wrapping_mul(31).wrapping_add(usize::from(*byte)));
    let (_, _, body) = named.unwrap_or_else(|| &cases[any() % cases.len()]);
    body(text);
}

/// Reading never panics; what was read can be written, and what was written reads as the same again.
fn settles<T: Serialize + DeserializeOwned>(text: &str) {
    let Ok(read) = serde_json::from_str::<T>(text) else { return };
    let written = serde_json::to_string(&read).expect("what was read can be written");
    let again = serde_json::from_str::<T>(&written).unwrap_or_else(|error| panic!("{error}: {written}"));
    let value = serde_json::to_value(&again).expect("what was read can be written");
    same(&value, &serde_json::to_value(&read).expect("what was read can be written"));
    let from_value =
        serde_json::from_value::<T>(value.clone()).unwrap_or_else(|error| panic!("{error}: {value}"));
    same(&value, &serde_json::to_value(&from_value).expect("what was read can be written"));
}

/// The same value; of a fraction the last digit may differ, as `serde_json` reads them by default.
fn same(left: &Value, right: &Value) {
    match (left, right) {
        (Value::Object(left), Value::Object(right)) => {
            assert_eq!(left.len(), right.len());
            for (name, value) in left {
                same(value, right.get(name).unwrap_or_else(|| panic!("{name} is gone")));
            }
        }
        (Value::Array(left), Value::Array(right)) => {
            assert_eq!(left.len(), right.len());
            left.iter().zip(right).for_each(|(left, right)| same(left, right));
        }
        (Value::Number(left), Value::Number(right)) if left.is_f64() && right.is_f64() => {
            let (left, right) = (left.as_f64().unwrap_or(f64::NAN), right.as_f64().unwrap_or(f64::NAN));
            assert!((left - right).abs() <= left.abs() * 4.0 * f64::EPSILON, "{left:e} {right:e}");
        }
        _ => assert_eq!(left, right),
    }
}

macro_rules! cases {
    ($($version:ident: $($method:ident)*; $($notification:ident)*;)*) => {
        /// Every method of both versions.
        fn cases() -> Vec<Case> {
            use acp_wire::{Method, Notification};
            vec![$(
                $((
                    stringify!($version),
                    <acp_wire::$version::method::$method as Method>::NAME,
                    |text| {
                        settles::<<acp_wire::$version::method::$method as Method>::Params>(text);
                        settles::<<acp_wire::$version::method::$method as Method>::Result>(text);
                    },
                ),)*
                $((
                    stringify!($version),
                    <acp_wire::$version::method::$notification as Notification>::NAME,
                    settles::<<acp_wire::$version::method::$notification as Notification>::Params>,
                ),)*
            )*]
        }
    };
}

cases! {
    v1: Initialize Authenticate Logout SessionNew SessionLoad SessionResume SessionList SessionDelete SessionClose
        SessionSetMode SessionSetConfigOption SessionPrompt SessionRequestPermission FsReadTextFile FsWriteTextFile
        TerminalCreate TerminalOutput TerminalWaitForExit TerminalKill TerminalRelease ElicitationCreate;
        SessionCancel SessionUpdate ElicitationComplete CancelRequest;
    v2: Initialize AuthLogin AuthLogout SessionNew SessionList SessionResume SessionClose SessionDelete SessionPrompt
        SessionSetConfigOption ToolCallCancel TerminalCancel SessionRequestPermission ElicitationCreate;
        SessionCancel SessionUpdate ElicitationComplete CancelRequest;
}

#[cfg(test)]
mod seeds {
    use std::collections::BTreeSet;
    use std::path::Path;

    use super::{cases, decode};

    #[test]
    fn no_seed_breaks_a_message_and_every_method_has_one() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/seeds/decode");
        let mut seen = BTreeSet::new();
        for seed in std::fs::read_dir(folder).unwrap() {
            let bytes = std::fs::read(seed.unwrap().path()).unwrap();
            decode(&bytes);
            for cut in (0..bytes.len()).step_by(bytes.len() / 8 + 1) {
                decode(&bytes[..cut]);
            }
            let header = bytes.split(|byte| *byte == b'\n').next().unwrap_or_default();
            seen.insert(String::from_utf8_lossy(header).into_owned());
        }
        let all: BTreeSet<_> =
            cases().iter().map(|(version, method, _)| format!("{version} {method}")).collect();
        assert_eq!(all.difference(&seen).collect::<Vec<_>>(), Vec::<&String>::new());
    }
}
