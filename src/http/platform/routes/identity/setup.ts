import { AppError } from '../../../../base/errors.ts'
import type { ReadSecret } from '../../../../setup/setup.ts'
import { actorOf } from '../../actor.ts'
import { route, type PlatformRoute } from '../../route.ts'
import { assertKeysCanBeMade } from './api-keys.ts'

/**
 * Finds keys among those that came with a request. Over HTTP none is read from this server's variables and files, which
 * callers must not learn.
 */
function sentKeys(keys: Readonly<Record<string, string | undefined>>): ReadSecret {
  return async (name) => {
    const key = Object.hasOwn(keys, name) ? keys[name] : undefined
    if (key !== undefined) return key
    const message = `The key of "${name}" is missing in keys. weir setup apply reads it where it runs, and sends it.`
    throw new AppError('invalid_request', { message })
  }
}

/** Applies a set-up as SETUP_FILE does. */
export function setupRoutes(): PlatformRoute[] {
  return [
    route({
      method: 'GET',
      path: '/setup',
      needs: 'organization:manage',
      whole_organization: true,
      summary: 'The set-up as a file of YAML, without keys',
      description: 'Applying it finds nothing to do. What a file cannot say is named in comments at its top.',
      tag: 'Identity',
      reply: 'bytes',
      reply_type: 'application/yaml',
      errors: ['conflict'],
      handle: async ({ deps, principal }) => ({
        headers: { 'content-type': 'application/yaml', 'cache-control': 'no-store' },
        body: await deps.exportSetup(principal.organization_id),
      }),
    }),
    route({
      method: 'POST',
      path: '/setup',
      needs: 'organization:manage',
      whole_organization: true,
      summary: 'Apply a set-up: workspaces, members, service keys, prices, limits, feedback',
      description:
        'All or nothing; only what the document names is touched. With `dry_run` the answer is the plan, and nothing changes. The keys of its service keys come in `keys`: the server reads none of its own variables and files.',
      tag: 'Identity',
      body: 'setup-request',
      reply: 'setup-plan',
      errors: ['conflict'],
      async handle({ deps, principal, body: { document, dry_run = false, keys = {} } }) {
        if (Object.keys(keys).length > 0) assertKeysCanBeMade(deps)
        const { organization_id, expires_at } = principal
        const actor = actorOf(principal, deps.clock)
        const plan = await deps.applySetup({
          document,
          dry_run,
          organization_id,
          actor,
          expires_at,
          readSecret: sentKeys(keys),
        })
        if (!dry_run) deps.authenticator.forgetAll()
        return { body: plan }
      },
    }),
    route({
      method: 'GET',
      path: '/setup/file',
      needs: 'organization:manage',
      whole_organization: true,
      summary: 'What differs from SETUP_FILE: what the next start would change',
      description: 'Nothing changes. Of several servers, the one that answers compares its own file.',
      tag: 'Identity',
      reply: 'setup-file-plan',
      handle: async ({ deps, principal }) => ({ body: await deps.planSetupFile(principal.organization_id) }),
    }),
  ]
}
