//! Where Amazon Bedrock is for an agent, and what proves there who we are: from its entry, else from the variables that
//! Amazon's own tools read. Pure.

use agent_runtime::providers::bedrock::{IS_BUILT_IN, MISSING};

use super::Lookup;
use super::agent::{AgentSettings, Secret};
use super::choose::{Credential, resolve, said};

/// The service's name in signatures.
const SERVICE: &str = "bedrock";

/// How requests to Amazon are signed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AwsSpec {
    /// The region.
    pub region: String,
    /// The service's name in signatures.
    pub service: String,
    /// The keys; none where the command has to be asked first.
    pub keys: Option<AwsKeysSpec>,
    /// A command that prints keys.
    pub refresh_cmd: Option<String>,
}

/// Keys that sign.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AwsKeysSpec {
    /// The access key's id.
    pub id: Secret,
    /// The secret access key.
    pub secret: Secret,
    /// The session token, where there is one.
    pub token: Option<Secret>,
}

/// The server's base URL and the credential.
///
/// # Errors
/// What is to be corrected.
pub(super) fn place(agent: &AgentSettings, lookup: Lookup<'_>) -> Result<(String, Credential), String> {
    if !IS_BUILT_IN {
        return Err(MISSING.to_owned());
    }
    let given = |text: &str| Some(text.trim().to_owned()).filter(|text| !text.is_empty());
    let region = given(&agent.aws_region)
        .or_else(|| said(lookup, "AWS_REGION"))
        .or_else(|| said(lookup, "AWS_DEFAULT_REGION"))
        .or_else(|| region_in(&agent.url))
        .ok_or("it has no `aws_region`; set it or AWS_REGION, or give the region's `url`")?;
    let url = given(&agent.url).unwrap_or_else(|| {
        let end = if region.starts_with("cn-") { ".cn" } else { "" };
        format!("https://bedrock-runtime.{region}.amazonaws.com{end}")
    });
    if !agent.token_cmd.trim().is_empty() {
        return Ok((url, Credential::Command(agent.token_cmd.clone())));
    }
    if !agent.api_key.is_empty() {
        return Ok((url, Credential::Key(resolve("api_key", &agent.api_key, lookup)?)));
    }
    let refresh_cmd = given(&agent.aws_refresh_cmd);
    let mut keys = configured(agent, lookup)?;
    if keys.is_none() {
        // A key of the service is sent as it is: to nobody but Amazon.
        if let Some(key) = said(lookup, "AWS_BEARER_TOKEN_BEDROCK").filter(|_| is_amazons(&url)) {
            return Ok((url, Credential::Key(key.into())));
        }
        keys = from_variables(lookup);
    }
    if keys.is_none() && refresh_cmd.is_none() {
        return Err("it has no credentials; set `aws_key_id` and `aws_secret`, `aws_refresh_cmd` or `api_key`, or the \
                    variables AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY"
            .to_owned());
    }
    let service = given(&agent.aws_service).unwrap_or_else(|| SERVICE.to_owned());
    Ok((url, Credential::Aws(Box::new(AwsSpec { region, service, keys, refresh_cmd }))))
}

fn configured(agent: &AgentSettings, lookup: Lookup<'_>) -> Result<Option<AwsKeysSpec>, String> {
    match (agent.aws_key_id.is_empty(), agent.aws_secret.is_empty()) {
        (true, true) => return Ok(None),
        (false, true) => return Err("it has an `aws_key_id` but no `aws_secret`".to_owned()),
        (true, false) => return Err("it has an `aws_secret` but no `aws_key_id`".to_owned()),
        (false, false) => {}
    }
    let token =
        if agent.aws_token.is_empty() { None } else { Some(resolve("aws_token", &agent.aws_token, lookup)?) };
    Ok(Some(AwsKeysSpec {
        id: resolve("aws_key_id", &agent.aws_key_id, lookup)?,
        secret: resolve("aws_secret", &agent.aws_secret, lookup)?,
        token,
    }))
}

fn from_variables(lookup: Lookup<'_>) -> Option<AwsKeysSpec> {
    let token = said(lookup, "AWS_SESSION_TOKEN").map(Secret::from);
    let (id, secret) = (said(lookup, "AWS_ACCESS_KEY_ID")?, said(lookup, "AWS_SECRET_ACCESS_KEY")?);
    Some(AwsKeysSpec { id: id.into(), secret: secret.into(), token })
}

fn host(url: &str) -> &str {
    let rest = url.trim().split_once("://").map_or(url.trim(), |(_, rest)| rest);
    rest.split(['/', '?', '#', ':']).next().unwrap_or_default()
}

/// The region in an address of Amazon's (`bedrock-runtime.us-east-1.amazonaws.com`).
fn region_in(url: &str) -> Option<String> {
    let label = host(url).split('.').nth(1)?;
    let is_region = label.contains('-') && label.ends_with(|c: char| c.is_ascii_digit());
    is_region.then(|| label.to_owned())
}

