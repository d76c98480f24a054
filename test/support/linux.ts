/** The reason to skip tests that read /proc, for their titles; '' on Linux. */
export function withoutLinux(): string {
  return process.platform === 'linux' ? '' : ' (needs /proc of Linux)'
}
