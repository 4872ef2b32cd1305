# An upload over 802.11b in ns-2: stations 1 m around an access point that is the receiver itself.
# Prints one line of JSON.
#
#   ns wlan_upload.tcl stations 5 seconds 20 seed 1
#
# There are no wired hosts behind the access point: ns-2 has less to do than airtcp and ns-3. The MAC
# stays in its ad-hoc mode; in AP-management mode ns-2.35 begins a hand-off after the third failure.

array set setting {stations 1 seed 1 seconds 20}
foreach {key value} $argv {
    if {![info exists setting($key)]} {
        puts stderr "wlan_upload.tcl: unknown setting \"$key\": one of [lsort [array names setting]]"
        exit 2
    }
    set setting($key) $value
}
set mss 1448
set stations $setting(stations)
ns-random [expr 1000 + $setting(seed)]
set ns [new Simulator]
set topology [new Topography]
$topology load_flatgrid 100 100
create-god [expr $stations + 1]
# Mobile nodes want a trace, also when they trace nothing.
$ns trace-all [open /dev/null w]

Agent/TCP set useHeaders_ true
Agent/TCP set tcpip_base_hdr_size_ 40
Agent/TCP set timestamps_ true
Agent/TCP set packetSize_ $mss
Agent/TCP set tcpTick_ 0.001
Agent/TCP set minrto_ 0.2
Agent/TCP set windowInitOption_ 1
Agent/TCP set windowInit_ 10
Agent/TCP set window_ 6000
Agent/TCP set maxcwnd_ 0
Agent/TCPSink/Sack1/DelAck set interval_ 100ms
Mac/802_11 set dataRate_ 11Mb
Mac/802_11 set basicRate_ 1Mb
Mac/802_11 set PLCPDataRate_ 1Mb
Mac/802_11 set RTSThreshold_ 3000
Mac/802_11 set ShortRetryLimit_ 7
Mac/802_11 set LongRetryLimit_ 4

$ns node-config -adhocRouting DumbAgent -llType LL -macType Mac/802_11 \
    -ifqType Queue/DropTail -ifqLen 100 -antType Antenna/OmniAntenna \
    -propType Propagation/TwoRayGround -phyType Phy/WirelessPhy \
    -topoInstance $topology -channel [new Channel/WirelessChannel] \
    -agentTrace OFF -routerTrace OFF -macTrace OFF -movementTrace OFF

set access_point [$ns node]
$access_point set X_ 50.0
$access_point set Y_ 50.0
$access_point set Z_ 0.0
for {set i 0} {$i < $stations} {incr i} {
    set angle [expr 2 * 3.14159265 * $i / $stations]
    set mobile($i) [$ns node]
    $mobile($i) set X_ [expr 50.0 + cos($angle)]
    $mobile($i) set Y_ [expr 50.0 + sin($angle)]
    $mobile($i) set Z_ 0.0
    set tcp($i) [new Agent/TCP/Sack1]
    $ns attach-agent $mobile($i) $tcp($i)
    set end [new Agent/TCPSink/Sack1/DelAck]
    $ns attach-agent $access_point $end
    $ns connect $tcp($i) $end
    set ftp [$tcp($i) attach-app FTP]
    $ns at [expr 0.05 * $i / $stations] "$ftp start"
}

proc finish {} {
    global stations tcp began setting mss
    set wall_s [expr ([clock microseconds] - $began) / 1e6]
    set delivered 0
    for {set i 0} {$i < $stations} {incr i} {
        incr delivered [expr int([$tcp($i) set ack_]) + 1]
    }
    puts [format {{"peer": "ns-2.35", "stations": %d, "seed": %d, "delivered_packets": %d,\
        "wall_s": %.6f, "simulated_s": %s, "goodput_bps": %.0f}} $stations $setting(seed) \
        $delivered $wall_s $setting(seconds) [expr $delivered * $mss * 8.0 / $setting(seconds)]]
    exit 0
}

# The clock starts with the first event, when all is set up.
$ns at 0.0 {set began [clock microseconds]}
$ns at $setting(seconds) finish
$ns run
