//! Windows, in every language and code page.

use crate::series::*;

/// Heading, reply up to the size, word and blank before the time, unit, time-outs, statistics.
pub const WINDOWS: [(&str, [&str; 6]); 13] = [
    (
        "English",
        [
            "Pinging 192.0.2.9 with 32 bytes of data:",
            "Reply from 192.0.2.9: bytes=32 time=",
            "ms",
            "Request timed out.",
            "Ping statistics for 192.0.2.9:",
            "    Packets: Sent = 300, Received = 276, Lost = 24 (8% loss),",
        ],
    ),
    (
        "German",
        [
            "Ping wird ausgeführt für 192.0.2.9 mit 32 Bytes Daten:",
            "Antwort von 192.0.2.9: Bytes=32 Zeit=",
            "ms",
            "Zeitüberschreitung der Anforderung.",
            "Ping-Statistik für 192.0.2.9:",
            "    Pakete: Gesendet = 300, Empfangen = 276, Verloren = 24\n    (8% Verlust),",
        ],
    ),
    (
        "French",
        [
            "Envoi d’une requête 'Ping'  192.0.2.9 avec 32 octets de données :",
            "Réponse de 192.0.2.9 : octets=32 temps=",
            " ms",
            "Délai d’attente de la demande dépassé.",
            "Statistiques Ping pour 192.0.2.9:",
            "    Paquets : envoyés = 300, reçus = 276, perdus = 24 (perte 8%),",
        ],
    ),
    (
        "Spanish",
        [
            "Haciendo ping a 192.0.2.9 con 32 bytes de datos:",
            "Respuesta desde 192.0.2.9: bytes=32 tiempo=",
            "ms",
            "Tiempo de espera agotado para esta solicitud.",
            "Estadísticas de ping para 192.0.2.9:",
            "    Paquetes: enviados = 300, recibidos = 276, perdidos = 24\n    (8% perdidos),",
        ],
    ),
    (
        "Italian",
        [
            "Esecuzione di Ping 192.0.2.9 con 32 byte di dati:",
            "Risposta da 192.0.2.9: byte=32 durata=",
            "ms",
            "Richiesta scaduta.",
            "Statistiche Ping per 192.0.2.9:",
            "    Pacchetti: Trasmessi = 300, Ricevuti = 276,\n    Persi = 24 (8% persi),",
        ],
    ),
    (
        "Portuguese",
        [
            "Disparando 192.0.2.9 com 32 bytes de dados:",
            "Resposta de 192.0.2.9: bytes=32 tempo=",
            "ms",
            "Esgotado o tempo limite do pedido.",
            "Estatísticas do Ping para 192.0.2.9:",
            "    Pacotes: Enviados = 300, Recebidos = 276, Perdidos = 24 (8% de\n             perda),",
        ],
    ),
    (
        "Polish",
        [
            "Badanie 192.0.2.9 z 32 bajtami danych:",
            "Odpowiedź z 192.0.2.9: bajtów=32 czas=",
            "ms",
            "Upłynął limit czasu żądania.",
            "Statystyka badania ping dla 192.0.2.9:",
            "    Pakiety: Wysłane = 300, Odebrane = 276, Utracone = 24\n             (8% straty),",
        ],
    ),
    (
        "Swedish",
        [
            "Skickar ping-signal till 192.0.2.9 med 32 byte data:",
            "Svar från 192.0.2.9: byte=32 tid=",
            "ms",
            "Begäran gjorde timeout.",
            "Ping-statistik för 192.0.2.9:",
            "    Paket: Skickade = 300, mottagna = 276, förlorade = 24 (8 %).",
        ],
    ),
    (
        "Russian",
        [
            "Обмен пакетами с 192.0.2.9 по с 32 байтами данных:",
            "Ответ от 192.0.2.9: число байт=32 время=",
            "мс",
            "Превышен интервал ожидания для запроса.",
            "Статистика Ping для 192.0.2.9:",
            "    Пакетов: отправлено = 300, получено = 276, потеряно = 24\n    (8% потерь)",
        ],
    ),
    (
        "Chinese",
        [
            "正在 Ping 192.0.2.9 具有 32 字节的数据:",
            "来自 192.0.2.9 的回复: 字节=32 时间=",
            "ms",
            "请求超时。",
            "192.0.2.9 的 Ping 统计信息:",
            "    数据包: 已发送 = 300，已接收 = 276，丢失 = 24 (8% 丢失)，",
        ],
    ),
    (
        "Korean",
        [
            "Ping 192.0.2.9 32바이트 데이터 사용:",
            "192.0.2.9의 응답: 바이트=32 시간=",
            "ms",
            "요청 시간이 만료되었습니다.",
            "192.0.2.9에 대한 Ping 통계:",
            "    패킷: 보냄 = 300, 받음 = 276, 손실 = 24 (8% 손실),",
        ],
    ),
    (
        "Japanese",
        [
            "192.0.2.9 に ping を送信しています 32 バイトのデータ:",
            "192.0.2.9 からの応答: バイト数 =32 時間 =",
            "ms",
            "要求がタイムアウトしました。",
            "192.0.2.9 の ping 統計:",
            "    パケット数: 送信 = 300、受信 = 276、損失 = 24 (8% の損失)、",
        ],
    ),
    (
        "Turkish, a language of no list",
        [
            "192.0.2.9 adresine 32 bayt veri ile ping atılıyor:",
            "192.0.2.9 adresinden yanıt: bayt=32 süre=",
            "ms",
            "İstek zaman aşımına uğradı.",
            "192.0.2.9 için Ping istatistiği:",
            "    Paket: Giden = 300, Gelen = 276, Kaybolan = 24 (%8 kayıp),",
        ],
    ),
];