fn is_amazons(url: &str) -> bool {
    let host = host(url).to_lowercase();
    url.starts_with("https://")
        && [".amazonaws.com", ".amazonaws.com.cn", ".api.aws"].iter().any(|end| host.ends_with(end))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn placed(entry: &Value, variables: &[(&str, &str)]) -> Result<(String, Credential), String> {
        let agent: AgentSettings = serde_json::from_value(entry.clone()).unwrap();
        let lookup = |name: &str| variables.iter().find(|(n, _)| *n == name).map(|(_, v)| (*v).to_owned());
        place(&agent, &lookup)
    }

    fn keys(id: &str, secret: &str, token: Option<&str>) -> AwsKeysSpec {
        let of = |text: &str| Secret::from(text.to_owned());
        AwsKeysSpec { id: of(id), secret: of(secret), token: token.map(of) }
    }

    fn aws(region: &str, keys: Option<AwsKeysSpec>, refresh: Option<&str>) -> Credential {
        let refresh_cmd = refresh.map(str::to_owned);
        Credential::Aws(Box::new(AwsSpec {
            region: region.to_owned(),
            service: "bedrock".to_owned(),
            keys,
            refresh_cmd,
        }))
    }

    #[test]
    fn the_region_is_found_and_makes_the_address() {
        let held = [
            ("AWS_ACCESS_KEY_ID", "A"),
            ("AWS_SECRET_ACCESS_KEY", "S"),
            ("AWS_DEFAULT_REGION", "eu-north-1"),
        ];
        let more = [&held[..], &[("AWS_REGION", "eu-west-1")]].concat();
        let far = "https://bedrock-runtime.us-east-2.amazonaws.com/";
        let table = [
            (
                json!({"aws_region": " us-west-2 "}),
                &more[..],
                "https://bedrock-runtime.us-west-2.amazonaws.com",
                "us-west-2",
            ),
            (
                json!({"aws_region": "cn-north-1"}),
                &more,
                "https://bedrock-runtime.cn-north-1.amazonaws.com.cn",
                "cn-north-1",
            ),
            (json!({}), &more, "https://bedrock-runtime.eu-west-1.amazonaws.com", "eu-west-1"),
            (json!({}), &held, "https://bedrock-runtime.eu-north-1.amazonaws.com", "eu-north-1"),
            (
                json!({"url": far}),
                &held[..2],
                "https://bedrock-runtime.us-east-2.amazonaws.com/",
                "us-east-2",
            ),
        ];
        for (entry, variables, url, region) in table {
            let expected = (url.to_owned(), aws(region, Some(keys("A", "S", None)), None));
            assert_eq!(placed(&entry, variables), Ok(expected), "{entry}");
        }
        for url in ["", "http://127.0.0.1:8000", "https://gateway.example"] {
            assert!(placed(&json!({"url": url}), &held[..2]).unwrap_err().contains("`aws_region`"), "{url}");
        }
    }

    #[test]
    fn an_entrys_own_keys_win_over_variables_and_half_a_pair_is_told() {
        let variables = [
            ("AWS_REGION", "r-1"),
            ("AWS_ACCESS_KEY_ID", "A"),
            ("AWS_SECRET_ACCESS_KEY", "S"),
            ("AWS_SESSION_TOKEN", "T"),
            ("OWN", "s"),
        ];
        let credential =
            |entry: Value, variables| placed(&entry, variables).map(|(_, credential)| credential);
        let own = json!({"aws_key_id": "a", "aws_secret": "$OWN", "aws_refresh_cmd": "aws creds"});
        assert_eq!(
            credential(own, &variables),
            Ok(aws("r-1", Some(keys("a", "s", None)), Some("aws creds")))
        );
        assert_eq!(credential(json!({}), &variables), Ok(aws("r-1", Some(keys("A", "S", Some("T"))), None)));
        let command = json!({"aws_refresh_cmd": "aws creds"});
        assert_eq!(credential(command, &variables[..1]), Ok(aws("r-1", None, Some("aws creds"))));
        for (entry, expected) in [
            (json!({}), "it has no credentials; set `aws_key_id`"),
            (json!({"aws_key_id": "a"}), "no `aws_secret`"),
            (json!({"aws_secret": "a"}), "no `aws_key_id`"),
            (json!({"aws_key_id": "$NONE", "aws_secret": "s"}), "`aws_key_id` refers to the variable NONE"),
        ] {
            let told = credential(entry, &variables[..1]).unwrap_err();
            assert!(told.contains(expected), "{told}");
        }
    }

    #[test]
    fn a_key_of_the_service_goes_to_amazon_alone_unless_it_is_configured() {
        let variables = [("AWS_REGION", "eu-west-1"), ("AWS_BEARER_TOKEN_BEDROCK", "k")];
        let key = Ok(Credential::Key("k".to_owned().into()));
        let credential = |entry: Value| placed(&entry, &variables).map(|(_, credential)| credential);
        assert_eq!(credential(json!({})), key);
        for url in [
            "https://gateway.example",
            "http://bedrock.eu-west-1.amazonaws.com",
            "https://x.amazonaws.com.evil.example",
        ] {
            assert!(credential(json!({"url": url})).unwrap_err().contains("no credentials"), "{url}");
            assert_eq!(credential(json!({"url": url, "api_key": "k"})), key);
        }
    }
}
