import { createHash } from 'node:crypto'
import { expect, it } from 'vitest'
import { eventually } from '../../test/support/eventually.ts'
import { testClock } from '../../test/support/faults/test-clock.ts'
import { AppError } from '../base/errors.ts'
import { newUuid, NIL_UUID } from '../base/ids.ts'
import { createLogger } from '../base/log.ts'
import { createMetrics } from '../base/metrics.ts'
import type { Blob, Decoded, RequestHead } from '../trace/decode/decoded.ts'
import { RANK, writeFragment } from '../trace/rows/fragment.ts'
import { RowWriter } from '../trace/rows/row-binary.ts'
import { createIngester, type IngesterDeps } from './create-ingester.ts'

const NONE = new Uint8Array(0)

function blobOf(text: string): Blob {
  const bytes = Buffer.from(text)
  return { sha256: createHash('sha256').update(bytes).digest('hex'), bytes }
}

/** A request that creates a root with an attachment for each blob. */
function decodedWith(blobs: readonly Blob[]): { decoded: Decoded; roots: string[] } {
  const rows = new RowWriter()
  const roots = blobs.map(({ sha256 }) => {
    const run_id = newUuid()
    writeFragment(rows, {
      workspace_id: NIL_UUID,
      run_id,
      rank: RANK.create,
      received_at: 0,
      project_id: NIL_UUID,
      user_id: NIL_UUID,
      api_key_id: NIL_UUID,
      head: Buffer.from(JSON.stringify({ id: run_id, trace_id: run_id })),
      inputs: NONE,
      outputs: NONE,
      events: NONE,
      extra: NONE,
      error: NONE,
      serialized: NONE,
      attachments: Buffer.from(JSON.stringify([{ name: 'note', sha256 }])),
    })
    return run_id
  })
  const decoded: Decoded = {
    rows: rows.finish(),
    count: blobs.length,
    projects: [],
    feedback_rows: NONE,
    feedback_count: 0,
    blobs: [...blobs],
    rejected: [],
    body_bytes: 1,
    truncated: false,
  }
  return { decoded, roots }
}

function setUp(decoded: Decoded, parts: Partial<IngesterDeps> & { append?: () => Promise<never> }) {
  const [put, noted]: [string[], string[]] = [[], []]
  const ingester = createIngester({
    decodeLane: { queued: 0, run: async () => decoded },
    projects: {},
    blobs: { put: async (blobs: readonly Blob[]) => void put.push(...blobs.map(({ sha256 }) => sha256)) },
    log: { append: parts.append ?? (async () => ({ segment: 1, offset: 1 })) },
    usage: { periods: [] },
    gate: undefined,
    rates: { take: async () => undefined },
    ack: 'log',
    deleted: {
      any: () => false,
      noteBlobs: async (sha256s: readonly string[]) => void noted.push(...sha256s),
    },
    logger: createLogger({ level: 'silent' }),
    metrics: createMetrics(),
    clock: testClock(),
    ...parts,
  } as unknown as IngesterDeps)
  const head = { kind: 'batch', workspace_id: NIL_UUID, received_at: 0 } as RequestHead
  return { put, noted, ingest: () => ingester.ingest(head, NONE) }
}

it('stores no attachments of traces that a limit refuses', async () => {
  const [kept, refused] = [blobOf('kept'), blobOf('refused')]
  const { decoded, roots } = decodedWith([kept, refused])
  const error = new AppError('usage_limit_reached')
  const { put, ingest } = setUp(decoded, {
    gate: {
      pass: async () => ({
        warnings: [],
        refused: { traces: new Set(roots.slice(1)), error },
        logged: () => undefined,
      }),
    },
  })
  await expect(ingest()).rejects.toBe(error)
  expect(put).toEqual([kept.sha256])
})

it('notes stored attachments as unused when the request cannot be logged', async () => {
  const blob = blobOf('lost')
  const full = new AppError('log_full')
  const { put, noted, ingest } = setUp(decodedWith([blob]).decoded, { append: () => Promise.reject(full) })
  await expect(ingest()).rejects.toBe(full)
  await eventually(async () => expect([put, noted]).toEqual([[blob.sha256], [blob.sha256]]))
})
