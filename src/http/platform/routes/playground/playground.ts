import type { Principal } from '../../../../identity/principal.ts'
import { PROVIDERS } from '../../../../playground/playground.ts'
import type { TraceCaller } from '../../../../playground/call-trace.ts'
import { STREAM_HEADERS } from '../../reply/event-streams.ts'
import { type PlatformRoute, route } from '../../route.ts'

const TAG = 'Playground'

function callerOf({ workspace_id, user_id, api_key_id }: Principal): TraceCaller {
  return { workspace_id, user_id, api_key_id }
}

export function playgroundRoutes(): PlatformRoute[] {
  return [
    route({
      method: 'GET',
      path: '/playground/models',
      needs: 'playground:use',
      summary: 'The providers and models that the playground can call',
      tag: TAG,
      reply: 'playground-models',
      async handle({ deps, principal }) {
        const [secrets, models] = await Promise.all([
          deps.secrets.list(principal.workspace_id),
          deps.pricedModels(),
        ])
        const keys = new Set(secrets.map(({ key }) => key))
        const providers = PROVIDERS.map(({ name, secret, base_url = null }) => ({
          name,
          secret,
          has_secret: keys.has(secret),
          base_url,
          models: [...(models[name] ?? [])],
        }))
        return { body: { providers } }
      },
    }),
    route({
      method: 'POST',
      path: '/playground/runs',
      needs: 'playground:use',
      summary: 'Call a model',
      description:
        'Server-sent events: `run` with the ids of the traced run in the project `playground`, `delta` for each part of the answer (`text`, `reasoning`, or `tool_call` with its `index`), `usage` with the counts, `error` with `code` and `detail` when the call failed, and `end` with the whole message. Closing the connection ends the call. The value of the secret is sent to its own hosts only.',
      tag: TAG,
      body: 'playground-run-create',
      reply: 'bytes',
      reply_type: 'text/event-stream',
      errors: ['secret_missing', 'host_not_allowed', 'secrets_unreadable', 'too_many_streams'],
      async handle({ deps, principal, body: asked }) {
        const call = await deps.playground.prepare(callerOf(principal), asked)
        const sent = deps.playgroundStreams.enter(principal.holder)
        const body = deps.playgroundStreams.body((signal) => call.events(signal), principal.holder)
        return { headers: STREAM_HEADERS, body, sent }
      },
    }),
  ]
}
