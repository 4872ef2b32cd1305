/*
 * Fading of lte_cell: a file of gains, a line a ms, a column for each subband of each user.
 */
#pragma once

#include "ns3/core-module.h"
#include "ns3/mobility-module.h"
#include "ns3/network-module.h"
#include "ns3/spectrum-module.h"

#include <cstdint>
#include <fstream>
#include <map>
#include <string>
#include <vector>

using namespace ns3;

namespace
{

/** Gains of a file on the way between the base station and each user, the same both ways. */
class RecordedFading : public SpectrumPropagationLossModel
{
  public:
    static TypeId
    GetTypeId()
    {
        static TypeId id = TypeId("RecordedFading")
                               .SetParent<SpectrumPropagationLossModel>()
                               .AddConstructor<RecordedFading>();
        return id;
    }

    static void
    Read(const std::string& file, uint32_t subbands, double start)
    {
        std::ifstream lines(file);
        for (double gain; lines >> gain;)
        {
            s_gains.push_back(gain);
        }
        s_subbands = subbands;
        s_start = start;
    }

    static void
    Add(Ptr<Node> user)
    {
        const uint32_t place = s_places.size();
        s_places[user->GetObject<MobilityModel>()] = place;
    }

  private:
    Ptr<SpectrumValue>
    DoCalcRxPowerSpectralDensity(Ptr<const SpectrumSignalParameters> signal,
                                 Ptr<const MobilityModel> from,
                                 Ptr<const MobilityModel> to) const override
    {
        Ptr<SpectrumValue> power = Copy<SpectrumValue>(signal->psd);
        const double ms = (Simulator::Now() - Seconds(s_start)).GetSeconds() * 1e3;
        auto user = s_places.find(from);
        user = user == s_places.end() ? s_places.find(to) : user;
        if (ms < 0 || user == s_places.end())
        {
            return power;
        }
        // Rounding may leave a time just below its slot.
        const auto slot = static_cast<std::size_t>(ms + 1e-6);
        const std::size_t columns = s_places.size() * s_subbands;
        const std::size_t first = slot * columns + user->second * s_subbands;
        const uint32_t blocks = power->GetSpectrumModel()->GetNumBands();
        for (uint32_t block = 0; block < blocks; ++block)
        {
            (*power)[block] *= s_gains.at(first + block * s_subbands / blocks);
        }
        return power;
    }

    static std::vector<double> s_gains;
    static std::map<Ptr<const MobilityModel>, uint32_t> s_places;
    static uint32_t s_subbands;
    static double s_start;
};

std::vector<double> RecordedFading::s_gains;
std::map<Ptr<const MobilityModel>, uint32_t> RecordedFading::s_places;
uint32_t RecordedFading::s_subbands = 1;
double RecordedFading::s_start = 0;
NS_OBJECT_ENSURE_REGISTERED(RecordedFading);

} // namespace
