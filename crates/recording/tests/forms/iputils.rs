//! iputils in every language, and tcping.

use crate::series::*;

#[test]
fn iputils_is_read_in_every_language() {
    let zh = "已发送 300 个包， 已接收 276 个包, 8% packet loss, time 59880ms";
    let cases = [
        (
            "English",
            "64 bytes from 192.0.2.9: icmp_seq=N ttl=57 time=T ms",
            "300 packets transmitted, 276 received, 8% packet loss, time 59880ms",
        ),
        (
            "old",
            "64 bytes from 192.0.2.9: icmp_req=N ttl=57 time=T ms",
            "300 packets transmitted, 276 received, 8% packet loss, time 59880ms",
        ),
        (
            "French",
            "64 octets de 192.0.2.9 : icmp_seq=N ttl=57 temps=T ms",
            "300 paquets transmis, 276 reçus, 8% packet loss, time 59880ms",
        ),
        (
            "Chinese",
            "64 字节，来自 192.0.2.9: icmp_seq=N ttl=57 时间=T 毫秒",
            zh,
        ),
        (
            "Russian",
            "64 байта из 192.0.2.9: icmp_seq=N ttl=57 время=T мс",
            "300 пакетов передано, 276 получено, 8% потерь, время 59880мс",
        ),
        (
            "BSD",
            "64 bytes from 192.0.2.9: icmp_seq=N ttl=57 time=T ms",
            "300 packets transmitted, 276 packets received, 8.0% packet loss",
        ),
        (
            "hping3",
            "len=44 ip=192.0.2.9 ttl=57 DF id=0 sport=443 flags=SA seq=N win=64240 rtt=T ms",
            "300 packets transmitted, 276 packets received, 8% packet loss",
        ),
    ];
    for (name, reply, counts) in cases {
        let body = written(|number, rtt| {
            rtt.map_or_else(String::new, |tenths| {
                let line = reply.replace('N', &number.to_string());
                // The letter on its own, not within a word.
                format!("{}\n", line.replace("=T", &format!("={}", ms(tenths))))
            })
        });
        assert_read(body.as_bytes(), name, 100);
        let closed = format!("PING 192.0.2.9 (192.0.2.9) 56(84) x\n{body}\n--- x ---\n{counts}\n");
        assert_read(closed.as_bytes(), name, 100);
        let decimal_comma = closed.replace(".1 ", ",1 ").replace(".2 ", ",2 ");
        assert_read(decimal_comma.as_bytes(), name, 100);
    }
}

#[test]
fn tcping_is_read() {
    let windows = written(|_, rtt| match rtt {
        Some(tenths) => format!(
            "Probing 192.0.2.9:443/tcp - Port is open - time={}ms \n",
            ms(tenths)
        ),
        None => "Probing 192.0.2.9:443/tcp - No response - time=2000.0ms \n".to_owned(),
    });
    assert_read(windows.as_bytes(), "tcping", 100);
    let other = written(|number, rtt| match rtt {
        Some(tenths) => format!(
            "Reply from 192.0.2.9 (192.0.2.9) on port 443 TCP_conn={} time={} ms\n",
            number + 1,
            ms(tenths)
        ),
        None => "No reply from 192.0.2.9 (192.0.2.9) on port 443 TCP_conn=4\n".to_owned(),
    });
    assert_read(other.as_bytes(), "tcping of Go", 100);
}
