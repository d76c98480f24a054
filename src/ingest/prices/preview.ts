import { AppError } from '../../base/errors.ts'
import { newUuid } from '../../base/ids.ts'
import { type Filter, parseFilter } from '../../trace/filter/filter.ts'
import type { PriceEntry } from '../../trace/price/book.ts'
import { addPreviews, type PreviewedRows } from '../../trace/price/reprice/preview-rows.ts'
import type { WorkerPool } from '../../worker-threads/worker-pool.ts'
import type { LaneTasks } from '../lane-tasks.ts'
import type { TraceStore } from '../store/trace-store.ts'
import type { PriceFields, PriceStore } from './price-store.ts'
import type { RepriceScope } from './reprice-jobs.ts'

/**
 * A planned change of own prices: `fields` alone adds a price, `replaces` (the id of a price) alone removes it, both
 * replace a price. Without both, prices stay unchanged.
 */
export interface PriceChange {
  fields: PriceFields | undefined
  replaces: string | undefined
}

/** The effect of computing costs again after a change of prices. The sums are over the changed TraceRuns. */
export interface PreviewedCosts extends Omit<PreviewedRows, 'last'> {
  /** Epoch microseconds: TraceRuns before this time were not compared; null if all were compared. */
  examined_from: number | null
}

/**
 * Compares stored costs with the costs after a change of prices; stores nothing. @throws AppError not_found if
 * `replaces` is not a price of the workspace
 */
export type PricePreview = (
  workspace_id: string,
  scope: RepriceScope,
  change: PriceChange,
  gone: AbortSignal,
) => Promise<PreviewedCosts>

export interface PricePreviewDeps {
  store: TraceStore
  /** The lane that computes rows. */
  lane: WorkerPool
  prices: PriceStore
}

/** TraceRuns of one page: small enough that other reads run in between. */
const PAGE = 4_000
/** Maximum number of TraceRuns that one preview compares, newest first; some seconds on two cores. */
const MOST = 100_000

export function createPricePreview({ store, lane, prices }: PricePreviewDeps): PricePreview {
  const counted: Filter = parseFilter(
    'or(eq(run_type, "llm"), eq(run_type, "embedding"), eq(run_type, "retriever"))',
  )
  return async (workspace_id, { start_time, end_time, project_ids }, change, gone) => {
    const entries = changedEntries(workspace_id, await prices.list(workspace_id), change)
    const pages: PreviewedRows[] = []
    for (;;) {
      const after = pages.at(-1)?.last
      const rows = await store.list(workspace_id, {
        ...(project_ids && { project_ids }),
        filter: counted,
        start_time,
        end_time,
        order: 'desc',
        limit: PAGE,
        ...(after && { after }),
      })
      const input: LaneTasks['preview-prices']['input'] = { rows, entries }
      const page = await lane.run<LaneTasks['preview-prices']['output']>(
        { name: 'preview-prices', input },
        gone,
      )
      pages.push(page)
      const isWhole = page.examined < PAGE
      if (!isWhole && pages.length * PAGE < MOST) continue
      const { last, ...costs } = addPreviews(pages)
      return { ...costs, examined_from: isWhole ? null : last!.sort_time }
    }
  }
}

function changedEntries(
  workspace_id: string,
  present: readonly PriceEntry[],
  { fields, replaces }: PriceChange,
): PriceEntry[] {
  if (replaces !== undefined && !present.some(({ id }) => id === replaces)) {
    throw new AppError('not_found', { message: 'Model price not found' })
  }
  const kept = present.filter(({ id }) => id !== replaces)
  return fields === undefined ? kept : [...kept, { ...fields, workspace_id, id: replaces ?? newUuid() }]
}
