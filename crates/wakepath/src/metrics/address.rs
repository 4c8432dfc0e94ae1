//! Where metrics are served: a port of this machine, or an address that is written out. Pure.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

/// Why `--metrics` can't be carried out.
#[derive(Debug, thiserror::Error)]
pub enum Refused {
    /// It is no address.
    #[error(
        "--metrics {given}: give a port of this machine, such as 9464, or an address with one, such \
         as 192.168.1.7:9464"
    )]
    NoAddress { given: String },
    /// Nothing can be served there.
    #[error("--metrics {given}: {address}: {}", why(source, address))]
    NotServed {
        given: String,
        address: SocketAddr,
        source: std::io::Error,
    },
}

fn why(source: &std::io::Error, address: &SocketAddr) -> String {
    use std::io::ErrorKind;
    match source.kind() {
        ErrorKind::AddrInUse => {
            format!(
                "something else serves there; another port is free, such as {}",
                next(address)
            )
        }
        ErrorKind::AddrNotAvailable => "this machine does not have that address".into(),
        ErrorKind::PermissionDenied => "ports below 1024 need root; 9464 does not".into(),
        _ => source.to_string(),
    }
}

fn next(address: &SocketAddr) -> u16 {
    address.port().checked_add(1).unwrap_or(9464)
}

/// A bare port is one of 127.0.0.1, which only this machine reaches; anything else is written out.
pub(super) fn read(given: &str) -> Result<SocketAddr, Refused> {
    let port = given
        .parse()
        .map(|port: u16| SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), port));
    let local = given
        .strip_prefix("localhost:")
        .map(|port| format!("127.0.0.1:{port}"));
    let written = || local.as_deref().unwrap_or(given).parse();
    port.or_else(|_| written()).map_err(|_| Refused::NoAddress {
        given: given.to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_is_this_machine_s_and_others_are_written_out() {
        let at = |given| read(given).map(|address| address.to_string()).ok();
        assert_eq!(at("9464").as_deref(), Some("127.0.0.1:9464"));
        assert_eq!(at("localhost:9464").as_deref(), Some("127.0.0.1:9464"));
        assert_eq!(at("0.0.0.0:80").as_deref(), Some("0.0.0.0:80"));
        assert_eq!(at("[::1]:9464").as_deref(), Some("[::1]:9464"));
        for wrong in [
            "",
            ":9464",
            "here",
            "70000",
            "127.0.0.1",
            "example.org:9464",
            "-1",
        ] {
            let said = read(wrong).unwrap_err().to_string();
            assert!(
                said.contains("such as 9464") && !said.contains('\n'),
                "{said}"
            );
        }
    }
}
