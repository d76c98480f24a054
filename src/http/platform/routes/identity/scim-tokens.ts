import { randomBytes } from 'node:crypto'
import { AppError } from '../../../../base/errors.ts'
import { newUuid } from '../../../../base/ids.ts'
import { hashApiKey } from '../../../../identity/api-keys.ts'
import type { ProviderSettings } from '../../../../identity/oidc/provider-settings.ts'
import { type ScimToken, TOKEN_PREFIX } from '../../../../identity/scim/scim.ts'
import type { SchemaTypes } from '../../../../schema/types.gen.ts'
import { uuidParameter } from '../../../api/parameters.ts'
import { bodyFault } from '../../../body/json.ts'
import { actorOf } from '../../actor.ts'
import type { AppDeps } from '../../app-deps.ts'
import { ownAddress } from '../../../server/browser/own-address.ts'
import { type PlatformRoute, route } from '../../route.ts'
import { assertKeysCanBeMade } from './api-keys.ts'

const TAG = 'Identity'
const PATH = '/orgs/current/scim-tokens'

function isoOrNull(time: number | null): string | null {
  return time === null ? null : new Date(time).toISOString()
}

function toAnswer(token: ScimToken): SchemaTypes['scim-token'] {
  const { id, provider, description, created_at, expires_at, last_used_at } = token
  return {
    id,
    provider,
    description,
    created_at: new Date(created_at).toISOString(),
    expires_at: isoOrNull(expires_at),
    last_used_at: isoOrNull(last_used_at),
  }
}

/** The provider of a new token. @throws AppError conflict without a provider, invalid_request for an unknown one */
function providerOf({ signIn: { people } }: AppDeps, named: string | undefined): ProviderSettings {
  const providers = people?.settings.providers ?? []
  const [first] = providers
  if (first === undefined)
    throw new AppError('conflict', { message: 'SCIM needs a sign-in provider: set OAUTH_ISSUER_URL.' })
  const found = named === undefined ? first : providers.find(({ id }) => id === named)
  if (found !== undefined && (named !== undefined || providers.length === 1)) return found
  const message = `must be one of ${providers.map(({ id }) => id).join(', ')}`
  throw bodyFault([{ code: 'value_error', path: 'provider', message }])
}

/** Tokens with which a provider keeps members and groups up to date over SCIM (TEAM-10). */
export function scimTokenRoutes(): PlatformRoute[] {
  return [
    route({
      method: 'GET',
      path: PATH,
      needs: 'organization:manage',
      whole_organization: true,
      summary: 'The tokens of SCIM',
      tag: TAG,
      reply: 'scim-token-list',
      handle: async ({ deps, principal }) => ({
        body: (await deps.scim.tokens.list(principal.organization_id)).map(toAnswer),
      }),
    }),
    route({
      method: 'POST',
      path: PATH,
      needs: 'organization:manage',
      whole_organization: true,
      summary: 'Create a token of SCIM for a sign-in provider',
      description:
        'The provider sends it as `Authorization: Bearer`, to the routes under `/scim/v2` only. It expires together with the key of the request.',
      tag: TAG,
      body: 'scim-token-create',
      reply: 'scim-token-created',
      errors: ['conflict', 'quota_reached'],
      available: assertKeysCanBeMade,
      async handle({ deps, principal, body, req }) {
        const provider = providerOf(deps, body.provider).id
        const secret = TOKEN_PREFIX + randomBytes(32).toString('base64url')
        const token = {
          id: newUuid(),
          organization_id: principal.organization_id,
          provider,
          description: body.description?.trim() || 'SCIM',
          created_at: deps.clock.now(),
          expires_at: principal.expires_at,
          last_used_at: null,
        }
        await deps.scim.tokens.create(token, hashApiKey(secret), actorOf(principal, deps.clock))
        const base_url = `${ownAddress(deps, req)}/scim/v2`
        return {
          headers: { 'cache-control': 'no-store' },
          body: { token: secret, base_url, ...toAnswer(token) },
        }
      },
    }),
    route({
      method: 'DELETE',
      path: `${PATH}/{id}`,
      needs: 'organization:manage',
      whole_organization: true,
      summary: 'Delete a token of SCIM',
      tag: TAG,
      params: { id: uuidParameter('The token.') },
      reply: 'bytes',
      status: 204,
      errors: ['not_found'],
      async handle({ deps, principal, params: { id } }) {
        const actor = actorOf(principal, deps.clock)
        if (!(await deps.scim.tokens.remove(principal.organization_id, id, actor)))
          throw new AppError('not_found')
        return { body: '' }
      },
    }),
  ]
}
