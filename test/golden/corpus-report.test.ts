import { globSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { builtInProcessors } from '../../processors/index.ts'
import { NIL_UUID } from '../../src/base/ids.ts'
import type { ValidationReport } from '../../src/schema/types.gen.ts'
import { createEstimates } from '../../src/trace/tokens/estimator.ts'
import { createReport } from '../../src/trace/derive/report.ts'
import { createTokenizer } from '../../src/trace/tokens/tokenizer.ts'
import { readBody } from '../../src/trace/decode/validate-body.ts'

type ReportedRun = ValidationReport['runs'][number]

/** The expected facts about a run. Facts that are absent are not compared. */
interface Expected {
  name?: string
  run_type?: string
  provider?: string
  model?: string
  in?: number
  out?: number
  src?: string
}

const CORPUS = new URL('../corpus/', import.meta.url)
const context = { processors: builtInProcessors, startEstimate: createEstimates(createTokenizer()) }

function json(path: string): unknown {
  return JSON.parse(readFileSync(new URL(path, CORPUS), 'utf8'))
}

/** Routes for ingest whose bodies the report can read as they are. */
const isIngest = (url: string): boolean => /\/(runs\/multipart|v1\/traces)$/.test(url)

/** Makes one report on all ingest requests of a case. */
function reportOn(name: string): ValidationReport {
  const bodies = globSync(`${name}/request-*.headers.json`, { cwd: CORPUS }).flatMap((path) => {
    const request = json(path) as { url: string; headers: Record<string, string> }
    if (!isIngest(request.url)) return []
    const head = {
      kind: 'batch' as const,
      content_type: request.headers['content-type'] ?? '',
      content_encoding: request.headers['content-encoding'] ?? '',
      workspace_id: NIL_UUID,
      user_id: NIL_UUID,
      api_key_id: NIL_UUID,
      received_at: Date.UTC(2026, 10, 20),
      limits: { max_body_bytes: 1e8, max_parts: 25_000, max_part_bytes: 1e8 },
    }
    return [readBody(head, readFileSync(new URL(path.replace('.headers.json', '.body'), CORPUS)))]
  })
  return createReport(bodies, context)
}

function fits(run: ReportedRun, expected: Expected): boolean {
  const { input, output } = run.usage_source
  const pairs: [unknown, unknown][] = [
    [expected.name, run.name],
    [expected.run_type, run.run_type],
    [expected.provider, run.provider],
    [expected.model, run.model],
    [expected.in, run.input_tokens],
    [expected.out, run.output_tokens],
    [expected.src, output ?? input],
  ]
  return pairs.every(([wanted, found]) => wanted === undefined || wanted === found)
}

/** Every case that has such a request and expects runs. */
function cases(): { name: string; expected: Expected[] }[] {
  const names = globSync('*/expected.json', { cwd: CORPUS }).map((path) => path.split('/')[0]!)
  return names.sort().flatMap((name) => {
    const { expect: expected } = json(`${name}/expected.json`) as { expect: unknown }
    const requests = globSync(`${name}/request-*.headers.json`, { cwd: CORPUS })
    const isSent = requests.some((path) => isIngest((json(path) as { url: string }).url))
    return isSent && Array.isArray(expected) ? [{ name, expected: expected as Expected[] }] : []
  })
}

describe('INGEST-11: the validation report on bodies of real clients', () => {
  it('has cases from the corpus', () => {
    expect(cases().length).toBeGreaterThan(45)
  })

  it.each(cases())('$name', ({ name, expected }) => {
    const { runs, rejected } = reportOn(name)
    expect(rejected).toEqual([])
    const missing = expected.filter((wanted) => !runs.some((run) => fits(run, wanted)))
    expect(missing).toEqual([])
  })
})
