import { AppError } from '../../../../base/errors.ts'
import { parseUuid } from '../../../../base/ids.ts'
import type { Principal } from '../../../../identity/principal.ts'
import type { Comment, CommentText } from '../../../../ingest/comment-store.ts'
import type { SchemaTypes } from '../../../../schema/types.gen.ts'
import { integerParameter, uuidParameter } from '../../../api/parameters.ts'
import { bodyFault } from '../../../body/json.ts'
import { found } from '../../request/body-fields.ts'
import { type PlatformCaller, type PlatformRoute, route } from '../../route.ts'
import { placeOf } from '../sharing/sharing.ts'

const TAG = 'Comments'
const COMMENT = { id: uuidParameter('Id of the comment.') }

/** Keys without a user are authors, too. */
function isOwn({ user_id, api_key_id }: Principal, comment: Comment): boolean {
  return user_id === null
    ? comment.user_id === null && comment.api_key_id === api_key_id
    : comment.user_id === user_id
}

function toJson(principal: Principal, comment: Comment): SchemaTypes['comment'] {
  const { workspace_id: _workspace, api_key_id: _key, created_at, edited_at, ...shown } = comment
  return {
    ...shown,
    created_at: new Date(created_at).toISOString(),
    edited_at: edited_at === null ? null : new Date(edited_at).toISOString(),
    is_own: isOwn(principal, comment),
  }
}

/** The members who may use the workspace of the request. */
async function peopleOf({ deps, principal: { organization_id, workspace_id } }: PlatformCaller) {
  const members = await deps.identity.members(organization_id)
  return members.filter(({ workspace_ids }) => workspace_ids?.includes(workspace_id) ?? true)
}

/** @throws AppError invalid_request when somebody is mentioned who is no member of the workspace */
async function readText(context: PlatformCaller, body: SchemaTypes['comment-write']): Promise<CommentText> {
  const mentions = (body.mentions ?? []).map((id) => parseUuid(id) ?? id)
  if (mentions.length === 0) return { text: body.text, mentions }
  const known = new Set((await peopleOf(context)).map(({ user_id }) => user_id))
  const stranger = mentions.findIndex((id) => !known.has(id))
  if (stranger >= 0)
    throw bodyFault([
      { code: 'value_error', path: `mentions.${stranger}`, message: 'is no member of this workspace' },
    ])
  return { text: body.text, mentions }
}

/** The name that readers of a comment see. */
async function authorOf(context: PlatformCaller): Promise<string> {
  const { user_id, short_key } = context.principal
  const self = user_id === null ? [] : await peopleOf(context)
  const member = self.find((one) => one.user_id === user_id)
  return member?.full_name ?? member?.email ?? (short_key === '' ? 'anonymous' : short_key)
}

async function findComment({ deps, principal }: PlatformCaller, id: string): Promise<Comment> {
  return found(await deps.comments.find(principal.workspace_id, id), 'Comment')
}

function readRoutes(): PlatformRoute[] {
  return [
    route({
      method: 'GET',
      path: '/traces/{trace_id}/comments',
      needs: 'runs:read',
      summary: 'The comments on the runs of a trace, oldest first',
      tag: TAG,
      params: { trace_id: uuidParameter('Id of the trace.') },
      reply: 'comment-list',
      async handle({ deps, principal, params: { trace_id } }) {
        const comments = await deps.comments.ofTrace(principal.workspace_id, trace_id)
        return { body: comments.map((comment) => toJson(principal, comment)) }
      },
    }),
    route({
      method: 'GET',
      path: '/comments/mentions',
      needs: 'runs:read',
      summary: 'The comments in this workspace that mention the caller, newest first',
      description: 'None for a service key.',
      tag: TAG,
      query: {
        limit: integerParameter('Maximum number of comments.', { minimum: 1, maximum: 100, otherwise: 50 }),
      },
      reply: 'comment-list',
      async handle({ deps, principal, query: { limit } }) {
        const { workspace_id, user_id } = principal
        const comments = user_id === null ? [] : await deps.comments.mentionsOf(workspace_id, user_id, limit)
        return { body: comments.map((comment) => toJson(principal, comment)) }
      },
    }),
  ]
}

function writeRoutes(): PlatformRoute[] {
  return [
    route({
      method: 'POST',
      path: '/runs/{id}/comments',
      needs: 'runs:create',
      summary: 'Comment on a run',
      description: 'A trace has at most 1,000 comments. They are deleted with their run.',
      tag: TAG,
      params: { id: uuidParameter('Id of the run.') },
      body: 'comment-write',
      reply: 'comment',
      errors: ['not_found', 'quota_reached', 'store_unavailable'],
      async handle({ deps, principal, params: { id: run_id }, body }) {
        const { workspace_id, user_id, api_key_id } = principal
        const text = await readText({ deps, principal }, body)
        const { trace_id } = await placeOf(deps, workspace_id, run_id)
        const author = await authorOf({ deps, principal })
        const by = { workspace_id, user_id, api_key_id, author }
        const comment = await deps.comments.create({ ...by, trace_id, run_id, ...text })
        // A deletion removes comments once more after its runs; what is written later finds no run here.
        if ((await deps.selectedReads.place(workspace_id, run_id)) === undefined) {
          await deps.comments.delete(workspace_id, comment.id)
          found(undefined, 'Run')
        }
        return { body: toJson(principal, comment) }
      },
    }),
    route({
      method: 'PATCH',
      path: '/comments/{id}',
      needs: 'runs:create',
      summary: 'Change a comment of one’s own',
      tag: TAG,
      params: COMMENT,
      body: 'comment-write',
      reply: 'comment',
      errors: ['not_found', 'forbidden'],
      async handle({ deps, principal, params: { id }, body }) {
        const comment = await findComment({ deps, principal }, id)
        if (!isOwn(principal, comment))
          throw new AppError('forbidden', { message: 'Only its author can change a comment.' })
        const text = await readText({ deps, principal }, body)
        const changed = await deps.comments.update(principal.workspace_id, id, text)
        return { body: toJson(principal, found(changed, 'Comment')) }
      },
    }),
    route({
      method: 'DELETE',
      path: '/comments/{id}',
      needs: 'runs:create',
      summary: 'Delete a comment',
      description: 'One of another author needs `runs:delete`.',
      tag: TAG,
      params: COMMENT,
      reply: 'empty-object',
      errors: ['not_found', 'forbidden'],
      async handle({ deps, principal, params: { id } }) {
        const comment = await findComment({ deps, principal }, id)
        if (!isOwn(principal, comment) && !principal.permissions.has('runs:delete'))
          throw new AppError('forbidden', {
            message: 'Deleting the comment of somebody else needs the permission runs:delete.',
          })
        await deps.comments.delete(principal.workspace_id, id)
        return { body: {} }
      },
    }),
  ]
}

/** Comments on runs, for the people of a workspace. */
export function commentRoutes(): PlatformRoute[] {
  return [...readRoutes(), ...writeRoutes()]
}
