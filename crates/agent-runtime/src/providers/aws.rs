//! Credentials for Amazon's services: keys that sign requests (Signature Version 4) and are never sent, and a command that
//! prints new ones. Knows no service.

#[cfg(feature = "bedrock")]
mod signature;

use reqwest::Url;
use serde::Deserialize;
use time::OffsetDateTime;

use super::auth::Secret;

/// Keys of an account or a role.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AwsKeys {
    /// The access key's id.
    pub id: Secret,
    /// The secret access key.
    pub secret: Secret,
    /// The session token of keys that last for a while only.
    pub token: Option<Secret>,
}

/// How requests to one of Amazon's services are signed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AwsAuth {
    /// The service's region.
    pub region: String,
    /// The service's name, as signatures have it.
    pub service: String,
    /// The keys; none where the command has to be asked first.
    pub keys: Option<AwsKeys>,
    /// Prints keys as JSON (`credential_process`); split at spaces, without a shell. Run when there are none, and once more
    /// when they are refused.
    pub refresh: Option<String>,
}

/// What a credential process prints.
#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Printed {
    access_key_id: String,
    secret_access_key: String,
    session_token: Option<String>,
}

impl AwsKeys {
    /// The keys that a credential process printed.
    pub(super) fn printed(text: &str) -> Result<Self, String> {
        let printed: Printed = serde_json::from_str(text)
            .map_err(|_| "`aws_refresh_cmd` printed no AccessKeyId and SecretAccessKey as JSON".to_owned())?;
        let token = printed.session_token.map(|token| Secret::new(&token)).filter(|token| !token.is_empty());
        let (id, secret) = (Secret::new(&printed.access_key_id), Secret::new(&printed.secret_access_key));
        Ok(Self { id, secret, token })
    }
}

/// What a signature covers beside the headers.
#[derive(Debug, Clone, Copy)]
#[cfg_attr(
    not(feature = "bedrock"),
    expect(dead_code, reason = "without the crates for it nothing is signed")
)]
pub(super) struct Signed<'a> {
    pub(super) url: &'a Url,
    pub(super) body: &'a [u8],
    pub(super) at: OffsetDateTime,
}

#[cfg(feature = "bedrock")]
pub(super) use signature::sign;

/// Without the crates for it nothing is signed.
#[cfg(not(feature = "bedrock"))]
pub(super) fn sign(
    _: &AwsAuth,
    _: &AwsKeys,
    _: Signed<'_>,
    _: &mut reqwest::header::HeaderMap,
) -> Result<(), String> {
    Err(super::bedrock::MISSING.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_credential_process_prints_is_read() {
        let printed =
            r#"{"Version":1,"AccessKeyId":"A","SecretAccessKey":"S","SessionToken":"T","Expiration":"x"}"#;
        let keys = AwsKeys { id: "A".into(), secret: "S".into(), token: Some("T".into()) };
        assert_eq!(AwsKeys::printed(printed), Ok(keys));
        let without = r#"{"AccessKeyId":"A","SecretAccessKey":"S"}"#;
        assert_eq!(AwsKeys::printed(without).unwrap().token, None);
        let error = AwsKeys::printed("Error: s3cr3t").unwrap_err();
        assert!(error.contains("`aws_refresh_cmd`") && !error.contains("s3cr3t"), "{error}");
    }
}
