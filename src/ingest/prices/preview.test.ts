import { describe, expect, it } from 'vitest'
import type { PreviewedRows } from '../../trace/price/reprice/preview-rows.ts'
import type { WorkerPool } from '../../worker-threads/worker-pool.ts'
import type { ListQuery, TraceStore } from '../store/trace-store.ts'
import type { PriceStore } from './price-store.ts'
import { createPricePreview, type PriceChange } from './preview.ts'

const WORKSPACE = '11111111-1111-4111-8111-111111111111'
const SCOPE = { start_time: 0, end_time: 1_000_000, project_ids: null }
const NOW: PriceChange = { fields: undefined, replaces: undefined }

/**
 * A preview over `count` TraceRuns, and the queries that it has read. The TraceRuns start one microsecond apart, and
 * the cost of each changes from 1 to 3.
 */
function previewOver(count: number) {
  const reads: ListQuery[] = []
  const store: Partial<TraceStore> = {
    list: async (_, query) => {
      reads.push(query)
      return new Uint8Array()
    },
  }
  const run = async (): Promise<PreviewedRows> => {
    const { after, limit } = reads.at(-1)!
    const left = after?.sort_time ?? count
    const changed = Math.min(limit, left)
    return {
      examined: changed,
      changed,
      cost_before: BigInt(changed),
      cost_after: BigInt(3 * changed),
      unpriced_before: 0,
      unpriced_after: 0,
      last: { sort_time: left - changed, run_id: '' },
    }
  }
  const preview = createPricePreview({
    store: store as TraceStore,
    lane: { run } as unknown as WorkerPool,
    prices: { list: async () => [] } as unknown as PriceStore,
  })
  return { reads, preview: (change = NOW) => preview(WORKSPACE, SCOPE, change, new AbortController().signal) }
}

describe('the preview of a change of prices (N18)', () => {
  it('adds up its pages', async () => {
    const { preview, reads } = previewOver(9_500)
    expect(await preview()).toMatchObject({
      examined: 9_500,
      cost_before: 9_500n,
      cost_after: 28_500n,
      examined_from: null,
    })
    expect(reads).toHaveLength(3)
  })

  it('ends after 100,000 runs and says where', async () => {
    const { preview } = previewOver(300_000)
    expect(await preview()).toMatchObject({ examined: 100_000, examined_from: 200_000 })
  })

  it('knows no change of a price that is not there', async () => {
    const change = { ...NOW, replaces: '22222222-2222-4222-8222-222222222222' }
    await expect(previewOver(1).preview(change)).rejects.toMatchObject({ code: 'not_found' })
  })
})
