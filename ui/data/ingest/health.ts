import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { call } from '../../api/call.ts'

const EVERY_MS = 2_000

/** The state of ingest, read every 2 s. */
export function useIngestHealth() {
  return useQuery({
    queryKey: ['ingest-health'],
    queryFn: ({ signal }) => call('GET /api/v1/ingest/health', { signal }),
    placeholderData: keepPreviousData,
    refetchInterval: EVERY_MS,
  })
}
