/*
 * Durations of PPDUs of 802.11n, ac and ax (HE SU) in ns-3. Prints one line for each case:
 *
 *   family,mcs,width MHz,streams,guard interval ns,bytes,duration ns
 *
 * and nothing for the combinations that ns-3 refuses.
 */
#include "ns3/core-module.h"
#include "ns3/wifi-module.h"

#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

using namespace ns3;

namespace
{

struct Family
{
    const char* name;
    const char* prefix;
    WifiPreamble preamble;
    uint8_t lastMcs;
    std::vector<uint16_t> widths;
    std::vector<uint16_t> guards;
    uint32_t mostBytes;
};

const std::vector<Family> kFamilies{
    {"ht", "HtMcs", WIFI_PREAMBLE_HT_MF, 7, {20, 40}, {400, 800}, 65535},
    {"vht", "VhtMcs", WIFI_PREAMBLE_VHT_SU, 9, {20, 40, 80, 160}, {400, 800}, 1048575},
    {"he", "HeMcs", WIFI_PREAMBLE_HE_SU, 11, {20, 40, 80, 160}, {800, 1600, 3200}, 4194303},
};

/** Lengths from a TCP ACK to the longest A-MPDU, by a fixed linear congruential generator. */
uint32_t
NextBytes(uint64_t& state, uint32_t most)
{
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    const uint32_t draw = static_cast<uint32_t>(state >> 33);
    // As many short ones as long ones: the number of bits is drawn first.
    const uint32_t bits = 6 + draw % 17;
    const uint32_t bytes = 1 + (draw / 17) % (1u << bits);
    return bytes > most ? bytes % most + 1 : bytes;
}

} // namespace

int
main()
{
    uint64_t state = 802;
    for (const Family& family : kFamilies)
    {
        for (uint16_t width : family.widths)
        {
            for (uint8_t streams = 1; streams <= 4; ++streams)
            {
                for (uint16_t guard : family.guards)
                {
                    for (uint8_t mcs = 0; mcs <= family.lastMcs; ++mcs)
                    {
                        // HT counts its MCS through the streams.
                        const uint32_t index =
                            family.preamble == WIFI_PREAMBLE_HT_MF ? mcs + 8 * (streams - 1) : mcs;
                        const WifiMode mode(family.prefix + std::to_string(index));
                        WifiTxVector vector;
                        vector.SetMode(mode);
                        vector.SetPreambleType(family.preamble);
                        vector.SetChannelWidth(width);
                        vector.SetNss(streams);
                        vector.SetGuardInterval(guard);
                        if (!mode.IsAllowed(vector))
                        {
                            continue;
                        }
                        for (int draw = 0; draw < 3; ++draw)
                        {
                            const uint32_t bytes = NextBytes(state, family.mostBytes);
                            const Time duration =
                                WifiPhy::CalculateTxDuration(bytes, vector, WIFI_PHY_BAND_5GHZ);
                            std::printf("%s,%u,%u,%u,%u,%u,%lld\n",
                                        family.name,
                                        mcs,
                                        width,
                                        streams,
                                        guard,
                                        bytes,
                                        static_cast<long long>(duration.GetNanoSeconds()));
                        }
                    }
                }
            }
        }
    }
    return 0;
}
