import { actorOf } from '../../actor.ts'
import { route, type PlatformRoute } from '../../route.ts'

/** Applies a set-up as SETUP_FILE does. */
export function setupRoutes(): PlatformRoute[] {
  return [
    route({
      method: 'POST',
      path: '/setup',
      summary: 'Apply a set-up: workspaces, members, service keys, prices, limits, feedback',
      description:
        'All or nothing; only what the document names is touched. With `dry_run` the answer is the plan, and nothing changes. Keys are read on the server, from its environment variables and files.',
      tag: 'Identity',
      body: 'setup-request',
      reply: 'setup-plan',
      errors: ['conflict'],
      async handle({ deps, principal, body: { document, dry_run = false } }) {
        const { organization_id } = principal
        const actor = actorOf(principal, deps.clock)
        const plan = await deps.applySetup({ document, dry_run, organization_id, actor })
        if (!dry_run) deps.authenticator.forgetAll()
        return { body: plan }
      },
    }),
  ]
}
