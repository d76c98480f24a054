import { generateKeyPairSync } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import {
  type ClientAuthMethod,
  type ClientMetadata,
  type Configuration,
  type KoaContextWithOIDC,
  Provider,
} from 'oidc-provider'
import { token } from './forging-provider.ts'

/** A person at the provider; each test changes the claims as it needs. */
export interface Account {
  sub: string
  claims: Record<string, unknown>
}

export const CLIENT = { id: 'weir', secret: 'a secret of sixteen characters' }
/** Another client of the same provider, with the same callbacks: one that an attacker runs. */
export const OTHER_CLIENT = { id: 'other', secret: 'another secret of sixteen characters' }

export interface OidcProvider {
  issuer: string
  /** The people by their ids. */
  accounts: Map<string, Account>
  /** Who signs in: the id of an account. */
  person: string
  /** Makes all tokens of a person worthless, as when an admin of the provider ends its session. */
  revoke(sub: string): Promise<void>
  /** Puts another id token in place of that of each response of the token endpoint. */
  forge(id_token: string): string
  /** A token with these claims, signed with the key of the provider. */
  sign(claims: object): string
  /** Requests to the token endpoint and to userinfo so far. */
  asked(): number
  /** Closes the port, so that the provider cannot be reached, until `open`. */
  close(): Promise<void>
  open(): Promise<void>
}

function configuration(
  provider: () => OidcProvider,
  clients: ClientMetadata[],
  {
    refreshTokens,
    inToken,
    authMethods,
    key,
  }: {
    refreshTokens: boolean
    inToken: boolean
    authMethods: ClientAuthMethod[] | undefined
    key: object
  },
): Configuration {
  return {
    clients,
    jwks: { keys: [key] },
    ...(authMethods !== undefined && { clientAuthMethods: authMethods }),
    claims: {
      openid: ['sub'],
      email: ['email', 'email_verified'],
      profile: ['name', 'groups', 'realm_access'],
    },
    conformIdTokenClaims: !inToken,
    features: {
      devInteractions: { enabled: false },
      revocation: { enabled: true },
      rpInitiatedLogout: { enabled: true },
    },
    interactions: { url: (_ctx, { uid }) => `/interaction/${uid}` },
    cookies: { keys: ['a key of cookies'] },
    ttl: {
      AccessToken: 3600,
      Grant: 86_400,
      IdToken: 600,
      Session: 86_400,
      RefreshToken: 86_400,
      Interaction: 600,
    },
    issueRefreshToken: async () => refreshTokens,
    async findAccount(_ctx, id) {
      const found = provider().accounts.get(id)
      return found && { accountId: id, claims: async () => ({ sub: id, ...found.claims }) }
    },
    // Nobody is asked for consent.
    async loadExistingGrant({ oidc }: KoaContextWithOIDC) {
      const accountId = oidc.session?.accountId
      if (oidc.client === undefined || accountId === undefined) return undefined
      const grant = new oidc.provider.Grant({ clientId: oidc.client.clientId, accountId })
      grant.addOIDCScope('openid email profile offline_access')
      await grant.save()
      return grant
    },
  }
}

/** Without the warnings that the provider is one for tests. */
function quietly<T>(make: () => T): T {
  const { warn } = console
  console.warn = () => undefined
  try {
    return make()
  } finally {
    console.warn = warn
  }
}

/**
 * A real provider of OpenID Connect on a free port, where `person` signs in without being asked. `redirects` are the
 * callbacks of the client.
 */
export async function startOidcProvider(
  redirects: string[],
  {
    refreshTokens = true,
    inToken = true,
    client = {},
    authMethods,
  }: {
    refreshTokens?: boolean
    inToken?: boolean
    client?: Partial<ClientMetadata>
    /** How clients may prove themselves; absent: as usual. */
    authMethods?: ClientAuthMethod[]
  } = {},
): Promise<OidcProvider> {
  let asked = 0
  let answer: (req: IncomingMessage, res: ServerResponse) => void = () => undefined
  let server: Server = createServer((req, res) => answer(req, res))
  server.listen(0, 'localhost')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const issuer = `http://localhost:${port}`
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const key = { ...privateKey.export({ format: 'jwk' }), kid: 'k1', use: 'sig', alg: 'RS256' }
  const clients: ClientMetadata[] = [{ ...CLIENT, ...client }, OTHER_CLIENT].map(
    ({ id, secret, ...own }) => ({
      client_id: id,
      client_secret: secret,
      redirect_uris: redirects,
      post_logout_redirect_uris: redirects.map((one) => `${new URL(one).origin}/app/`),
      grant_types: ['authorization_code', 'refresh_token'],
      ...(authMethods?.[0] !== undefined && { token_endpoint_auth_method: authMethods[0] }),
      ...own,
    }),
  )
  const own: OidcProvider = {
    issuer,
    accounts: new Map(),
    person: 'ada',
    async revoke(sub) {
      own.accounts.delete(sub)
    },
    forge: (id_token) => id_token,
    sign: (claims) => token(claims, { key: privateKey }),
    asked: () => asked,
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
    async open() {
      server = createServer((req, res) => answer(req, res))
      server.listen(port, 'localhost')
      await once(server, 'listening')
    },
  }
  const provider = quietly(
    () =>
      new Provider(
        issuer,
        configuration(() => own, clients, { refreshTokens, inToken, authMethods, key }),
      ),
  )
  provider.use(async (ctx, next) => {
    await next()
    const body = ctx.body as { id_token?: string } | undefined
    if (ctx.path === '/token' && body?.id_token !== undefined) body.id_token = own.forge(body.id_token)
  })
  const callback = provider.callback()
  answer = (req, res) => {
    const path = req.url ?? ''
    if (path.startsWith('/token') || path.startsWith('/me')) asked++
    if (!path.startsWith('/interaction/')) return void callback(req, res)
    void provider.interactionFinished(req, res, { login: { accountId: own.person } })
  }
  return own
}
