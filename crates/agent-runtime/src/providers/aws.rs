//! Credentials for Amazon's services: keys that sign requests (Signature Version 4) and are never sent, and a command that
//! prints new ones. Knows no service.

use std::time::SystemTime;

use aws_credential_types::Credentials;
use aws_sigv4::http_request::{
    PayloadChecksumKind, SignableBody, SignableRequest, SigningSettings, sign as sign_request,
};
use aws_sigv4::sign::v4::SigningParams;
use reqwest::Url;
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
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
pub(super) struct Signed<'a> {
    pub(super) url: &'a Url,
    pub(super) body: &'a [u8],
    pub(super) at: OffsetDateTime,
}

/// Adds a signature to the headers of a POST request.
///
/// # Errors
/// Why it cannot be signed.
pub(super) fn sign(
    auth: &AwsAuth,
    keys: &AwsKeys,
    signed: Signed<'_>,
    headers: &mut HeaderMap,
) -> Result<(), String> {
    let told = |cause: &dyn std::error::Error| format!("the request cannot be signed: {cause}");
    let token = keys.token.as_ref().map(|token| token.reveal().to_owned());
    let identity = Credentials::new(keys.id.reveal(), keys.secret.reveal(), token, None, "milk").into();
    let mut settings = SigningSettings::default();
    settings.payload_checksum_kind = PayloadChecksumKind::XAmzSha256;
    let params = SigningParams::builder()
        .identity(&identity)
        .region(&auth.region)
        .name(&auth.service)
        .time(SystemTime::from(signed.at))
        .settings(settings)
        .build()
        .map_err(|cause| told(&cause))?;
    let instructions = {
        let texts = headers.iter().filter_map(|(name, value)| Some((name.as_str(), value.to_str().ok()?)));
        let body = SignableBody::Bytes(signed.body);
        let request = SignableRequest::new("POST", signed.url.as_str(), texts, body);
        let request = request.map_err(|cause| told(&cause))?;
        let output = sign_request(request, &params.into()).map_err(|cause| told(&cause))?;
        output.into_parts().0
    };
    for (name, value) in instructions.headers() {
        let name = HeaderName::from_bytes(name.as_bytes()).map_err(|cause| told(&cause))?;
        let mut value = HeaderValue::from_str(value).map_err(|cause| told(&cause))?;
        value.set_sensitive(true);
        headers.insert(name, value);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use time::macros::datetime;

    use super::*;

    fn auth() -> AwsAuth {
        let (region, service) = ("us-east-1".to_owned(), "service".to_owned());
        AwsAuth { region, service, keys: None, refresh: None }
    }

    /// The example of Amazon's own test suite for signatures (post-vanilla), as far as ours sign more headers.
    #[test]
    fn a_request_is_signed_as_amazon_has_it() {
        let keys = AwsKeys {
            id: "AKIDEXAMPLE".into(),
            secret: "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY".into(),
            token: None,
        };
        let url = Url::parse("https://example.amazonaws.com/").unwrap();
        let mut headers = HeaderMap::new();
        let signed = Signed { url: &url, body: b"", at: datetime!(2015-08-30 12:36:00 UTC) };
        sign(&auth(), &keys, signed, &mut headers).unwrap();
        assert_eq!(headers["x-amz-date"], "20150830T123600Z");
        let authorization = headers["authorization"].to_str().unwrap();
        assert!(authorization.starts_with(
            "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, \
             SignedHeaders=host;x-amz-content-sha256;x-amz-date, Signature="
        ));
        assert!(headers["authorization"].is_sensitive());
        assert!(!headers.contains_key("x-amz-security-token"));
    }

    #[test]
    fn what_is_signed_is_body_path_and_headers() {
        let keys = AwsKeys { id: "a".into(), secret: "s".into(), token: Some("t".into()) };
        let url = |path: &str| Url::parse("https://h.example").unwrap().join(path).unwrap();
        let signature = |path: &str, body: &[u8], team: &'static str| {
            let url = url(path);
            let mut headers = HeaderMap::new();
            headers.insert("x-team", HeaderValue::from_static(team));
            let signed = Signed { url: &url, body, at: datetime!(2026-01-01 0:00 UTC) };
            sign(&auth(), &keys, signed, &mut headers).unwrap();
            assert_eq!(headers["x-amz-security-token"], "t");
            headers["authorization"].to_str().unwrap().to_owned()
        };
        let first = signature("/model/a%3A0/converse-stream", b"{}", "blue");
        assert!(
            first.contains("host;x-amz-content-sha256;x-amz-date;x-amz-security-token;x-team"),
            "{first}"
        );
        assert_eq!(first, signature("/model/a%3A0/converse-stream", b"{}", "blue"));
        for other in [
            signature("/model/b%3A0/converse-stream", b"{}", "blue"),
            signature("/model/a%3A0/converse-stream", b"[]", "blue"),
            signature("/model/a%3A0/converse-stream", b"{}", "red"),
        ] {
            assert_ne!(first, other);
        }
    }

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
