//! Tells public addresses from those of this machine, of private networks and of the services that clouds put beside a
//! machine. By the registries of special-purpose addresses (IANA, RFC 6890 and its updates); in doubt an address is not
//! public. Pure.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use reqwest::Url;

/// The host of an address as it is compared: lower case, no brackets, no dot at the end.
pub(crate) fn host_of(url: &Url) -> Option<String> {
    let host = url.host_str()?.trim_matches(['[', ']']).trim_end_matches('.').to_lowercase();
    (!host.is_empty()).then_some(host)
}

/// Whether a host is known not to be public without looking it up: by its number, or by a name that is always local.
pub(crate) fn is_private_name(host: &str) -> bool {
    const LOCAL: [&str; 7] =
        ["localhost", "localdomain", "local", "internal", "intranet", "home.arpa", "lan"];
    if let Ok(address) = host.parse::<IpAddr>() {
        return !is_public(address);
    }
    LOCAL.iter().any(|name| host == *name || host.strip_suffix(name).is_some_and(|rest| rest.ends_with('.')))
}

/// Whether an address is reachable for everybody.
pub(crate) fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) => is_public_v6(address),
    }
}

fn is_public_v4(address: Ipv4Addr) -> bool {
    let [a, b, c, _] = address.octets();
    !matches!(
        (a, b, c),
        (0 | 10 | 127 | 224..=255, _, _)
            | (100, 64..=127, _)
            | (169, 254, _)
            | (172, 16..=31, _)
            | (192, 168, _)
            | (192, 0, 0 | 2)
            | (192, 88, 99)
            | (198, 18..=19, _)
            | (198, 51, 100)
            | (203, 0, 113)
    )
}

fn is_public_v6(address: Ipv6Addr) -> bool {
    let parts = address.segments();
    let embedded = |high: u16, low: u16| {
        let [a, b] = high.to_be_bytes();
        let [c, d] = low.to_be_bytes();
        is_public_v4(Ipv4Addr::new(a, b, c, d))
    };
    match parts {
        // Within what is given out at all: addresses of the older protocol in disguise, tunnels and examples.
        [0x64, 0xff9b, 0, 0, 0, 0, high, low]
        | [0x2002, high, low, ..]
        | [0, 0, 0, 0, 0, 0xffff, high, low] => embedded(high, low),
        [0x2001, 0..=0x1ff | 0xdb8, ..] | [0x3fff, 0..=0xfff, ..] => false,
        [first, ..] => (0x2000..=0x3fff).contains(&first),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_everybody_reaches_is_public() {
        for public in
            ["1.1.1.1", "93.184.216.34", "172.32.0.1", "100.128.0.1", "2606:4700::1111", "64:ff9b::101:101"]
        {
            assert!(is_public(public.parse().unwrap()), "{public}");
        }
        for private in [
            "0.0.0.0",
            "127.0.0.1",
            "127.9.9.9",
            "10.0.0.1",
            "172.16.0.1",
            "172.31.255.255",
            "192.168.1.1",
            "169.254.169.254",
            "100.64.0.1",
            "100.100.100.200",
            "192.0.0.192",
            "198.18.0.1",
            "224.0.0.1",
            "255.255.255.255",
            "::",
            "::1",
            "::ffff:127.0.0.1",
            "::ffff:10.0.0.1",
            "::7f00:1",
            "fe80::1",
            "fc00::1",
            "fd00:ec2::254",
            "ff02::1",
            "fec0::1",
            "64:ff9b::7f00:1",
            "2002:7f00:1::",
            "2001::1",
            "2001:db8::1",
            "100::1",
            "64:ff9b:1::1",
        ] {
            assert!(!is_public(private.parse().unwrap()), "{private}");
        }
    }

    #[test]
    fn every_spelling_of_this_machine_is_known_before_it_is_looked_up() {
        for (url, private) in [
            ("http://localhost/", true),
            ("http://LOCALHOST./", true),
            ("http://a.localhost/", true),
            ("http://127.1/", true),
            ("http://2130706433/", true),
            ("http://0x7f.1/", true),
            ("http://0177.0.0.1/", true),
            ("http://[::1]/", true),
            ("http://[::ffff:7f00:1]/", true),
            ("http://\u{2460}27.0.0.1/", true),
            ("http://metadata.google.internal/", true),
            ("http://169.254.169.254/latest", true),
            ("http://printer.local/", true),
            ("http://localhost.example.com/", false),
            ("http://example.com/", false),
            ("http://notlocal/", false),
        ] {
            let host = host_of(&Url::parse(url).unwrap()).unwrap();
            assert_eq!(is_private_name(&host), private, "{url}");
        }
    }
}
