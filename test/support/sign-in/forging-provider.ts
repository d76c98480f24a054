import { generateKeyPairSync, type KeyObject, sign } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
const other = generateKeyPairSync('rsa', { modulusLength: 2048 })

/** The key of another provider, which this one does not publish. */
export const FOREIGN_KEY: KeyObject = other.privateKey

function part(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url')
}

/** A signed JSON Web Token; with `alg: 'none'` it has no signature. */
export function token(
  claims: object,
  { key = privateKey, header = {} }: { key?: KeyObject; header?: object } = {},
): string {
  const full = { alg: 'RS256', kid: 'k1', typ: 'JWT', ...header }
  const text = `${part(full)}.${part(claims)}`
  return full.alg === 'none'
    ? `${text}.`
    : `${text}.${sign('sha256', Buffer.from(text), key).toString('base64url')}`
}

export interface ForgingProvider {
  issuer: string
  /** The last request to the token endpoint. */
  redeemed: URLSearchParams | undefined
  /** Makes the id token for the claims of an honest one. */
  forge(honest: Record<string, unknown>): string
  /** The nonce of the attempt. */
  nonce: string
  close(): Promise<void>
}

/** A provider that answers with any id token: one that is broken, hostile or under the control of an attacker. */
export async function startForgingProvider(metadata: object = {}): Promise<ForgingProvider> {
  const own: ForgingProvider = {
    issuer: '',
    redeemed: undefined,
    nonce: '',
    forge: token,
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
  const answers: Record<string, () => object> = {
    '/.well-known/openid-configuration': () => ({
      issuer: own.issuer,
      authorization_endpoint: `${own.issuer}/authorize`,
      token_endpoint: `${own.issuer}/token`,
      jwks_uri: `${own.issuer}/keys`,
      id_token_signing_alg_values_supported: ['RS256'],
      ...metadata,
    }),
    '/keys': () => ({
      keys: [{ ...publicKey.export({ format: 'jwk' }), kid: 'k1', use: 'sig', alg: 'RS256' }],
    }),
    '/token': () => {
      const now = Math.floor(Date.now() / 1000)
      const id_token = own.forge({
        iss: own.issuer,
        aud: 'weir',
        sub: 'ada',
        nonce: own.nonce,
        iat: now,
        exp: now + 60,
        email: 'ada@acme.test',
        email_verified: true,
      })
      return { access_token: 'a', token_type: 'Bearer', expires_in: 60, id_token }
    },
  }
  const server = createServer((req, res) => {
    const parts: Buffer[] = []
    req.on('data', (chunk: Buffer) => parts.push(chunk))
    req.on('end', () => {
      if (req.method === 'POST') own.redeemed = new URLSearchParams(Buffer.concat(parts).toString())
      const answer = answers[req.url ?? '']
      res.writeHead(answer === undefined ? 404 : 200, { 'content-type': 'application/json' })
      res.end(JSON.stringify(answer?.() ?? {}))
    })
  })
  server.listen(0, 'localhost')
  await once(server, 'listening')
  own.issuer = `http://localhost:${(server.address() as AddressInfo).port}`
  return own
}
