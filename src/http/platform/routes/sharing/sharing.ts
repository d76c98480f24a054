import type { IncomingMessage } from 'node:http'
import { AppError } from '../../../../base/errors.ts'
import type { Share, ShareSubject } from '../../../../ingest/share-store.ts'
import type { SelectedWhere, TracePlace } from '../../../../query/selected-reads.ts'
import { uuidParameter } from '../../../api/parameters.ts'
import type { AppDeps } from '../../app-deps.ts'
import { actorOf } from '../../actor.ts'
import { found } from '../../request/body-fields.ts'
import type { PlatformCaller } from '../../route.ts'

/** The tag of these routes in the API's documents. */
export const TAG = 'Sharing'

/** The parameter of public routes. */
export const TOKEN = { token: uuidParameter('The token of the share.') }

type Reads = Pick<AppDeps, 'selectedReads' | 'ingester' | 'sharing'>

/**
 * The place of a TraceRun, even if it was acknowledged a moment ago.
 * @throws AppError not_found
 */
export async function placeOf(
  { selectedReads, ingester }: Reads,
  workspace_id: string,
  run_id: string,
): Promise<TracePlace> {
  const place = await selectedReads.place(workspace_id, run_id)
  if (place !== undefined) return place
  await ingester.settled()
  return found(await selectedReads.place(workspace_id, run_id), 'Run')
}

/**
 * The share of a token. Different unknown tokens from one address are counted as guesses.
 * @throws AppError not_found, share_ended, rate_limited
 */
export async function openShare(
  { deps: { sharing }, req }: { deps: Reads; req: IncomingMessage },
  token: string,
): Promise<Share> {
  const address = req.socket.remoteAddress ?? ''
  sharing.guesses.assertFree(address)
  const share = await sharing.shares.find(token)
  if (share === undefined) {
    // A link to a share that has ended may be followed again and again, and is no guess.
    const tried = `${address} ${token}`
    if (!sharing.tried.has(tried)) sharing.guesses.take(address)
    sharing.tried.set(tried, true)
    throw new AppError('not_found', { message: 'No share has this token.' })
  }
  sharing.limit.take(token)
  return share
}

/** The condition that selects exactly the TraceRuns of the share. */
export function whereShared({ subject }: Share): SelectedWhere {
  const project_ids = [subject.project_id]
  if (subject.kind === 'trace') return { project_ids, trace_ids: [subject.trace_id] }
  return { project_ids, trace_filter: ofThread(subject.thread_id) }
}

/** A filter that selects the root runs of a thread. */
export function ofThread(thread_id: string): string {
  return `eq(thread_id, ${JSON.stringify(thread_id)})`
}

/** The place of a TraceRun of the share. @throws AppError not_found for any other */
export async function placeInShare(deps: Reads, share: Share, run_id: string): Promise<TracePlace> {
  const { selectedReads } = deps
  const place = found(await selectedReads.place(share.workspace_id, run_id), 'Run')
  const { project_id, trace_id } = place
  if (project_id !== share.subject.project_id) throw new AppError('not_found', { message: 'Run not found' })
  const where = { ...whereShared(share), trace_ids: [trace_id] }
  const isShared =
    share.subject.kind === 'trace'
      ? share.subject.trace_id === trace_id
      : await selectedReads.has(share.workspace_id, where)
  return found(isShared ? place : undefined, 'Run')
}

/** Records in the audit that the caller shared the subject or ended its share; the token is not recorded. */
export async function recordSharing(
  { deps, principal }: PlatformCaller,
  action: 'share' | 'unshare',
  subject: ShareSubject,
  expires_at: number | null = null,
): Promise<void> {
  const { organization_id, workspace_id } = principal
  const change = {
    organization_id,
    action: `${subject.kind}.${action}`,
    // Subjects of the audit are uuids, but a thread's id may be any text.
    subject_id: subject.kind === 'trace' ? subject.trace_id : subject.project_id,
    details: {
      workspace_id,
      ...subject,
      ...(expires_at !== null && { expires_at: new Date(expires_at).toISOString() }),
    },
  }
  await deps.identity.recordChange(change, actorOf(principal, deps.clock))
}
