//! The interfaces of WASI 0.2, one by one. Each look at one counts as a call of a host function.

use wasmtime::component::{HasData, Linker, ResourceTable};
use wasmtime_wasi::cli::{WasiCli, WasiCliView as _};
use wasmtime_wasi::clocks::{WasiClocks, WasiClocksView as _};
use wasmtime_wasi::filesystem::{WasiFilesystem, WasiFilesystemView as _};
use wasmtime_wasi::p2::bindings::{cli, clocks, filesystem, random, sockets};
use wasmtime_wasi::random::{WasiRandom, WasiRandomView as _};
use wasmtime_wasi::sockets::{WasiSockets, WasiSocketsView as _};
use wasmtime_wasi_io::bindings::wasi::io;

use super::clocks::Monotonic;
use crate::sandbox::store::Context;

/// What the interfaces of `wasi:io` work on.
struct Io;

impl HasData for Io {
    type Data<'a> = &'a mut ResourceTable;
}

macro_rules! interfaces {
    ($($name:literal => $module:path, $data:ty, $view:ident $(, $options:expr)?;)*) => {
        /// The names of all interfaces that can be offered.
        pub(super) const NAMES: &[&str] = &[$($name),*];

        /// Adds one interface to a linker, by its name without a version.
        pub(super) fn offer(linker: &mut Linker<Context>, name: &str) -> wasmtime::Result<()> {
            match name {
                $($name => {
                    use $module as interface;
                    interface::add_to_linker::<Context, $data>(
                        linker,
                        $($options,)?
                        |context| context.wasi().$view(),
                    )
                })*
                _ => Ok(()),
            }
        }
    };
}

interfaces! {
    "wasi:io/error" => io::error, Io, table;
    "wasi:io/poll" => io::poll, Io, table;
    "wasi:io/streams" => io::streams, Io, table;
    "wasi:clocks/wall-clock" => clocks::wall_clock, WasiClocks, clocks;
    "wasi:clocks/monotonic-clock" => clocks::monotonic_clock, Monotonic, monotonic;
    "wasi:random/random" => random::random, WasiRandom, random;
    "wasi:random/insecure" => random::insecure, WasiRandom, random;
    "wasi:random/insecure-seed" => random::insecure_seed, WasiRandom, random;
    "wasi:cli/environment" => cli::environment, WasiCli, cli;
    "wasi:cli/exit" => cli::exit, WasiCli, cli;
    "wasi:cli/stdin" => cli::stdin, WasiCli, cli;
    "wasi:cli/stdout" => cli::stdout, WasiCli, cli;
    "wasi:cli/stderr" => cli::stderr, WasiCli, cli;
    "wasi:cli/terminal-input" => cli::terminal_input, WasiCli, cli;
    "wasi:cli/terminal-output" => cli::terminal_output, WasiCli, cli;
    "wasi:cli/terminal-stdin" => cli::terminal_stdin, WasiCli, cli;
    "wasi:cli/terminal-stdout" => cli::terminal_stdout, WasiCli, cli;
    "wasi:cli/terminal-stderr" => cli::terminal_stderr, WasiCli, cli;
    "wasi:filesystem/preopens" => filesystem::preopens, WasiFilesystem, filesystem;
    "wasi:filesystem/types" => filesystem::types, WasiFilesystem, filesystem;
    "wasi:sockets/network" => sockets::network, WasiSockets, sockets, &sockets::network::LinkOptions::default();
    "wasi:sockets/instance-network" => sockets::instance_network, WasiSockets, sockets;
    "wasi:sockets/udp" => sockets::udp, WasiSockets, sockets;
    "wasi:sockets/udp-create-socket" => sockets::udp_create_socket, WasiSockets, sockets;
    "wasi:sockets/tcp" => sockets::tcp, WasiSockets, sockets;
    "wasi:sockets/tcp-create-socket" => sockets::tcp_create_socket, WasiSockets, sockets;
    "wasi:sockets/ip-name-lookup" => sockets::ip_name_lookup, WasiSockets, sockets;
}
