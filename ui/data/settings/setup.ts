import { useQuery } from '@tanstack/react-query'
import { call } from '../../api/call.ts'

/** What differs from the set-up file of the server; compared anew each time the page is opened, if `isAllowed`. */
export function useSetupFilePlan(isAllowed: boolean) {
  return useQuery({
    queryKey: ['setup-file'],
    queryFn: ({ signal }) => call('GET /api/v1/setup/file', { signal }),
    enabled: isAllowed,
    staleTime: 0,
  })
}
