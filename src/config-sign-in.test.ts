import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { AppError } from './base/errors.ts'
import { readConfig } from './config.ts'

const folder = mkdtempSync(join(tmpdir(), 'teams-config-'))
afterAll(() => rmSync(folder, { recursive: true }))

function file(name: string, text: string): string {
  const path = join(folder, name)
  writeFileSync(path, text)
  return path
}

const BASE = {
  PUBLIC_URL: 'https://weir.acme.test',
  OAUTH_ISSUER_URL: 'https://id.acme.test/realms/acme',
  OAUTH_CLIENT_ID: 'weir',
}
const read = (env: Record<string, string>) => readConfig(env).signIn

function mistakesOf(env: Record<string, string>): string[] {
  try {
    readConfig(env)
  } catch (error) {
    if (error instanceof AppError && error.code === 'config_invalid') return error.details as string[]
    throw error
  }
  return []
}

describe('TEAM-1: settings of the sign-in', () => {
  it('is off without settings, and keys sign in', () => {
    expect(read({})).toEqual({ providers: [], auto_login: false, key_sign_in: true, admin_email: undefined })
  })

  it('has the defaults of a provider, and the secret of a file', () => {
    const OAUTH_CLIENT_SECRET_FILE = file('secret', 'of a file\n')
    expect(read({ ...BASE, OAUTH_CLIENT_SECRET_FILE }).providers).toEqual([
      {
        id: 'custom-oidc',
        name: 'id.acme.test',
        issuer: BASE.OAUTH_ISSUER_URL,
        client_id: 'weir',
        client_secret: 'of a file',
        scopes: ['openid', 'email', 'profile'],
        groups_claim: 'groups',
        group_roles: [],
        default_role: undefined,
        allowed_domains: [],
        allowed_groups: [],
        sign_up: true,
        role_sync: true,
        session_max_ms: 86_400_000,
        idp_logout: false,
        trusted_email: false,
      },
    ])
  })

  it.each([
    [
      'a=admin, b = x=viewer@one|two',
      [
        { group: 'a', role: 'admin' },
        { group: 'b = x', role: 'viewer', workspaces: ['one', 'two'] },
      ],
    ],
    [
      '[{"group":"CN=a,OU=b","role":"user","workspaces":["ml"]}]',
      [{ group: 'CN=a,OU=b', role: 'user', workspaces: ['ml'] }],
    ],
  ])('reads the roles of groups from %s', (OAUTH_GROUP_ROLES, roles) => {
    expect(read({ ...BASE, OAUTH_GROUP_ROLES }).providers[0]?.group_roles).toEqual(roles)
  })

  it('reads several providers from a file', () => {
    const OAUTH_PROVIDERS = file(
      'providers.json',
      JSON.stringify([
        { id: 'okta', issuer_url: 'https://acme.okta.com', client_id: 'o', scopes: ['openid', 'groups'] },
        {
          id: 'local',
          issuer_url: 'http://localhost:8080/realms/x',
          client_id: 'l',
          client_secret_file: file('s', 'x'),
        },
      ]),
    )
    const { providers } = read({ PUBLIC_URL: BASE.PUBLIC_URL, OAUTH_PROVIDERS })
    expect(providers.map(({ id, scopes, client_secret }) => [id, scopes, client_secret])).toEqual([
      ['okta', ['openid', 'groups'], undefined],
      ['local', ['openid', 'email', 'profile'], 'x'],
    ])
  })

  it.each([
    ['PUBLIC_URL', { PUBLIC_URL: '' }],
    ['OAUTH_CLIENT_ID', { OAUTH_CLIENT_ID: '' }],
    ['OAUTH_ISSUER_URL', { OAUTH_ISSUER_URL: '' }],
    ['OAUTH_ISSUER_URL', { OAUTH_ISSUER_URL: 'http://id.acme.test' }],
    ['OAUTH_ISSUER_URL', { OAUTH_ISSUER_URL: 'id.acme.test' }],
    ['OAUTH_SCOPES', { OAUTH_SCOPES: 'email' }],
    ['OAUTH_GROUP_ROLES', { OAUTH_GROUP_ROLES: 'staff=owner' }],
    ['OAUTH_GROUP_ROLES', { OAUTH_GROUP_ROLES: 'staff' }],
    ['OAUTH_GROUP_ROLES', { OAUTH_GROUP_ROLES: '[{"group":"a"}]' }],
    ['OAUTH_DEFAULT_ROLE', { OAUTH_DEFAULT_ROLE: 'owner' }],
    ['OAUTH_SESSION_MAX_SEC', { OAUTH_SESSION_MAX_SEC: '604801' }],
    ['OAUTH_CLIENT_SECRET_FILE', { OAUTH_CLIENT_SECRET_FILE: '/nowhere/secret' }],
    ['OAUTH_CLIENT_SECRET_FILE', { OAUTH_CLIENT_SECRET: 'a', OAUTH_CLIENT_SECRET_FILE: file('t', 'x') }],
    ['OAUTH_PROVIDERS', { OAUTH_PROVIDERS: '/nowhere/providers.json' }],
    ['OAUTH_PROVIDERS', { OAUTH_PROVIDERS: file('no.json', 'id: okta') }],
    ['OAUTH_PROVIDERS', { OAUTH_PROVIDERS: file('unknown.json', '[{"id":"a","issuer":"https://a.test"}]') }],
    ['INITIAL_ORG_ADMIN_EMAIL', { INITIAL_ORG_ADMIN_EMAIL: 'ada' }],
    ['KEY_SIGN_IN', { OAUTH_ISSUER_URL: '', OAUTH_CLIENT_ID: '', KEY_SIGN_IN: 'off' }],
    ['AUTH', { AUTH: 'off' }],
  ])('a wrong %s is named: %o', (name, wrong) => {
    const mistakes = mistakesOf({ ...BASE, ...wrong })
    expect(mistakes.map((line) => line.split(':')[0])).toContain(name)
  })

  it('shows no secret', () => {
    const { settings } = readConfig({ ...BASE, OAUTH_CLIENT_SECRET: 'hidden text' })
    expect(JSON.stringify(settings)).not.toContain('hidden text')
    expect(
      JSON.stringify(mistakesOf({ ...BASE, OAUTH_CLIENT_SECRET: 'hidden text', PORT: 'x' })),
    ).not.toContain('hidden')
  })
})
