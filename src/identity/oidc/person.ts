import type { ProviderSettings } from './provider-settings.ts'

/** Claims of an id token or of userinfo. */
export type Claims = Readonly<Record<string, unknown>>

/** A person as a provider describes it. */
export interface Person {
  issuer: string
  /** The id of the person at the issuer; it never changes, and is never given to another person (TEAM-4). */
  subject: string
  /** In lower case; undefined if the provider sent none. */
  email: string | undefined
  /** Undefined if the provider does not say whether the address is verified. */
  email_verified: boolean | undefined
  name: string | undefined
  groups: readonly string[]
}

/** Maximum number of groups of a person that are read. */
const MAX_GROUPS = 10_000
/** The longest texts that are stored. */
const MAX_EMAIL = 320
const MAX_NAME = 256
/** The hosts of Entra's issuers, where `sub` differs for each application, and `oid` is the person. */
const ENTRA_HOSTS: ReadonlySet<string> = new Set([
  'login.microsoftonline.com',
  'login.microsoftonline.us',
  'login.partner.microsoftonline.cn',
  'sts.windows.net',
])

function text(value: unknown, longest: number): string | undefined {
  return typeof value === 'string' && value.trim() !== '' && value.length <= longest
    ? value.trim()
    : undefined
}

function flag(value: unknown): boolean | undefined {
  if (value === true || value === 'true') return true
  return value === false || value === 'false' ? false : undefined
}

/** In lower case, but only letters of ASCII: others, such as the sign of kelvin, would become those of other addresses. */
function lowered(email: string | undefined): string | undefined {
  return email?.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase())
}

/** The value at the claim: a claim of exactly this name, else dots lead into objects. */
function claimAt(claims: Claims, name: string): unknown {
  if (Object.hasOwn(claims, name)) return claims[name]
  return name.split('.').reduce<unknown>((value, key) => {
    const isObject = typeof value === 'object' && value !== null && Object.hasOwn(value, key)
    return isObject ? (value as Claims)[key] : undefined
  }, claims)
}

/** The groups in the claims; undefined if the claims do not have that claim. */
export function groupsIn(claims: Claims, name: string): string[] | undefined {
  const value = claimAt(claims, name)
  if (value === undefined || value === null) return undefined
  const all: unknown[] = Array.isArray(value) ? value.slice(0, MAX_GROUPS) : [value]
  return all.filter((one) => typeof one === 'string')
}

/**
 * Claims that came later, with those of before that they lack. An address that has changed is not verified because the
 * one before was.
 */
export function newerClaims(before: Claims, now: Claims): Claims {
  const isSame = now['email'] === undefined || now['email'] === before['email']
  const verified = now['email_verified'] ?? (isSame ? before['email_verified'] : undefined)
  return { ...before, ...now, email_verified: verified }
}

/** The person's id at the issuer: `oid` for Entra, `sub` for all others; undefined without one. */
export function subjectOf(issuer: string, claims: Claims): string | undefined {
  const isEntra = ENTRA_HOSTS.has(URL.parse(issuer)?.hostname ?? '')
  return text(isEntra ? claims['oid'] : claims['sub'], 255)
}

/**
 * The person of an id token and of userinfo, which fills in what the token lacks; undefined if the token names nobody.
 */
export function personOf(
  { issuer, groups_claim }: Pick<ProviderSettings, 'issuer' | 'groups_claim'>,
  token: Claims,
  userinfo: Claims = {},
): Person | undefined {
  const subject = subjectOf(issuer, token)
  if (subject === undefined) return undefined
  // An address and whether it is verified must come from the same place.
  const source = text(token['email'], MAX_EMAIL) === undefined ? userinfo : token
  const email = lowered(text(source['email'], MAX_EMAIL))
  return {
    issuer,
    subject,
    email: email !== undefined && /^[^\s@]+@[^\s@]+$/.test(email) ? email : undefined,
    email_verified: flag(source['email_verified']),
    name: text(token['name'], MAX_NAME) ?? text(userinfo['name'], MAX_NAME),
    groups: groupsIn(token, groups_claim) ?? groupsIn(userinfo, groups_claim) ?? [],
  }
}
