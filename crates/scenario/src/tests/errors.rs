//! Errors that users read.

use std::fmt::Write;
use std::path::Path;

use super::{Scenario, folder};

/// Scenarios that are refused, each for one reason.
const BAD: &[&str] = &[
    // No TOML.
    "duration = 10 s",
    "[link]\nrate = 10 Mbit/s # fast",
    "[link\nrate = \"10 Mbit/s\"",
    "duration = \"10 s\"\nduration = \"11 s\"",
    "= 5",
    "\u{0}\u{1}garbage",
    // Keys.
    "lnik.rate = \"10 Mbit/s\"",
    "link.losss.rate = 0.1",
    "link.loss.raet = 0.1",
    "[tcp]\nmin_rtt = \"1 s\"",
    "[tcp.delayed_ack]\nsegment = 1",
    "colour = \"red\"",
    "[wlan.outage]\nevery = \"5 s\"",
    // Types and units.
    "duration = 120",
    "duration = \"120\"",
    "duration = \"2 parsecs\"",
    "duration = \"0 s\"",
    "duration = \"31 days\"",
    "duration = \"721 h\"",
    "duration = \"-5 s\"",
    "link = 5",
    "link.rate = \"10 MB/s\"",
    "link.rate = \"0 bit/s\"",
    "link.rate = \"-10 Mbit/s\"",
    "link.rate = \"fast\"",
    "link.rate = 10000000",
    "link.delay = 25",
    "link.loss.rate = 1.2",
    "link.loss.rate = -0.1",
    "link.loss.rate = nan",
    "link.loss.rate = \"120 %\"",
    "link.loss.model = \"gilbert-eliott\"",
    "link.queue.packets = 0",
    "link.queue.packets = 2.5",
    "link.queue.bytes = \"10 seconds\"",
    "flows.count = 0",
    "flows.count = -3",
    "flows.count = 1000001",
    "flows.count = \"many\"",
    "flows.bytes = \"0 B\"",
    "flows.kind = \"sctp\"",
    "flows.kind = []",
    "flows.udp.rate = \"1 Mbit/s\"",
    "flows.kind = \"udp\"\nflows.ping.interval = \"1 s\"",
    "flows.scream.most = \"1 Mbit/s\"",
    "flows.kind = \"scream\"\nflows.scream.least = \"9 Mbit/s\"",
    "flows.kind = \"scream\"\nflows.scream.start = \"50 kbit/s\"",
    "flows.kind = \"scream\"\nflows.scream.size = \"1500 B\"",
    "flows.kind = \"udp\"\nflows.udp.on = \"1 s\"",
    "flows.kind = \"udp\"\nflows.udp.size = \"65508 B\"",
    "flows.kind = \"ping\"\nflows.bytes = \"1 MB\"",
    "flows.kind = [\"udp\", \"ping\"]\nflows.count = 2\ntraffic.application = \"ftp\"",
    "flows.tcp = []",
    "flows.tcp = { profile = \"linux\" }",
    "flows.tcp = [{}, { profil = \"linux\" }]",
    "flows.tcp = [{}, { mss = 65490 }]",
    "flows.tcp = [{ sack = false, dsack = true }]",
    "[tcp]\nsack = true\n[[flows.tcp]]\nsack = false\ndsack = true",
    "tcp.receive_window = \"auto\"",
    "tcp.pacing_shift = 32",
    "tcp.mss = 65496",
    "tcp.sack = 1",
    "tcp.sack = \"true\"",
    "tcp.profile = \"new-reno\"",
    "tcp.retransmission = \"selective\"",
    "tcp.rto_factor = 0",
    "tcp.rto_factor = inf",
    "tcp.rtt_mean_gain = 1.5",
    "tcp.max_window = 0",
    "topology = \"star\"",
    "name = 5",
    "remedies = \"sack\"",
    // Keys that contradict each other.
    "link = { rate = \"1 Mbit/s\", trace = { down = \"lte.down\" } }",
    "link = { rtt_log = { path = \"rtt.csv\" }, trace = { down = \"lte.down\" } }",
    "link = { rtt_log = { path = \"rtt.csv\" }, delay = \"1 ms\" }",
    "link = { rtt_log = { path = \"rtt.csv\" }, queue = { packets = 5 } }",
    "link = { rtt_model = { mean = \"1 s\" }, queue = { packets = 5 } }",
    "link = { rtt_model = { mean = \"1 s\" }, rtt_log = { path = \"rtt.csv\" } }",
    "link.rtt_model.mean = \"0 s\"",
    "topology = \"wlan\"\nwired.loss.rate = 2",
    "topology = \"wlan\"\nwired.loss = { rate = 0.1, counted = \"channel\" }",
    "link.rtt_model = { shape = \"spikes\", variation = 0.5 }",
    "link.rtt_model = { spike_share = 0.5 }",
    "link.rtt_model.autocorrelation = 1",
    "link = { trace = { down = \"lte.down\" }, reverse = { rate = \"1 Mbit/s\" } }",
    "link.trace.data = \"up\"\nlink.trace.down = \"lte.down\"",
    "link = { rate = \"unlimited\", delay = \"0 s\" }",
    "link.loss = { lost = 5 }",
    "link.loss = { model = \"block\" }",
    "link.loss = { model = \"block\", lost = 101 }",
    "link.loss = { model = \"gilbert-elliott\", good_to_bad = 0.1 }",
    "link.loss = { model = \"gilbert-elliott\", rate = 0.1 }",
    "link = { loss = { direction = \"both\" }, reverse = { loss = { rate = 0.1 } } }",
    "link.reverse.loss = { rate = 0.1, direction = \"acks\" }",
    // Stops, variation, queues.
    "link.stops = { working = \"1 s\" }",
    "link.stops = { process = \"random\", every = \"1 s\" }",
    "link.stops = { process = \"periodic\", every = \"1 s\", length = \"1 s\" }",
    "link.stops = { process = \"periodic\", working = \"1 s\" }",
    "link.stops = { process = \"recorded\" }",
    "link.stops = { process = \"recorded\", path = \"none.csv\" }",
    "link.stops = { process = \"recorded\", path = \"rtt.csv\" }",
    "link = { stops = { working = \"1 s\", length = \"1 s\" }, rate = \"unlimited\" }",
    "link = { stops = { working = \"1 s\", length = \"1 s\" }, trace = { down = \"lte.down\" } }",
    "[link]\nstops = { working = \"1 s\", length = \"1 s\" }\n\
     suspension = { every = \"2 s\", length = \"1 s\" }",
    "link = { stops = { working = \"1 s\", length = \"1 s\" }, rtt_log = { path = \"rtt.csv\" } }",
    "link.stops.working = \"1 us\"",
    "link.jitter = { shape = \"uniform\" }",
    "link.jitter = { mean = \"0 s\" }",
    "link.late = { share = 1.5, by = \"1 ms\" }",
    "link.late = { share = 0.1 }",
    "link = { recorded = { path = \"link.csv\" }, delay = \"1 ms\" }",
    "link = { recorded = { path = \"link.csv\" }, loss = { rate = 0.1 } }",
    "link = { recorded = { path = \"link.csv\" }, lost_packets = { path = \"lost.csv\" } }",
    "link = { recorded = { path = \"link.csv\" }, reverse = { loss = { rate = 0.1 } } }",
    "link.recorded.path = \"lost.csv\"",
    "link = { lost_packets = { path = \"lost.csv\" }, loss = { rate = 0.1 } }",
    "[link]\nloss = { rate = 0.1, direction = \"both\" }\n\
     reverse.lost_packets.path = \"lost.csv\"",
    "link.lost_packets.path = \"stops.csv\"",
    "link.aqm = { discipline = \"red\" }",
    "link.aqm = { discipline = \"codel\", queues = 5 }",
    "link.aqm = { discipline = \"drop-tail\", target = \"5 ms\" }",
    "link.aqm = { target = \"100 ms\" }",
    "link.aqm.queues = 0",
    "link.aqm.quantum = 100",
    "link.policer = { rate = \"10 Mbit/s\" }",
    "link.policer = { rate = \"10 Mbit/s\", burst = 10 }",
    "link = { policer = { rate = \"1 Mbit/s\", burst = \"9 kB\" }, rtt_log = { path = \"rtt.csv\" } }",
    "topology = \"wlan\"\nwlan.aqm = { discipline = \"codel\" }",
    "tcp.ecn = \"on\"",
    "tcp = { sack = false, dsack = true }",
    "tcp.max_rto = \"100 ms\"",
    "tcp.initial_rto = \"3 min\"",
    "tcp.mss = 65490",
    "flows.access_delay = [\"5 ms\"]",
    "topology = \"dumbbell\"\nflows.access_delay = []",
    "topology = \"dumbbell\"\nflows.access_delay = [\"5 ms\", \"5\"]",
    "flows.start_spread = \"61 s\"",
    // Remedies.
    "remedies = [\"sack\", \"sak\"]",
    "remedies = [\"rto-factor:factor=5000000\"]",
    "remedies = [\"sack\", \"tahoe\"]",
    "remedies = [\"queue:packets=5\"]\nlink.rtt_log.path = \"rtt.csv\"",
    // Files.
    "link.trace.down = \"none.down\"",
    "link.trace = { down = \"lte.down\", light.up = \"light\" }",
    "link.trace = { down = \"lte.down\", light.down = \"rtt.csv\" }",
    "link.trace = { down = \"lte.down\", light.down = \"lte.up\" }",
    "link.trace.down = \"\"",
    "link.trace.down = \"empty\"",
    "link.trace.down = \"bad.down\"",
    "link.trace.down = \"rtt.csv\"",
    "link.trace.down = \".\"",
    "link.rtt_log.path = \"empty\"",
    "link.rtt_log.path = \"bad.down\"",
    "link.rtt_log.path = \"zero.csv\"",
    "link.rtt_log.order = \"in-order\"",
];

