/**
 * Reads each of the processes every `everyMs` milliseconds. `read` gets the reading before of the same process, and
 * returns undefined when the process has ended. Returns a function that stops the readings.
 */
export function readEach<Reading>(
  processes: () => readonly { readonly pid: number }[],
  everyMs: number,
  read: (pid: number, before: Reading | undefined) => Reading | undefined,
): () => void {
  let readings = new Map<number, Reading>()
  const timer = setInterval(() => {
    const next = new Map<number, Reading>()
    for (const { pid } of processes()) {
      const found = read(pid, readings.get(pid))
      if (found !== undefined) next.set(pid, found)
    }
    readings = next
  }, everyMs).unref()
  return () => clearInterval(timer)
}
