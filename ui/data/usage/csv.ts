import type { Measure, Stride, UsageLine } from './lines.ts'

const HOUR_MS = 3_600_000
const SUMS: Partial<Record<Measure, string>> = {
  traces: 'Traces',
  tokens: 'Total Tokens',
  cost: 'Total Cost',
}

/** As the server's cells: text that a spreadsheet would read as a formula begins with a tab. */
function textCell(text: string): string {
  const safe = /^[=+\-@\t\r]/.test(text) ? `\t${text}` : text
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}

/** A report by a key of the metadata as CSV (RFC 4180). The value of traces without the key is empty. */
export function linesCsv(
  key: string,
  measure: Measure,
  { days, hours }: Stride,
  lines: readonly UsageLine[],
): string {
  const size = (days * 24 + hours) * HOUR_MS
  const header = ['Time Bucket Start', 'Time Bucket End', textCell(key), SUMS[measure] ?? '', 'Unpriced Runs']
  const rows = lines.map(({ time_bucket, dimensions, value, unpriced }) => {
    const start = Date.parse(time_bucket)
    const of = 'metadata_value' in dimensions ? (dimensions.metadata_value ?? '') : ''
    const times = [start, start + size].map((time) => new Date(time).toISOString().replace('.000Z', 'Z'))
    return [...times, textCell(of), value ?? '', String(unpriced)]
  })
  return [header, ...rows].map((row) => `${row.join(',')}\r\n`).join('')
}
