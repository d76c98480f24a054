/** Maximum number of paths of one TraceRun, since a common word may occur at very many places. */
const MOST_PATHS = 20

interface Page {
  runs: ({ id: string } & Record<string, unknown>)[]
  cursors: { next: string | null }
}

/** Appends a key or an index to a path: `a.b[0]["odd key"]`. */
function below(path: string, key: string, isItem: boolean): string {
  if (isItem) return `${path}[${key}]`
  if (!/^[A-Za-z_$][\w$]*$/.test(key)) return `${path}[${JSON.stringify(key)}]`
  return path === '' ? key : `${path}.${key}`
}

/** Paths of the keys and values that contain a text, ignoring case; at most 20. */
export function pathsOf(value: unknown, text: string): string[] {
  const wanted = text.toLowerCase()
  const found: string[] = []
  const waiting: { path: string; value: unknown }[] = [{ path: '', value }]
  for (let next = waiting.pop(); next !== undefined && found.length < MOST_PATHS; next = waiting.pop()) {
    const { path, value: one } = next
    if (typeof one !== 'object' || one === null) {
      if (String(one).toLowerCase().includes(wanted)) found.push(path)
      continue
    }
    const isList = Array.isArray(one)
    const parts = Object.entries(one).map(([key, part]) => ({
      key,
      path: below(path, key, isList),
      value: part,
    }))
    for (const { key, path: of } of parts) if (!isList && key.toLowerCase().includes(wanted)) found.push(of)
    waiting.push(...parts.toReversed())
  }
  return [...new Set(found)].slice(0, MOST_PATHS)
}

/**
 * Converts a page of TraceRuns to NDJSON. Each line has the id of a TraceRun and the paths at which it contains the
 * text; the last line has the cursors.
 */
export function matchLines(page: Uint8Array, text: string): Uint8Array<ArrayBuffer> {
  const { runs, cursors } = JSON.parse(new TextDecoder().decode(page)) as Page
  const lines = runs.map(({ id, ...contents }) => ({ run_id: id, paths: pathsOf(contents, text) }))
  return new TextEncoder().encode([...lines, { cursors }].map((line) => `${JSON.stringify(line)}\n`).join(''))
}
