// The settings of people's sign-in, from the settings OAUTH_… and the file OAUTH_PROVIDERS.
import { jsonOf } from './schema/json.ts'
import { readFileSync } from 'node:fs'
import {
  type ProviderSettings,
  readProvider,
  type SignInSettings,
  type WrittenProvider,
} from './identity/oidc/provider-settings.ts'
import { createRegistry } from './schema/registry.ts'
import type { SchemaTypes } from './schema/types.gen.ts'

type Settings = SchemaTypes['config']
type FileProvider = SchemaTypes['sign-in-providers'][number]

/** The id of the provider of the settings OAUTH_…: LangSmith's, so that its callback stays the same. */
const OWN_ID = 'custom-oidc'
const MAX_FILE_BYTES = 1024 * 1024

/** Reads a file that a setting names; a failure is added to `mistakes`. */
function fileText(setting: string, path: string, mistakes: string[]): string | undefined {
  try {
    const text = readFileSync(path, 'utf8')
    if (text.length <= MAX_FILE_BYTES && text.trim() !== '') return text
    mistakes.push(`${setting}: the file ${path} is ${text.trim() === '' ? 'empty' : 'too large'}`)
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    mistakes.push(`${setting}: the file cannot be read: ${reason}`)
  }
  return undefined
}

/** The provider of the settings OAUTH_…; undefined if they name none. */
function ownProvider(settings: Settings, mistakes: string[]): WrittenProvider | undefined {
  const { OAUTH_ISSUER_URL: issuer_url, OAUTH_CLIENT_ID: client_id } = settings
  if (issuer_url === undefined && client_id === undefined) return undefined
  if (issuer_url === undefined) mistakes.push('OAUTH_ISSUER_URL: is needed when OAUTH_CLIENT_ID is set')
  if (client_id === undefined) mistakes.push('OAUTH_CLIENT_ID: is needed when OAUTH_ISSUER_URL is set')
  if (issuer_url === undefined || client_id === undefined) return undefined
  const { OAUTH_CLIENT_SECRET: given, OAUTH_CLIENT_SECRET_FILE: file } = settings
  if (given !== undefined && file !== undefined)
    mistakes.push('OAUTH_CLIENT_SECRET_FILE: cannot be set together with OAUTH_CLIENT_SECRET')
  return {
    id: OWN_ID,
    name: settings.OAUTH_NAME,
    issuer_url,
    client_id,
    client_secret: file === undefined ? given : fileText('OAUTH_CLIENT_SECRET_FILE', file, mistakes)?.trim(),
    scopes: settings.OAUTH_SCOPES,
    groups_claim: settings.OAUTH_GROUPS_CLAIM,
    group_roles: settings.OAUTH_GROUP_ROLES,
    default_role: settings.OAUTH_DEFAULT_ROLE,
    allowed_domains: settings.OAUTH_ALLOWED_DOMAINS,
    allowed_groups: settings.OAUTH_ALLOWED_GROUPS,
    sign_up: settings.OAUTH_SIGN_UP,
    role_sync: settings.OAUTH_ROLE_SYNC,
    session_max_sec: settings.OAUTH_SESSION_MAX_SEC,
    idp_logout_enabled: settings.OAUTH_IDP_LOGOUT_ENABLED,
    trusted_email: settings.OAUTH_TRUSTED_EMAIL,
  }
}

function fileProviders(path: string, mistakes: string[]): FileProvider[] {
  const text = fileText('OAUTH_PROVIDERS', path, mistakes)
  if (text === undefined) return []
  const value = jsonOf(text)
  if (value === undefined) {
    mistakes.push(`OAUTH_PROVIDERS: ${path} is not JSON`)
    return []
  }
  const result = createRegistry().check('sign-in-providers', value)
  if (result.ok) return result.value
  mistakes.push(
    ...result.faults.map(({ path: at, message }) => `OAUTH_PROVIDERS: ${at || 'the file'} ${message}`),
  )
  return []
}

/** The fields of a provider of the file, with the secret of its file. */
function readEntry(
  { client_secret_file: file, ...written }: FileProvider,
  mistakes: string[],
): WrittenProvider {
  if (file === undefined) return written
  const name = `OAUTH_PROVIDERS: client_secret_file of ${written.id}`
  if (written.client_secret !== undefined) mistakes.push(`${name}: cannot be set together with client_secret`)
  return { ...written, client_secret: fileText(name, file, mistakes)?.trim() }
}

/** Messages about settings that the sign-in needs or excludes. */
function crossMistakes(settings: Settings, providers: readonly ProviderSettings[]): string[] {
  const mistakes: string[] = []
  const repeated = providers.find(({ id }, at) => providers.findIndex((one) => one.id === id) !== at)
  if (repeated !== undefined) mistakes.push(`OAUTH_PROVIDERS: two providers have the id "${repeated.id}"`)
  if (providers.length === 0) {
    if (settings.KEY_SIGN_IN === 'off')
      mistakes.push(
        'KEY_SIGN_IN: off needs a provider: set OAUTH_ISSUER_URL and OAUTH_CLIENT_ID, or OAUTH_PROVIDERS',
      )
    return mistakes
  }
  if (settings.PUBLIC_URL === undefined)
    mistakes.push(
      'PUBLIC_URL: is needed for the sign-in with OAUTH_…: the provider sends browsers back to it',
    )
  if (settings.AUTH === 'off') mistakes.push('AUTH: off needs no sign-in: leave out OAUTH_… or set AUTH=on')
  if (settings.OAUTH_AUTO_LOGIN === 'on' && providers.length > 1)
    mistakes.push('OAUTH_AUTO_LOGIN: on needs a single provider')
  return mistakes
}

/** The settings of the sign-in, with a message for each mistake, which names the setting. */
export function readSignIn(settings: Settings): { signIn: SignInSettings; mistakes: string[] } {
  const mistakes: string[] = []
  const own = ownProvider(settings, mistakes)
  const written =
    settings.OAUTH_PROVIDERS === undefined ? [] : fileProviders(settings.OAUTH_PROVIDERS, mistakes)
  const entries = [
    ...(own === undefined ? [] : [{ of: own, nameOf: (field: string) => `OAUTH_${field.toUpperCase()}` }]),
    ...written.map((entry) => ({
      of: readEntry(entry, mistakes),
      nameOf: (field: string) => `OAUTH_PROVIDERS: ${field} of ${entry.id}`,
    })),
  ]
  const read = entries.map(({ of, nameOf }) => readProvider(of, nameOf))
  const providers = read.map(({ provider }) => provider)
  const isTried = providers.length > 0 || mistakes.length === 0
  return {
    signIn: Object.freeze({
      providers: Object.freeze(providers),
      auto_login: settings.OAUTH_AUTO_LOGIN === 'on',
      key_sign_in: settings.KEY_SIGN_IN === 'on',
      admin_email: settings.INITIAL_ORG_ADMIN_EMAIL?.toLowerCase(),
    }),
    mistakes: [
      ...mistakes,
      ...read.flatMap((one) => one.mistakes),
      ...(isTried ? crossMistakes(settings, providers) : []),
    ],
  }
}
