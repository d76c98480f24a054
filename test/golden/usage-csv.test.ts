import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { parse } from 'csv-parse/sync'
import { describe, expect, it } from 'vitest'
import { createRegistry } from '../../src/schema/registry.ts'
import type { GranularUsage, UsageDetails } from '../../src/schema/types.gen.ts'
import { usageCsv, usageDetailsCsv } from '../../src/usage/report/csv.ts'
import { strideMillis } from '../../src/usage/report/stride.ts'
import { formatUsageTime } from '../../src/usage/report/time.ts'

const ROOT = new URL('./usage-csv/', import.meta.url)
const UPDATE = process.env['UPDATE_GOLDEN'] === '1'
const HEADER =
  'Time Bucket Start,Time Bucket End,Workspace ID,Workspace Name,Project ID,Project Name,User ID,User Email,API Key Short Key,Traces'
/** Texts that a spreadsheet may read as a formula (USAGE-11). */
const FORMULA = /^[=+\-@\t\r]/

const cases = readdirSync(ROOT)
  .filter((file) => file.endsWith('.json'))
  .map((file) => file.slice(0, -'.json'.length))

interface Case {
  kind: 'granular-usage' | 'usage-details'
  report: GranularUsage | UsageDetails
  csv: string
}

function readCase(name: string): Case {
  const report: unknown = JSON.parse(readFileSync(new URL(`${name}.json`, ROOT), 'utf8'))
  const kind = name.startsWith('details-') ? 'usage-details' : 'granular-usage'
  expect(createRegistry().check(kind, report)).toMatchObject({ ok: true })
  const csv =
    kind === 'usage-details' ? usageDetailsCsv(report as UsageDetails) : usageCsv(report as GranularUsage)
  return { kind, report: report as Case['report'], csv }
}

/** The expected content of a cell. Text that looks like a formula must have a tab in front of it. */
function cellOf(value: unknown): string {
  const text = value === null || value === undefined ? '' : String(value)
  return typeof value === 'string' && FORMULA.test(text) ? `\t${text}` : text
}

/** The expected content of the cell of a sum, or of units. */
function sumOf(sum: unknown): string {
  if (typeof sum !== 'object') return String(sum)
  return Object.entries(sum ?? {})
    .map(([unit, count]) => `${unit} ${count}`)
    .join('; ')
}

describe('USAGE-10, USAGE-11: reports as CSV', () => {
  it.each(cases)('%s is written byte for byte as recorded', (name) => {
    const { csv } = readCase(name)
    const file = new URL(`${name}.csv`, ROOT)
    if (UPDATE) writeFileSync(file, csv)
    expect(csv).toBe(readFileSync(file, 'utf8'))
  })

  it.each(cases)('%s is read back unchanged by a CSV library', (name) => {
    const { kind, report, csv } = readCase(name)
    const rows: Record<string, string>[] = parse(csv, { columns: true, record_delimiter: '\r\n' })
    expect(rows).toHaveLength(report.usage.length)
    for (const [i, line] of report.usage.entries()) {
      const end = formatUsageTime(Date.parse(line.time_bucket) + strideMillis(report.stride))
      const { time_bucket, dimensions, ...sums } = line
      // The base model follows from the model, and has no column.
      const { base_model: _base, ...columns } = { base_model: null, ...dimensions }
      const filled = Object.values(columns).map(cellOf)
      const cells = Object.entries(rows[i]!)
      const numbers = cells.slice(kind === 'granular-usage' ? 9 : 11).map(([, cell]) => cell)
      expect(cells.slice(0, 2)).toEqual([
        ['Time Bucket Start', time_bucket],
        ['Time Bucket End', end],
      ])
      expect(numbers).toEqual(Object.values(sums).map(sumOf))
      const groups = cells.slice(2, cells.length - numbers.length).map(([, cell]) => cell)
      expect(groups.filter((cell) => cell !== '')).toEqual(filled.filter((cell) => cell !== ''))
    }
  })

  it('has the header line and CRLF even without rows', () => {
    expect(readCase('empty').csv).toBe(`${HEADER}\r\n`)
    expect(readCase('workspace').csv.startsWith(`${HEADER}\r\n`)).toBe(true)
  })

  it('has no text cell that a spreadsheet would compute', () => {
    for (const name of cases) {
      const rows: string[][] = parse(readCase(name).csv, { record_delimiter: '\r\n' })
      for (const row of rows.slice(1)) {
        for (const cell of row.slice(0, 9)) expect(cell).not.toMatch(/^[=+\-@\r]/)
      }
    }
  })
})
