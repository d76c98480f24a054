import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { readConfig } from '../../config.ts'

const DOCUMENTS = new URL('../../../test/fixtures/discovery/', import.meta.url)
const PAGE = new URL('../../../docs/operating/sign-in.md', import.meta.url)
const ROWS = readFileSync(PAGE, 'utf8')
  .split('\n')
  .filter((line) => line.startsWith('| ') && line.includes('OAUTH_ISSUER_URL='))

interface Document {
  issuer: string
  scopes_supported: string[]
  response_types_supported: string[]
  id_token_signing_alg_values_supported: string[]
  token_endpoint_auth_methods_supported: string[]
  claims_supported: string[]
}

/** The settings in a row of the page. */
function settingsIn(row: string): Record<string, string> {
  return Object.fromEntries(
    [...row.matchAll(/`(OAUTH_\w+)=([^`]+)`/g)].map(([, name, value]) => [name, value]),
  )
}

describe('TEAM-1: the examples of docs/operating/sign-in.md', () => {
  it.each(readdirSync(DOCUMENTS))('fit the discovery document %s', (file) => {
    const document = JSON.parse(readFileSync(new URL(file, DOCUMENTS), 'utf8')) as Document
    const row = ROWS.find((one) => one.includes(`OAUTH_ISSUER_URL=${document.issuer}\``))
    expect(row).toBeDefined()
    const env = { PUBLIC_URL: 'https://weir.acme.test', OAUTH_CLIENT_ID: 'weir', ...settingsIn(row ?? '') }
    const [provider] = readConfig(env).signIn.providers
    expect(provider?.issuer).toBe(document.issuer)
    expect(document.scopes_supported).toEqual(expect.arrayContaining([...(provider?.scopes ?? [])]))
    expect(document.response_types_supported).toContain('code')
    expect(document.id_token_signing_alg_values_supported).toContain('RS256')
    expect(
      document.token_endpoint_auth_methods_supported.some((one) => /^client_secret_(basic|post)$/.test(one)),
    ).toBe(true)
    expect(
      document.claims_supported.includes('email_verified') ||
        provider?.trusted_email ||
        file === 'keycloak.json',
    ).toBe(true)
  })

  it('are all there', () => {
    expect(ROWS).toHaveLength(readdirSync(DOCUMENTS).length)
  })
})
