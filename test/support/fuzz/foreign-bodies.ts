import { anyValue, type Draw, hostileText } from './values.ts'
import { between, chance, pick } from '../seeded-random.ts'

/** Fields of a form of OAuth. */
const OAUTH_FIELDS = [
  'grant_type',
  'token',
  'code',
  'client_id',
  'redirect_uri',
  'code_verifier',
  'refresh_token',
]
const SCIM = 'urn:ietf:params:scim:'
const MCP_METHODS = ['initialize', 'ping', 'tools/list', 'tools/call', 'prompts/list', 'x']
const PATCHED = ['active', 'displayName', 'userName', 'externalId', 'members', 'name.givenName', undefined]
const MAX_TEXT = 1_000

/** A value of a field: mostly the sound one, sometimes any. */
function mostly({ random, broken }: Draw, sound: unknown): unknown {
  return chance(random, broken) ? anyValue(random) : sound
}

const user = (draw: Draw) => ({
  schemas: [`${SCIM}schemas:core:2.0:User`],
  userName: mostly(draw, `scim-${between(draw.random, 0, 999)}@example.com`),
  externalId: mostly(draw, String(between(draw.random, 0, 999))),
  name: mostly(draw, { givenName: hostileText(draw.random).slice(0, 20) }),
  active: mostly(draw, chance(draw.random, 0.8)),
})

const group = (draw: Draw) => ({
  schemas: [`${SCIM}schemas:core:2.0:Group`],
  displayName: mostly(draw, `group ${between(draw.random, 0, 999)}`),
  members: mostly(draw, []),
})

const patch = (draw: Draw) => ({
  schemas: [`${SCIM}api:messages:2.0:PatchOp`],
  Operations: mostly(draw, [
    {
      op: mostly(draw, pick(draw.random, ['add', 'replace', 'remove'])),
      path: mostly(draw, pick(draw.random, PATCHED)),
      value: pick(draw.random, [true, 'fuzzed', [], { active: true }, anyValue(draw.random)]),
    },
  ]),
})

const registration = (draw: Draw) => ({
  redirect_uris: mostly(draw, [draw.known('redirect_uri')]),
  client_name: mostly(draw, hostileText(draw.random).slice(0, 50)),
})

const call = (draw: Draw) => ({
  jsonrpc: mostly(draw, '2.0'),
  id: mostly(draw, 1),
  method: mostly(draw, pick(draw.random, MCP_METHODS)),
  params: anyValue(draw.random),
})

/** Makes bodies of the routes whose protocols others define, and which the document therefore does not describe. */
const BODIES: readonly (readonly [path: RegExp, body: (draw: Draw, method: string) => unknown])[] = [
  [/\/scim\/v2\/Users/, (draw, method) => (method === 'PATCH' ? patch(draw) : user(draw))],
  [/\/scim\/v2\/Groups/, (draw, method) => (method === 'PATCH' ? patch(draw) : group(draw))],
  [/\/oauth\/register$/, registration],
  [/\/mcp$/, call],
]

/** A body of a foreign protocol for this route; undefined if the route has none. */
export function foreignBody(path: string, method: string, draw: Draw): unknown {
  return BODIES.find(([pattern]) => pattern.test(path))?.[1](draw, method)
}

/** A form of OAuth. */
export function oauthForm({ random, known }: Draw): string {
  const form = new URLSearchParams()
  for (const name of OAUTH_FIELDS)
    if (chance(random, 0.7)) form.set(name, (known(name) ?? hostileText(random)).slice(0, MAX_TEXT))
  return form.toString()
}