/// Scenarios of the wireless half that are refused, each for one reason.
const BAD_WIRELESS: &[&str] = &[
    // Tables of another topology.
    "[wlan]\nrate = \"11 Mbit/s\"",
    "topology = \"wlan\"\n[link]\nrate = \"11 Mbit/s\"",
    "topology = \"wlan\"\n[arq]\n",
    "topology = \"arq\"\n[cell]\n",
    "topology = \"arq\"\n[selective_repeat]\n",
    "topology = \"dumbbell\"\n[wired]\ndelay = \"1 ms\"",
    // IEEE 802.11.
    "topology = \"wlan\"\nwlan.standard = \"802.11be\"",
    "topology = \"wlan\"\nwlan.rate = \"12 Mbit/s\"",
    "topology = \"wlan\"\nwlan.basic_rate = \"3 Mbit/s\"",
    "topology = \"wlan\"\n[wlan]\nrate = \"1 Mbit/s\"\nbasic_rate = \"2 Mbit/s\"",
    "topology = \"wlan\"\n[wlan]\nstandard = \"802.11a\"\npreamble = \"short\"",
    "topology = \"wlan\"\nwlan.retry_limit = 0",
    "topology = \"wlan\"\nwlan.retry_limit = \"infinite\"",
    "topology = \"wlan\"\nwlan.cw_min = 30",
    "topology = \"wlan\"\nwlan.cw_max = 1000",
    "topology = \"wlan\"\n[wlan]\ncw_min = 63\ncw_max = 31",
    "topology = \"wlan\"\nwlan.cw_min = 0",
    "topology = \"wlan\"\nwlan.stations = 0",
    "topology = \"wlan\"\nwlan.fragmentation_threshold = \"100 B\"",
    "topology = \"wlan\"\nwlan.outage = { every = \"1 s\", length = \"1 s\" }",
    "topology = \"wlan\"\n[wlan]\nloss.rate = 0.1\nradio.distance_m = 5",
    "topology = \"wlan\"\nwlan.station_rates = []",
    "topology = \"wlan\"\nwlan.station_rates = \"1 Mbit/s\"",
    "topology = \"wlan\"\nwlan.station_rates = [\"11 Mbit/s\", \"1 Mbit/s\"]",
    "topology = \"wlan\"\nwlan.station_rates = [\"12 Mbit/s\"]",
    "topology = \"wlan\"\nflows.count = 2\nwlan.station_rates = [\"11 Mbit/s\", \"3 Mbit/s\"]",
    "topology = \"wlan\"\nflows.count = 2\n[wlan]\nstation_rates = [\"11 Mbit/s\", \"1 Mbit/s\"]\n\
     basic_rate = \"2 Mbit/s\"",
    "topology = \"wlan\"\n[wlan]\nrate = \"2 Mbit/s\"\nstation_rates = [\"11 Mbit/s\"]",
    "topology = \"wlan\"\nwlan.hops = 0",
    "topology = \"wlan\"\nwlan.hops = 17",
    "topology = \"wlan\"\n[wlan]\nhops = 2\nradio.distance_m = 5",
    "topology = \"wlan\"\n[wlan]\nhops = 2\nstandard = \"802.11n\"",
    "topology = \"wlan\"\nwlan.station_retry_limits = []",
    "topology = \"wlan\"\nwlan.station_retry_limits = [0]",
    "topology = \"wlan\"\nwlan.station_retry_limits = [7, \"unlimited\"]",
    "link.loss.counted = \"channel\"",
    // The radio.
    "topology = \"wlan\"\nwlan.radio.distance_m = -3",
    "topology = \"wlan\"\nwlan.radio.distance_m = []",
    "topology = \"wlan\"\nwlan.radio.distance_m = \"near\"",
    "topology = \"wlan\"\nwlan.radio.carrier_mhz = 0",
    "topology = \"wlan\"\nwlan.radio.distance_between_m = [50, 10]",
    "topology = \"wlan\"\n[wlan.radio]\ndistance_m = 5\ndistance_between_m = [1, 2]",
    "topology = \"wlan\"\nwlan.radio.speed_m_per_s = 3",
    "topology = \"wlan\"\nwlan.radio.shadowing_db = -1",
    "topology = \"wlan\"\nwlan.radio.fading = \"rice\"",
    // The other media.
    "topology = \"arq\"\narq.retry_limit = 0",
    "topology = \"arq\"\narq.frame = \"0 B\"",
    "topology = \"arq\"\narq.loss.direction = \"acks\"",
    "topology = \"selective-repeat\"\nselective_repeat.retry_timeout = \"2 ms\"",
    "topology = \"selective-repeat\"\nselective_repeat.retry_limit = \"infinite\"",
    "topology = \"selective-repeat\"\nselective_repeat.window = 0",
    "topology = \"selective-repeat\"\n[selective_repeat]\nwindow = \"unlimited\"\n\
     window_counts = \"numbers\"",
    "topology = \"selective-repeat\"\nselective_repeat.window_counts = \"frames\"",
    "topology = \"selective-repeat\"\nselective_repeat.order = \"sorted\"",
    "topology = \"selective-repeat\"\nselective_repeat.loss.counted = \"station\"",
    "topology = \"selective-repeat\"\nselective_repeat.rate = \"0 bit/s\"",
    "topology = \"cell\"\nflows.count = 5000",
    "topology = \"cell\"\ncell.slot = \"0 s\"",
    "topology = \"cell\"\ncell.time_constant = 0.5",
    "topology = \"cell\"\n[cell]\nscheduler = \"max-rate\"\ntime_constant = 100",
    "topology = \"cell\"\ncell.bandwidth_mhz = 5",
    "topology = \"cell\"\ncell.layers = 2",
    "topology = \"cell\"\n[cell]\nstandard = \"lte\"\nslot = \"1 ms\"",
    "topology = \"cell\"\n[cell]\nstandard = \"lte\"\nbandwidth_mhz = 7",
    "topology = \"cell\"\n[cell]\nstandard = \"lte\"\nsubcarrier_spacing = \"30 kHz\"",
    "topology = \"cell\"\n[cell]\nstandard = \"lte\"\nlayers = 2",
    "topology = \"cell\"\n[cell]\nstandard = \"lte\"\ntdd_pattern = \"DU\"",
    "topology = \"cell\"\n[cell]\nstandard = \"lte\"\npdcp.reordering = \"1 s\"",
    "topology = \"cell\"\n[cell]\nstandard = \"lte\"\naqm = { discipline = \"cake\", rate = \"1 Mbit/s\" }",
    "topology = \"cell\"\n[cell]\nstandard = \"nr\"\nbandwidth_mhz = 1.4",
    "topology = \"cell\"\n[cell]\nstandard = \"nr\"\ntdd_pattern = \"DDD\"",
    "topology = \"cell\"\n[cell]\nstandard = \"nr\"\ncontrol_symbols = 2",
    "topology = \"cell\"\n[cell]\nstandard = \"nr\"\nouter_loop.target = 1",
    "topology = \"cell\"\n[cell]\nstandard = \"nr\"\nrlc = { mode = \"um\", window = 5 }",
    "topology = \"cell\"\n[cell]\nstandard = \"nr\"\ndrx = { on_duration = \"1 s\" }",
    "topology = \"cell\"\n[cell]\nstandard = \"nr\"\ndrx = { short_cycles = 3 }",
    "topology = \"cell\"\n[cell]\nstandard = \"nr\"\nhandover = { every = \"40 ms\" }",
    "topology = \"cell\"\n[cell]\nstandard = \"nr\"\nsessions.on = \"5 s\"",
    "topology = \"cell\"\ncell.sessions.on = \"5 s\"",
    "topology = \"cell\"\n[cell]\nstandard = \"nr\"\nrlc.mode = \"um\"\nhandover = { every = \"1 s\", lossless = true }",
    // The wired path, directions, applications.
    "topology = \"wlan\"\nwired.round_trip = { from = \"9 ms\", to = \"5 ms\" }",
    "topology = \"wlan\"\nwired.round_trip = { shape = \"normal\", from = \"5 ms\" }",
    "flows.direction = \"sideways\"",
    "flows.direction = []",
    "traffic.application = \"video\"",
    "traffic.mix = { ftp = 1.0 }",
    "traffic = { application = \"mix\", mix = { ftp = 0.5, http = 0.4 } }",
    "traffic = { application = \"http\", ftp = { size = \"1 MB\" } }",
    "traffic.application = \"ftp\"\nflows.bytes = \"1 MB\"",
    // Remedies without a part that they need.
    "remedies = [\"inf-retry\"]",
    "remedies = [\"ebsn\"]",
    "remedies = [\"dynamic-arq\"]",
    "remedies = [\"freeze-tcp\"]",
    "topology = \"cell\"\nremedies = [\"freeze-tcp\"]\n[cell]\nstandard = \"lte\"\n\
     handover.every = \"9 s\"\noutage = { every = \"5 s\", length = \"1 s\" }",
    "topology = \"dumbbell\"\nremedies = [\"snoop\"]",
    "topology = \"wlan\"\nremedies = [\"static-delay+random-delay\"]",
    "topology = \"wlan\"\nremedies = [\"delay-injection:factor=0\"]",
];

