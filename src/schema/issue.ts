/**
 * One thing that is wrong, doubtful or worth knowing about a submitted item.
 * `error` fails the verdict it belongs to, `warning` does not, `info` only explains.
 */
export interface Issue {
  /** Stable snake_case code, e.g. `total_mismatch`; the list is in docs/issues.md. */
  code: string
  severity: 'error' | 'warning' | 'info'
  /** JSON path from the TraceRun's top, e.g. `outputs.choices[0].message.role`. */
  path: string
  /** What was found, in one sentence. */
  message: string
  /** How to mend it, in one sentence. */
  fix?: string
}

/** Joins two JSON path pieces: `joinPath('inputs', '[0].role')` is `inputs[0].role`. */
export function joinPath(base: string, rest: string): string {
  if (base === '' || rest === '') return base + rest
  return rest.startsWith('[') ? base + rest : `${base}.${rest}`
}
