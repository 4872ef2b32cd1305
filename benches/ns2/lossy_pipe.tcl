# The lossy pipe (scenarios/lossy-pipe.toml) in ns-2, with its one-way TCP. Prints one line of JSON.
#
#   ns lossy_pipe.tcl loss 0.01 delack 2 flows 1 seed 1
#
# The link is 10 Mbit/s and 100 packets of queue for every flow, so that flows meet the same
# conditions however many there are.

array set setting {
    loss 0 delack 1 flows 1 seed 1 seconds 120 sack 1 rate_per_flow 10e6 queue_per_flow 100
}
foreach {key value} $argv {
    if {![info exists setting($key)]} {
        puts stderr "lossy_pipe.tcl: unknown setting \"$key\": one of [lsort [array names setting]]"
        exit 2
    }
    set setting($key) $value
}
set mss 1448
set flows $setting(flows)
set delay 25ms
set window_segments [expr 8000000 / $mss]

# All words of the generator's state are the seed: from 1 to 5 its first draw is below 0.002, and the
# very first packet would be lost in every run.
ns-random [expr 1000 + $setting(seed)]
set ns [new Simulator]

Agent/TCP set useHeaders_ true
Agent/TCP set tcpip_base_hdr_size_ 40
Agent/TCP set timestamps_ true
Agent/TCP set packetSize_ $mss
Agent/TCP set tcpTick_ 0.001
Agent/TCP set minrto_ 0.2
Agent/TCP set windowInitOption_ 1
Agent/TCP set windowInit_ 10
Agent/TCP set window_ $window_segments
Agent/TCP set maxcwnd_ 0
Agent/TCPSink/DelAck set interval_ 40ms
Agent/TCPSink/Sack1/DelAck set interval_ 40ms

set sender [$ns node]
set receiver [$ns node]
set rate [expr $setting(rate_per_flow) * $flows]
$ns duplex-link $sender $receiver $rate $delay DropTail
$ns queue-limit $sender $receiver [expr $setting(queue_per_flow) * $flows]
$ns queue-limit $receiver $sender 100000

# Losses of data only, after the queue.
set losses [new ErrorModel]
$losses unit pkt
$losses set rate_ $setting(loss)
$losses ranvar [new RandomVariable/Uniform]
$losses drop-target [new Agent/Null]
if {$setting(loss) > 0} {
    $ns link-lossmodel $losses $sender $receiver
}

set agent [expr {$setting(sack) ? "Agent/TCP/Sack1" : "Agent/TCP/Newreno"}]
set sink [expr {$setting(sack) ? "Agent/TCPSink/Sack1" : "Agent/TCPSink"}]
if {$setting(delack) == 2} {
    append sink "/DelAck"
}
for {set i 0} {$i < $flows} {incr i} {
    set tcp($i) [new $agent]
    $ns attach-agent $sender $tcp($i)
    set end [new $sink]
    $ns attach-agent $receiver $end
    $ns connect $tcp($i) $end
    set ftp [$tcp($i) attach-app FTP]
    # Starts spread over one round trip.
    $ns at [expr 0.05 * $i / $flows] "$ftp start"
}

proc finish {} {
    global flows tcp began setting mss
    set wall_s [expr ([clock microseconds] - $began) / 1e6]
    set delivered 0
    set timeouts 0
    set repeated 0
    for {set i 0} {$i < $flows} {incr i} {
        incr delivered [expr int([$tcp($i) set ack_]) + 1]
        incr timeouts [expr int([$tcp($i) set nrexmit_])]
        incr repeated [expr int([$tcp($i) set nrexmitpack_])]
    }
    set goodput [expr $delivered * $mss * 8.0 / $setting(seconds)]
    puts [format {{"peer": "ns-2.35", "loss": %s, "delack": %d, "flows": %d, "seed": %d,\
        "sack": %s, "delivered_packets": %d, "wall_s": %.6f, "simulated_s": %s,\
        "goodput_bps": %.0f, "timeouts": %d, "retransmitted": %d}} \
        $setting(loss) $setting(delack) $flows $setting(seed) \
        [expr {$setting(sack) ? "true" : "false"}] $delivered $wall_s $setting(seconds) \
        $goodput $timeouts $repeated]
    exit 0
}

# The clock starts with the first event, when all is set up.
$ns at 0.0 {set began [clock microseconds]}
$ns at $setting(seconds) finish
$ns run