pub fn windows(words: [&str; 6], is_closed: bool, time_to_live: &str) -> String {
    let [heading, reply, unit, timed_out, statistics, counts] = words;
    let body = written(|_, rtt| match rtt {
        Some(tenths) => format!("{reply}{}{unit}{time_to_live}\r\n", tenths / 10),
        None => format!("{timed_out}\r\n"),
    });
    let end = format!("\r\n{statistics}\r\n{counts}\r\n").replace('\n', "\r\n");
    let end = if is_closed { end } else { String::new() };
    format!("\r\n{heading}\r\n{body}{end}")
}

/// The text as a console's code page has it: a byte or two for each letter that is not ASCII.
fn in_code_page(text: &str, bytes: usize) -> Vec<u8> {
    let mut encoded = Vec::new();
    for letter in text.chars() {
        if letter.is_ascii() {
            encoded.push(letter as u8);
            continue;
        }
        let number = u32::from(letter);
        encoded.push(0x81 + (number % 0x7d) as u8);
        if bytes == 2 {
            // Second bytes of GBK and Shift-JIS are ASCII letters at times.
            encoded.push(0x40 + (number / 0x7d % 0x3e) as u8);
        }
    }
    encoded
}

#[test]
fn windows_is_read_in_every_language_and_code_page() {
    for (language, words) in WINDOWS {
        for is_closed in [true, false] {
            let text = windows(words, is_closed, " TTL=57");
            assert_read(text.as_bytes(), language, 1000);
            for bytes in [1, 2] {
                assert_read(&in_code_page(&text, bytes), language, 1000);
            }
            let units: Vec<u16> = text.encode_utf16().collect();
            let utf_16: Vec<u8> = [0xff, 0xfe]
                .into_iter()
                .chain(units.iter().flat_map(|unit| unit.to_le_bytes()))
                .collect();
            assert_read(&utf_16, language, 1000);
        }
        // Over IPv6 it prints neither size nor time to live.
        let (reply, time) = words[1].split_once("=32 ").unwrap();
        let (from, _) = reply.split_once(": ").unwrap();
        let reply = format!("{from}: {time}");
        let [heading, _, unit, timed_out, statistics, counts] = words;
        let bare = [heading, &reply, unit, timed_out, statistics, counts];
        let six = windows(bare, true, "").replace("192.0.2.9", "2001:db8::9");
        assert_read(six.as_bytes(), language, 1000);
    }
}

#[test]
fn two_runs_of_windows_are_both_counted() {
    for (language, words) in WINDOWS {
        let twice = windows(words, true, " TTL=57").repeat(2);
        let log = read(twice.as_bytes(), language);
        assert_eq!((log.numbered(), log.lost()), (600, 48), "{language}");
    }
}
