import { AppError } from '../../../../base/errors.ts'
import type { FeedbackConfig, FeedbackConfigFields } from '../../../../ingest/feedback/config-store.ts'
import { feedbackConfigId } from '../../../../identity/managed-records.ts'
import type { Principal } from '../../../../identity/principal.ts'
import { isObject, type JsonObject } from '../../../../schema/json.ts'
import type { SchemaTypes } from '../../../../schema/types.gen.ts'
import { partQuery, requiredTextParameter, textParameter, textsParameter } from '../../../api/parameters.ts'
import { bodyFault } from '../../../body/json.ts'
import type { AppDeps } from '../../app-deps.ts'
import { assertUnmanaged, OVERRIDE_QUERY } from '../../request/own-change.ts'
import { type PlatformRoute, route } from '../../route.ts'

const TAG = 'Feedback'

function toConfig(config: FeedbackConfig, managed: ReadonlySet<string>): SchemaTypes['feedback-config'] {
  const { workspace_id: tenant_id, modified_at, ...fields } = config
  const is_enforced = config.is_enforced ?? false
  const shown = { ...fields, is_enforced, tenant_id, modified_at: new Date(modified_at).toISOString() }
  return managed.has(feedbackConfigId(tenant_id, fields.feedback_key)) ? { ...shown, managed: true } : shown
}

function managedConfigs({ managed }: AppDeps, { organization_id }: Principal): Promise<ReadonlySet<string>> {
  return managed.ids(organization_id, 'feedback_config')
}

/** @throws AppError managed_by_file */
async function assertOwnConfig(
  deps: AppDeps,
  principal: Principal,
  { feedback_key, override }: { feedback_key: string; override: boolean },
): Promise<void> {
  const id = feedbackConfigId(principal.workspace_id, feedback_key)
  await assertUnmanaged(deps, principal, { kind: 'feedback_config', id, override })
}

function found<T>(config: T | undefined): T {
  if (config === undefined) throw new AppError('not_found', { message: 'Feedback config not found' })
  return config
}

/** The fields of a body; null and absent ones are left out. */
function sentFields(body: SchemaTypes['feedback-config-update']): Partial<FeedbackConfigFields> {
  const { feedback_config = null, is_lower_score_better = null, is_enforced = null } = body
  return {
    ...(feedback_config !== null && { feedback_config: feedback_config as JsonObject }),
    ...(is_lower_score_better !== null && { is_lower_score_better }),
    ...(is_enforced !== null && { is_enforced }),
  }
}

/** The config with the categories that the body adds and removes. */
function withCategories(
  { feedback_config }: FeedbackConfig,
  { add_categories = [], remove_categories = [] }: SchemaTypes['feedback-config-update'],
): Partial<FeedbackConfigFields> {
  if (add_categories.length === 0 && remove_categories.length === 0) return {}
  const fault = (path: string, message: string) => bodyFault([{ code: 'value_error', path, message }])
  const { categories: stored } = feedback_config
  if (feedback_config['type'] !== 'categorical' || !Array.isArray(stored))
    throw fault('feedback_key', 'must be of a categorical config')
  const removed: readonly unknown[] = remove_categories
  const kept = stored.filter((category) => !isObject(category) || !removed.includes(category['value']))
  const categories = [...kept, ...add_categories] as JsonObject[]
  for (const name of ['value', 'label']) {
    const values = categories.flatMap((category) => category[name] ?? [])
    if (new Set(values).size < values.length) throw fault('add_categories', `must not repeat a ${name}`)
  }
  if (categories.length < 2) throw fault('remove_categories', 'must leave two categories')
  return { feedback_config: { ...feedback_config, categories } }
}

function writeRoutes(): PlatformRoute[] {
  return [
    route({
      method: 'POST',
      path: '/feedback-configs',
      needs: 'runs:create',
      summary: 'Create the configuration of a feedback key',
      description:
        'The same `feedback_config` for a known key gives the existing configuration, unchanged; another one is a conflict.',
      tag: TAG,
      body: 'feedback-config-create',
      reply: 'feedback-config',
      errors: ['conflict', 'quota_reached'],
      async handle({ deps, principal, body }) {
        const feedback_config = body.feedback_config as JsonObject
        const open = { is_lower_score_better: null, is_enforced: null }
        const fields = { ...open, ...sentFields(body), feedback_config }
        const { configs } = deps.feedback
        const config = await configs.create(principal.workspace_id, body.feedback_key, fields)
        return { body: toConfig(config, await managedConfigs(deps, principal)) }
      },
    }),
    route({
      method: 'PATCH',
      path: '/feedback-configs',
      needs: 'runs:create',
      summary: 'Change the configuration of a feedback key',
      tag: TAG,
      query: OVERRIDE_QUERY,
      body: 'feedback-config-update',
      reply: 'feedback-config',
      errors: ['not_found', 'managed_by_file'],
      async handle({ deps, principal, query: { override }, body }) {
        await assertOwnConfig(deps, principal, { feedback_key: body.feedback_key, override })
        const { configs } = deps.feedback
        const config = await configs.update(principal.workspace_id, body.feedback_key, (stored) => {
          const fields = sentFields(body)
          return { ...fields, ...withCategories({ ...stored, ...fields }, body) }
        })
        return { body: toConfig(found(config), await managedConfigs(deps, principal)) }
      },
    }),
    route({
      method: 'DELETE',
      path: '/feedback-configs',
      needs: 'runs:create',
      summary: 'Delete the configuration of a feedback key',
      description: 'The feedback itself is kept.',
      tag: TAG,
      query: { feedback_key: requiredTextParameter('The key.'), ...OVERRIDE_QUERY },
      reply: 'empty-object',
      errors: ['not_found', 'managed_by_file'],
      async handle({ deps, principal, query: { feedback_key, override } }) {
        await assertOwnConfig(deps, principal, { feedback_key, override })
        found((await deps.feedback.configs.delete(principal.workspace_id, feedback_key)) || undefined)
        return { body: {} }
      },
    }),
  ]
}

export function feedbackConfigRoutes(): PlatformRoute[] {
  return [
    route({
      method: 'GET',
      path: '/feedback-configs',
      needs: 'runs:read',
      summary: 'List the configurations of feedback keys',
      tag: TAG,
      query: {
        key: textsParameter('Only these keys.'),
        name_contains: textParameter('Only keys that contain it, whatever the case.'),
        ...partQuery(100),
      },
      reply: 'feedback-config-list',
      async handle({ deps, principal, query: { key, name_contains, limit, offset } }) {
        const query = { keys: key, limit, offset, ...(name_contains !== undefined && { name_contains }) }
        const configs = await deps.feedback.configs.list(principal.workspace_id, query)
        const managed = await managedConfigs(deps, principal)
        return { body: configs.map((config) => toConfig(config, managed)) }
      },
    }),
    ...writeRoutes(),
  ]
}