#[test]
fn texts_of_the_wireless_half() {
    let mut texts = String::new();
    for bad in BAD_WIRELESS {
        let error = match Scenario::parse(bad, "x.toml", Path::new("")) {
            Ok(_) => panic!("accepted: {bad}"),
            Err(error) => error.to_string(),
        };
        assert!(!error.contains('\n'), "more than a line: {error}");
        let error = &error["scenario ".len()..];
        writeln!(texts, "{}\n    {error}", bad.replace('\n', "⏎")).unwrap();
    }
    insta::assert_snapshot!(texts);
}

#[test]
fn texts() {
    let folder = folder();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    write("empty", "");
    write("bad.down", "1\n2\nthree\n");
    write("zero.csv", "rtt_ms\n0\n0\n");
    let mut texts = String::new();
    for bad in BAD {
        let error = match Scenario::parse(bad, "x.toml", folder.path()) {
            Ok(_) => panic!("accepted: {bad}"),
            Err(error) => error.to_string(),
        };
        assert!(error.starts_with("scenario \"x.toml\": "), "{error}");
        assert!(!error.contains('\n'), "more than a line: {error}");
        writeln!(
            texts,
            "{}\n    {}",
            bad.replace('\n', "⏎"),
            &error["scenario ".len()..]
        )
        .unwrap();
    }
    insta::assert_snapshot!(texts);
}

