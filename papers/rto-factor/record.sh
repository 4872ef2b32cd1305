#!/bin/sh
# Records traces/: the round trips that a ping of 1.5 kB, one at a time, meets on the downlink of a cell with
# a proportional-fair scheduler, path loss, shadowing and Jakes fading; and those of packets that are as many as
# trace-2.toml has in flight. Run it in the project's folder.
set -eu
record() { # name, speed in m/s, other users, packets in flight, seconds
    .venv/bin/airtcp run scenarios/cell.toml --set "duration=$5 s" \
        --set "cell.radio.speed_m_per_s=$2" --set "cell.saturated_users=$3" \
        --set "cell.radio.distance_between_m=[300,300]" \
        --set tcp.profile=ns2-newreno --set "tcp.max_window=$4" --set tcp.mss=1460 --set tcp.timestamps=true \
        --rtt-log "papers/rto-factor/traces/$1.all.csv"
    { echo rtt_ms; tail -n +2 "papers/rto-factor/traces/$1.all.csv" | awk -F, '{ printf "%.2f\n", $2 }'; } \
        > "papers/rto-factor/traces/$1.csv"
    rm "papers/rto-factor/traces/$1.all.csv"
}
record walking 0.83 7 1 1200
record driving 8.3 7 1 1200
record crowd 0.83 19 1 1200
record loaded 0.83 7 43 600
