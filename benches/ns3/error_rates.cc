/*
 * Errors of frames by signal-to-noise ratio in ns-3: the closed form for convolutional codes (NIST),
 * and the tables for LDPC, which are of link simulations (R. Patidar, S. Roy, T. Henderson & A.
 * Chandramohan, "Link-to-System Mapping for ns-3 Wi-Fi OFDM Error Models", WNS3 2017). HE modes of
 * one stream at 20 MHz; one line for each:
 *
 *   bcc|ldpc,mcs,SNR dB,bytes,chance that a frame is damaged
 */
#include "ns3/core-module.h"
#include "ns3/wifi-module.h"

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <string>

using namespace ns3;

int
main()
{
    Ptr<ErrorRateModel> nist = CreateObject<NistErrorRateModel>();
    Ptr<ErrorRateModel> table = CreateObject<TableBasedErrorRateModel>();
    for (uint32_t mcs = 0; mcs <= 11; ++mcs)
    {
        const WifiMode mode("HeMcs" + std::to_string(mcs));
        WifiTxVector vector;
        vector.SetMode(mode);
        vector.SetPreambleType(WIFI_PREAMBLE_HE_SU);
        vector.SetChannelWidth(20);
        vector.SetNss(1);
        vector.SetGuardInterval(800);
        for (uint32_t bytes : {32u, 1458u})
        {
            for (int step = -8; step <= 160; ++step)
            {
                const double db = step / 4.0;
                const double snr = std::pow(10.0, db / 10.0);
                vector.SetLdpc(false);
                const double bcc = 1 - nist->GetChunkSuccessRate(mode, vector, snr, 8 * bytes);
                vector.SetLdpc(true);
                const double ldpc = 1 - table->GetChunkSuccessRate(mode, vector, snr, 8 * bytes);
                // Where nearly all frames arrive, or hardly any, there is nothing to compare.
                if (bcc > 1e-6 && bcc < 0.999999)
                {
                    std::printf("bcc,%u,%.2f,%u,%.6g\n", mcs, db, bytes, bcc);
                }
                if (ldpc > 1e-6 && ldpc < 0.999999)
                {
                    std::printf("ldpc,%u,%.2f,%u,%.6g\n", mcs, db, bytes, ldpc);
                }
            }
        }
    }
    return 0;
}
