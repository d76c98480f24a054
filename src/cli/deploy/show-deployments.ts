import { textTable } from '../terminal/text-table.ts'
import type { ApiClient } from '../server/api-client.ts'
import {
  type ShownDeployment,
  findDeployment,
  listDeployments,
  listRevisions,
  type ShownRevision,
} from './connection.ts'
import { secondsText, stepTimes } from './step-times.ts'

export async function showDeployments(api: ApiClient, asJson: boolean): Promise<number> {
  const found = await listDeployments(api)
  console.log(asJson ? JSON.stringify(found, null, 2) : deploymentTable(found))
  return 0
}

/** `weir deploy revisions NAME`. */
export async function showRevisions(
  api: ApiClient,
  { word, limit, asJson }: { word: string; limit: number; asJson: boolean },
): Promise<number> {
  const { id } = await findDeployment(api, word)
  const found = await listRevisions(api, id, limit)
  console.log(asJson ? JSON.stringify(found, null, 2) : revisionTable(found))
  return 0
}

const ISOLATION = {
  none: 'not isolated',
  uid: 'under a user id',
  sandbox: 'in a sandbox',
  container: 'in containers',
} as const

function deploymentTable(found: readonly ShownDeployment[]): string {
  const rows = found.map(({ id, name, source_config, status, weir, updated_at }) => [
    name,
    source_config.deployment_type,
    weir.managed_by === 'server' ? `${status}, of GRAPHS` : status,
    weir.active_revision === null ? '-' : String(weir.active_revision),
    `${weir.runtime}, ${ISOLATION[weir.isolation]}`,
    updated_at.slice(0, 19),
    id,
  ])
  return textTable(['NAME', 'TYPE', 'STATUS', 'REVISION', 'RUNTIME', 'UPDATED', 'ID'], rows)
}

function revisionTable(found: readonly ShownRevision[]): string {
  const rows = found.map(({ status, created_at, weir }) => {
    const from = weir.rolled_back_from === null ? '' : `as revision ${weir.rolled_back_from}`
    return [
      String(weir.number),
      weir.is_active ? 'SERVING' : status === 'DEPLOYED' ? 'REPLACED' : status,
      created_at.slice(0, 19),
      secondsText(stepTimes(weir.timings).total),
      weir.created_by,
      weir.error?.message ?? from,
    ]
  })
  return textTable(['NUMBER', 'STATUS', 'CREATED', 'TOOK', 'BY', ''], rows)
}
