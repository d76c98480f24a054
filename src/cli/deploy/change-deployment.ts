import { createInterface } from 'node:readline/promises'
import { AppError } from '../../base/errors.ts'
import { type ApiClient, Refusal } from '../server/api-client.ts'
import { type ShownDeployment, findDeployment, listRevisions, type ShownRevision } from './connection.ts'
import { followRevision } from './follow-revision.ts'
import type { Progress } from './progress.ts'

/** `weir deploy rollback NAME [NUMBER]`: rolls back to the revision of this number, or to the previously active one. */
export async function rollBack(
  api: ApiClient,
  { word, number }: { word: string; number: string | undefined },
  progress: Progress,
): Promise<number> {
  const deployment = await findDeployment(api, word)
  const found = await listRevisions(api, deployment.id)
  const active = found.find(({ weir }) => weir.is_active)
  const before = found.find(
    ({ status, weir }) => status === 'DEPLOYED' && weir.number < (active?.weir.number ?? 0),
  )
  const to = number === undefined ? before : found.find(({ weir }) => String(weir.number) === number)
  if (to === undefined)
    throw new Refusal(
      404,
      number === undefined
        ? `"${deployment.name}" has no earlier revision.`
        : `There is no revision ${number}.`,
    )
  const path = `/v2/deployments/${deployment.id}/revisions/${to.id}/redeploy`
  const revision = await api.json<ShownRevision>(path, { method: 'POST' })
  progress.done(`revision ${revision.weir.number}`, `as revision ${to.weir.number}`)
  return await followRevision(api, { deployment, revision, verbose: false }, progress)
}

/** `weir deploy delete ID`: requires the name to be typed on a terminal, and --force elsewhere. */
export async function deleteDeployment(
  api: ApiClient,
  { word, isForced }: { word: string; isForced: boolean },
): Promise<number> {
  const deployment = await findDeployment(api, word)
  if (!isForced) await assertSure(deployment, await contentOf(api, deployment))
  await api.text(`/v2/deployments/${deployment.id}`, { method: 'DELETE' })
  console.error(`Deleted "${deployment.name}".`)
  return 0
}

/**
 * Describes in words what is deleted with the deployment; '' when the API of the deployment does not answer.
 */
async function contentOf(api: ApiClient, { name }: ShownDeployment): Promise<string> {
  const count = async (what: string): Promise<string> => {
    const number = await api.json<number>(`/deployments/${name}/${what}/count`, { method: 'POST', body: {} })
    return `${number} ${what}`
  }
  return await Promise.all([count('threads'), count('runs/crons')]).then(
    (counts) => ` with ${counts.join(', ').replace('runs/', '')}`,
    () => '',
  )
}

async function assertSure({ name }: ShownDeployment, content: string): Promise<void> {
  const what = `This deletes "${name}"${content}. Traces stay.`
  if (!process.stdin.isTTY || !process.stderr.isTTY)
    throw new AppError('invalid_request', { message: `${what} Add --force to do it.` })
  const terminal = createInterface({ input: process.stdin, output: process.stderr })
  const answer = await terminal.question(`${what}\nType its name to go on: `)
  terminal.close()
  if (answer.trim() !== name) throw new AppError('invalid_request', { message: 'Nothing was deleted.' })
}
