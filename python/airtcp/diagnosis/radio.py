"""Causes of stops on radios, and changes of the radio to try before any remedy of TCP."""

SCAN_S = (0.2, 15.0)
"""Stops of this length at regular times resemble a scan."""
SCAN_EVERY_S = (5.0, 900.0)
NEAR_S = 0.03
"""A shorter round trip is that of a radio link with little behind it."""

SCAN_ADVICE = (
    "To end the scans on Linux: bind the connection to its access point (`nmcli connection modify "
    'NAME 802-11-wireless.bssid BSSID`), or set `bgscan=""` in wpa_supplicant; close what lists '
    "networks or asks for a location. `iw event -t` prints each scan as it begins."
)
RADIO_ADVICE = (
    "Try the radio before any remedy of TCP. On Wi-Fi: `iw dev DEV set power_save off`, no scans "
    "in the background, another channel (`iw dev DEV survey dump` shows how busy it is), 5 GHz in "
    "place of 2.4, a newer driver or firmware. In a mobile network: another place, band or "
    "operator. Then measure again."
)
ROAMING_ADVICE = (
    "Where the device stays in one place, bind it to one access point (`nmcli connection modify "
    "NAME 802-11-wireless.bssid BSSID`); where it moves, fast transition (802.11r) on all of them "
    "shortens the gap. `iw event -t` prints each move."
)


def is_scan(length_s: float, every_s: float) -> bool:
    """Whether stops of this length and distance resemble a scan for other networks."""
    return SCAN_S[0] <= length_s <= SCAN_S[1] and SCAN_EVERY_S[0] <= every_s <= SCAN_EVERY_S[1]
