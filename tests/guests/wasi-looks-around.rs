//! Looks through WASI for anything of the host's: arguments, environment, folders, input, terminals, the
//! network, the time.
//!
//! There is nothing to find. What it does find it tells.

use hostile_guests::{Failure, Hostile, Report, Situation, hostile, unchanged};
use wasip2::cli::{environment, stdin, terminal_stderr, terminal_stdin, terminal_stdout};
use wasip2::clocks::wall_clock;
use wasip2::filesystem::preopens;
use wasip2::sockets::network::IpAddressFamily;
use wasip2::sockets::{instance_network, ip_name_lookup, tcp_create_socket, udp_create_socket};

struct LooksAround;

impl Hostile for LooksAround {
    fn compact(_: Situation, _: String) -> Result<Report, Failure> {
        let network = instance_network::instance_network();
        let found = [
            ("arguments", !environment::get_arguments().is_empty()),
            ("environment", !environment::get_environment().is_empty()),
            ("folder", environment::initial_cwd().is_some()),
            ("folders", !preopens::get_directories().is_empty()),
            ("input", stdin::get_stdin().blocking_read(1).is_ok()),
            ("terminal", terminal_stdin::get_terminal_stdin().is_some()),
            ("terminal", terminal_stdout::get_terminal_stdout().is_some()),
            ("terminal", terminal_stderr::get_terminal_stderr().is_some()),
            (
                "tcp",
                tcp_create_socket::create_tcp_socket(IpAddressFamily::Ipv4).is_ok(),
            ),
            (
                "udp",
                udp_create_socket::create_udp_socket(IpAddressFamily::Ipv6).is_ok(),
            ),
            (
                "names",
                ip_name_lookup::resolve_addresses(&network, "localhost").is_ok(),
            ),
            // No clock of a machine shows the year 2020 any more.
            ("time", wall_clock::now().seconds > 1_577_836_800),
        ];
        let found: Vec<&str> = found
            .iter()
            .filter(|(_, is)| *is)
            .map(|(what, _)| *what)
            .collect();
        if found.is_empty() {
            return unchanged("nothing".to_owned());
        }
        Err(Failure::Other(found.join(", ")))
    }
}

hostile!(LooksAround);
