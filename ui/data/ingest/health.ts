import { keepPreviousData, useQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { call } from '../../api/call.ts'
import { useLive } from '../live/use-live.ts'

const KEY = ['ingest-health'] as const
const EVERY_MS = 2_000

/** The current time, updated every 2 s. */
function useClock(): Date {
  const [time, setTime] = useState(() => new Date())
  useEffect(() => {
    const timer = setInterval(() => setTime(new Date()), EVERY_MS)
    return () => clearInterval(timer)
  }, [])
  return time
}

/** The state of ingest from the live stream; without the stream it is read every 2 s. `at` is the time of the state. */
export function useIngestHealth() {
  const queries = useQueryClient()
  const state = useLive(['ingest'], { ingest: (health) => queries.setQueryData(KEY, health) })
  const health = useQuery({
    queryKey: KEY,
    queryFn: ({ signal }) => call('GET /api/v1/ingest/health', { signal }),
    placeholderData: keepPreviousData,
    refetchInterval: state === 'live' ? false : EVERY_MS,
  })
  const now = useClock()
  const read = new Date(health.dataUpdatedAt)
  // The stream sends the state only when it changes, so the last state still holds.
  return { health, at: state === 'live' && now > read ? now : read }
}
