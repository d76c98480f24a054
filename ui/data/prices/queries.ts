import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { call, type Reply } from '../../api/call.ts'
import type { ModelPricePreviewRequest, ModelPriceWrite } from '../../api/platform.gen.ts'
import { readAll } from '../../api/all-pages.ts'
import type { Overriding } from '../settings/organization.ts'
import type { OwnPrice } from './own-price.ts'

const PRICES = ['prices'] as const
const UNPRICED = ['unpriced-models'] as const
const REPRICE = 'reprice'
const JOB_EVERY_MS = 1000

/** The price that a run would have, and the data of the shipped prices. */
export type PriceLookup = Reply<'GET /api/v1/model-price-map/lookup'>

/** The run for which a price is looked up: texts of the address, '' for a missing text. */
export interface PricedRun {
  model: string
  provider: string
  /** ISO time; '' is now. */
  at: string
  /** Tokens of the prompt. */
  tokens: string
}

export function useOwnPrices() {
  return useQuery({
    queryKey: [...PRICES, 'own'],
    queryFn: ({ signal }) => readAll<OwnPrice>('GET /api/v1/model-price-map', { signal }),
  })
}

/** The price of a run; not loaded without a model. */
export function usePriceLookup({ model, provider, at, tokens }: PricedRun) {
  return useQuery({
    queryKey: [...PRICES, 'lookup', model, provider, at, tokens],
    queryFn: ({ signal }) =>
      call('GET /api/v1/model-price-map/lookup', {
        query: {
          model,
          provider: provider || undefined,
          at: at || undefined,
          prompt_tokens: tokens || undefined,
        },
        signal,
      }),
    enabled: model !== '',
  })
}

const SEEN_MS = 30 * 86_400_000
const MOST_UNPRICED = 20

/** The models of the last 30 days that had no price, with the number of their calls. */
export function useUnpricedModels() {
  return useQuery({
    queryKey: UNPRICED,
    queryFn: ({ signal }) => {
      const start_time = new Date(Date.now() - SEEN_MS).toISOString()
      const body = {
        field: 'model',
        filter: 'eq(issue, "no_price")',
        start_time,
        limit: MOST_UNPRICED,
      } as const
      return call('POST /api/v1/runs/facets', { body, signal })
    },
  })
}

/** Adds, replaces and removes own prices. */
export function usePriceChanges() {
  const queries = useQueryClient()
  const onSuccess = async (): Promise<void> => {
    // The request reads many runs, so a dialog does not wait for it.
    void queries.invalidateQueries({ queryKey: UNPRICED })
    await queries.invalidateQueries({ queryKey: PRICES })
  }
  const save = useMutation({
    mutationFn: ({ id, override, body }: Partial<Overriding> & { body: ModelPriceWrite }) =>
      id === undefined
        ? call('POST /api/v1/model-price-map', { body })
        : call('PUT /api/v1/model-price-map/{id}', { params: { id }, query: { override }, body }),
    onSuccess,
  })
  const remove = useMutation({
    mutationFn: ({ id, override }: Overriding) =>
      call('DELETE /api/v1/model-price-map/{id}', { params: { id }, query: { override } }),
    onSuccess,
  })
  return { save, remove }
}

/** The effect of computing costs again after a change of prices. */
export type PricePreview = Reply<'POST /api/v1/model-price-map/preview'>

/** A change of prices to preview. Without a range, the last 30 days are compared. */
export type PreviewAsked = Omit<ModelPricePreviewRequest, 'start_time' | 'end_time'> &
  Partial<Pick<ModelPricePreviewRequest, 'start_time' | 'end_time'>>

/** Requests a preview of a change of prices; nothing is stored. */
export function usePricePreview() {
  return useMutation({
    mutationFn: (change: PreviewAsked) => {
      const now = Date.now()
      const start_time = new Date(now - SEEN_MS).toISOString()
      // The end is a minute ahead, so that calls of this moment are in the range.
      const end_time = new Date(now + 60_000).toISOString()
      return call('POST /api/v1/model-price-map/preview', { body: { start_time, end_time, ...change } })
    },
  })
}

/** Starts the job that computes the costs of runs between two times again, and reads its state until it has ended. */
export function useReprice() {
  const queries = useQueryClient()
  const start = useMutation({
    mutationFn: (range: { start_time: string; end_time: string }) =>
      call('POST /api/v1/runs/reprice', { body: range }),
  })
  const job_id = start.data?.job_id ?? ''
  const job = useQuery({
    queryKey: [REPRICE, job_id],
    queryFn: async ({ signal }) => {
      const found = await call('GET /api/v1/runs/reprice/{job_id}', { params: { job_id }, signal })
      // Most pages show costs, so all other data is read again.
      if (found.status === 'done')
        void queries.invalidateQueries({ predicate: ({ queryKey: [kind] }) => kind !== REPRICE })
      return found
    },
    enabled: job_id !== '',
    refetchInterval: ({ state }) =>
      state.data?.status === 'done' || state.data?.status === 'failed' ? false : JOB_EVERY_MS,
  })
  return { start, job }
}