#[test]
fn texts_of_settings() {
    let settings = [
        ("link.loss.rate", "1.2"),
        ("link..rate", "1 Mbit/s"),
        ("", "5"),
        ("a.b.c.d.e.f.g.h.i.j", "5"),
        ("duration.more", "5 s"),
        ("link.rate.more", "5"),
        ("tcp.mss", "big"),
        ("tcp.sack", "yes"),
        ("tcp.sakc", "true"),
        ("duration", "5 s\nname = \"smuggled\""),
        ("link.trace.down", "no-such.down"),
        ("link.trace.down", ""),
    ];
    let mut texts = String::new();
    for (key, value) in settings {
        let pair = [(key.to_owned(), value.to_owned())];
        let folder = Path::new("/nonexistent");
        let error = Scenario::with_settings("duration = \"1 s\"", "x.toml", folder, &pair)
            .unwrap_err()
            .to_string()
            .replace(env!("CARGO_MANIFEST_DIR"), "HERE");
        writeln!(texts, "{key}={}\n    {error}", value.replace('\n', "⏎")).unwrap();
    }
    insta::assert_snapshot!(texts);
}

#[test]
fn a_text_that_is_long_makes_no_long_error() {
    for text in [
        format!("duration = {:?}", "x".repeat(100_000)),
        format!("{} = 5", "x".repeat(100_000)),
        format!("name = {}", "[".repeat(100_000)),
        format!("link.loss.rate = {}", "9".repeat(100_000)),
        format!("tcp.profile = {:?}", "x".repeat(100_000)),
        format!("remedies = [{:?}]", "x".repeat(100_000)),
        format!("link.trace.down = {:?}", "x".repeat(100_000)),
    ] {
        let error = Scenario::parse(&text, "x.toml", Path::new(""))
            .unwrap_err()
            .to_string();
        assert!(
            error.chars().count() < 600,
            "{} characters: {error:.300}",
            error.len()
        );
    }
}
