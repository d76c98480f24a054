import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { call } from '../../api/call.ts'
import type { Alert, AlertCreate, AlertUpdate } from '../../api/platform.gen.ts'

const ALERTS = 'alerts'
/** The server evaluates alerts each minute. */
const READ_EVERY_MS = 15_000

/** The alerts of the workspace, or of one project, by name. */
export function useAlerts(project?: string) {
  return useQuery({
    queryKey: [ALERTS, project],
    queryFn: async ({ signal }): Promise<Alert[]> =>
      await call('GET /api/v1/alerts', { query: project === undefined ? {} : { session: project }, signal }),
    refetchInterval: READ_EVERY_MS,
  })
}

/** Creates, changes and deletes alerts. */
export function useAlertChanges() {
  const queries = useQueryClient()
  const onSuccess = (): Promise<void> => queries.invalidateQueries({ queryKey: [ALERTS] })
  const create = useMutation({
    mutationFn: (body: AlertCreate) => call('POST /api/v1/alerts', { body }),
    onSuccess,
  })
  const update = useMutation({
    mutationFn: ({ id, ...body }: AlertUpdate & { id: string }) =>
      call('PATCH /api/v1/alerts/{id}', { params: { id }, body }),
    onSuccess,
  })
  const remove = useMutation({
    mutationFn: (id: string) => call('DELETE /api/v1/alerts/{id}', { params: { id } }),
    onSuccess,
  })
  return { create, update, remove }
}
