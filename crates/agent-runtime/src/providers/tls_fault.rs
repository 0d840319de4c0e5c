//! Why a connection could not be made secure, in words for the user and with what to do about it.

use std::error::Error;
use std::io;

use rustls::{CertificateError, InvalidMessage};

/// What went wrong with TLS, if that is what `error` is about.
pub(super) fn tls_fault(error: &(dyn Error + 'static)) -> Option<String> {
    found_in(error).map(worded)
}

/// The error of the TLS library. I/O errors hold it without calling it their source.
fn found_in<'e>(error: &'e (dyn Error + 'static)) -> Option<&'e rustls::Error> {
    let mut cause = Some(error);
    while let Some(error) = cause {
        if let Some(found) = error.downcast_ref() {
            return Some(found);
        }
        let held = error.downcast_ref::<io::Error>().and_then(io::Error::get_ref);
        if let Some(found) = held.and_then(|held| found_in(held)) {
            return Some(found);
        }
        cause = error.source();
    }
    None
}

fn worded(error: &rustls::Error) -> String {
    if let rustls::Error::InvalidCertificate(fault) = error {
        return certificate(fault);
    }
    if matches!(error, rustls::Error::InvalidMessage(InvalidMessage::InvalidContentType)) {
        return "it does not speak TLS there; does its `url` begin with http://?".to_owned();
    }
    error.to_string()
}

/// What is to be done about a certificate that can be trusted all the same.
const REMEDY: &str = "give the PEM file of its authority as the agent's `tls_ca_cert` or, where nobody can listen in, \
                      set `tls_skip_verify`";

fn certificate(fault: &CertificateError) -> String {
    use CertificateError as E;
    if matches!(fault, E::Expired | E::ExpiredContext { .. }) {
        return "its certificate has expired; it has to be renewed, unless this machine's clock is wrong"
            .to_owned();
    }
    if matches!(fault, E::NotValidYet | E::NotValidYetContext { .. }) {
        return "its certificate is not valid yet; is this machine's clock right?".to_owned();
    }
    if matches!(fault, E::NotValidForName | E::NotValidForNameContext { .. }) {
        return "its certificate is for another name; correct the agent's `url`".to_owned();
    }
    if matches!(fault, E::UnknownIssuer | E::BadSignature) {
        return format!("its certificate is signed by nobody this machine trusts; {REMEDY}");
    }
    format!("{}; {REMEDY}", rustls::Error::InvalidCertificate(fault.clone()))
}
