import type { ReadTrace } from '../conformance/traces/corpus/facts.ts'
import { drained, type WeirProcess } from '../support/servers/server.ts'

/** All traces of the project, once everything that was acknowledged is stored. */
export async function readProject(weir: Pick<WeirProcess, 'json'>, name: string): Promise<ReadTrace[]> {
  await drained(weir)
  const projects = await weir.json<{ id: string }[]>(`/api/v1/sessions?name=${encodeURIComponent(name)}`)
  const session = projects.map(({ id }) => id)
  if (session.length === 0) return []
  const { runs } = await weir.json<{ runs: { trace_id: string }[] }>('/api/v1/runs/query', {
    session,
    limit: 100,
  })
  const ids = [...new Set(runs.map(({ trace_id }) => trace_id))]
  return await Promise.all(ids.map((id) => weir.json<ReadTrace>(`/api/v1/traces/${id}`)))
}
