//! How much memory a process has, where the system tells.

/// The most that this process ever had, in MB.
pub(crate) fn peak() -> Option<f64> {
    read("self", "VmHWM:")
}

/// Returns the current memory of another process, in MB.
pub(crate) fn of(process: u32) -> Option<f64> {
    read(&process.to_string(), "VmRSS:")
}

fn read(process: &str, key: &str) -> Option<f64> {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix(key))?;
    let kilobytes: f64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kilobytes / 1024.0)
}
