//! Signatures of requests, Version 4.

use std::time::SystemTime;

use aws_credential_types::Credentials;
use aws_sigv4::http_request::{
    PayloadChecksumKind, SignableBody, SignableRequest, SigningSettings, sign as sign_request,
};
use aws_sigv4::sign::v4::SigningParams;
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};

use super::{AwsAuth, AwsKeys, Signed};

/// Adds a signature to the headers of a POST request.
///
/// # Errors
/// Why it cannot be signed.
pub(in super::super) fn sign(
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
    use reqwest::Url;
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
}
