//! Addresses that belong to the public Internet.

use std::net::{IpAddr, Ipv4Addr};

/// Returns true for an address of the public Internet, and false for those of one's own networks:
/// loopback, private, link-local with the metadata services of clouds, shared, multicast, reserved
/// and documentation (IANA's registries of special-purpose addresses, RFC 6890). An IPv4 address
/// within an IPv6 one (mapped, or by NAT64) is judged as such; 6to4 and Teredo are not public.
///
/// ```
/// use bankrail_http::__private::is_public;
/// assert!(is_public("1.1.1.1".parse().unwrap()));
/// assert!(!is_public("::ffff:169.254.169.254".parse().unwrap()));
/// ```
#[must_use]
pub fn is_public(address: IpAddr) -> bool {
    let address = match address {
        IpAddr::V4(address) => return is_public_v4(address),
        IpAddr::V6(address) => address,
    };
    if let Some(mapped) = address.to_ipv4_mapped() {
        return is_public_v4(mapped);
    }
    match address.segments() {
        [0x64, 0xff9b, 0, 0, 0, 0, high, low] => {
            is_public_v4(Ipv4Addr::from((u32::from(high) << 16) | u32::from(low)))
        }
        [0x2001, 0..=0x1ff | 0xdb8, ..] | [0x2002, ..] | [0x3fff, 0..=0xfff, ..] => false,
        [first, ..] => (0x2000..=0x3fff).contains(&first),
    }
}

fn is_public_v4(address: Ipv4Addr) -> bool {
    !matches!(
        address.octets(),
        [0 | 10 | 127 | 224..=255, ..]
            | [100, 64..=127, ..]
            | [169, 254, ..]
            | [172, 16..=31, ..]
            | [192, 168, ..]
            | [192, 0, 0 | 2, _]
            | [192, 88, 99, _]
            | [198, 18 | 19, ..]
            | [198, 51, 100, _]
            | [203, 0, 113, _]
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_addresses_of_the_internet_are_public() {
        let of = |text: &str| is_public(text.parse().unwrap());
        for public in [
            "1.1.1.1",
            "100.63.255.255",
            "172.32.0.1",
            "192.0.1.1",
            "223.255.255.255",
            "2606:4700::1111",
            "::ffff:1.1.1.1",
            "64:ff9b::101:101",
            "2001:200::1",
        ] {
            assert!(of(public), "{public}");
        }
        for own in [
            "0.0.0.0",
            "10.1.2.3",
            "100.64.0.1",
            "127.1.2.3",
            "169.254.169.254",
            "172.16.0.1",
            "172.31.255.255",
            "192.0.0.192",
            "192.168.0.1",
            "198.19.0.1",
            "224.0.0.1",
            "255.255.255.255",
            "::",
            "::1",
            "::127.0.0.1",
            "::ffff:127.0.0.1",
            "::ffff:169.254.169.254",
            "64:ff9b::a9fe:a9fe",
            "64:ff9b:1::1",
            "2001::1",
            "2001:db8::1",
            "2002:7f00:1::",
            "fd00:ec2::254",
            "fe80::1",
            "ff02::1",
        ] {
            assert!(!of(own), "{own}");
        }
    }
}
