import type { Clock } from '../../base/clock.ts'
import { AppError } from '../../base/errors.ts'
import { newUuid } from '../../base/ids.ts'
import type { Logger } from '../../base/log.ts'
import type { Sealer } from '../../base/node/sealer.ts'
import { type BrowserSessionStore, hashSecret, isSecret, newSecret } from '../browser-sessions.ts'
import { type Admission, admit, type SignInRefusal, verifiedEmail } from './admission.ts'
import { createConfirm, type Enter, tokensPlace } from './confirm.ts'
import { reasonOf } from './discovery.ts'
import type { Described, KeptTokens, SignInProvider } from './provider.ts'
import type { SignInSettings } from './provider-settings.ts'
import type { Arrival, MemberSession, SignInStore } from './sign-in-store.ts'

/** The response to a callback. */
export type Finished =
  | { refused: SignInRefusal }
  | { return_to: string; secret: string; expires_at: number; member_changed: boolean }

export interface ProviderSignIn {
  readonly settings: SignInSettings
  /** The providers, and whether each can be used now. */
  providers(): Promise<{ id: string; name: string; available: boolean }[]>
  /**
   * Begins a sign-in: the address at the provider with its `state`, and the secret of the attempt for a cookie.
   * @throws AppError not_found for an unknown provider; an error when the provider cannot be reached
   */
  begin(id: string, return_to: string | undefined): Promise<{ url: string; state: string; secret: string }>
  /** Ends a sign-in with the provider's response, the search of the callback's address. Never rejects for a wrong response. */
  finish(
    id: string,
    answer: { search: string; secret: string | undefined; address: string },
  ): Promise<Finished>
  /** The sessions of members. The provider is asked from time to time whether the rights of a session still hold. */
  sessions: Pick<BrowserSessionStore, 'find' | 'touch'>
  /**
   * Ends the session with this secret: its id, undefined without such a session, and the address that signs the browser
   * out at the provider, if that is on.
   */
  signOut(secret: string): Promise<{ id: string; logout_url: string | undefined } | undefined>
}

export interface SignInDeps {
  settings: SignInSettings
  providers: readonly SignInProvider[]
  store: SignInStore
  sealer(): Promise<Sealer>
  organization_id: string
  /** PUBLIC_URL, to which the provider sends browsers back. */
  publicUrl: string
  clock: Clock
  logger: Logger
}

export function callbackPath(id: string): string {
  return `/api/v1/oauth/${id}/callback`
}

/** Lets people in as the settings of their provider say. */
function createEnter({ settings, store, organization_id, clock, logger }: SignInDeps): Enter {
  const { admin_email } = settings
  return async ({ person }, { settings: rules }, session) => {
    const arrival: Arrival = { person, verified_email: verifiedEmail(person, rules), provider: rules.id }
    const decide: Parameters<SignInStore['enter']>[1] = (known, workspaces): Admission =>
      admit(person, rules, { known, admin_email, workspaces })
    const at = { organization_id, now: clock.now(), ...(session && { session }) }
    const entered = await store.enter(arrival, decide, at)
    const { id: provider } = rules
    if ('refused' in entered)
      logger.warn({ provider, reason: entered.refused, subject: person.subject }, 'a sign-in was refused')
    else if (entered.kept_last_admin)
      logger.warn(
        { user_id: entered.user_id },
        'the groups of the last admin do not make it an admin; it stays one',
      )
    return entered
  }
}

/** Signs out at the provider too; a provider that does not answer does not keep anybody signed in here. */
function createSignOutUrl(
  { sealer, logger, publicUrl }: SignInDeps,
  known: (id: string) => SignInProvider | undefined,
): (session: MemberSession) => Promise<string | undefined> {
  return async ({ id, provider: of, tokens }) => {
    const provider = known(of)
    if (provider === undefined || tokens === null || !provider.settings.idp_logout) return undefined
    try {
      const opened = (await sealer()).open(tokensPlace(id), tokens)
      return await provider.signOutUrl(
        (JSON.parse(opened) as KeptTokens).id_token,
        `${ownOf(publicUrl)}/app/`,
      )
    } catch (error) {
      logger.warn({ provider: of, reason: reasonOf(error) }, 'no sign-out at the sign-in provider')
      return undefined
    }
  }
}

function ownOf(publicUrl: string): string {
  return publicUrl.replace(/\/+$/, '')
}

/** The first page of the interface. */
const HOME = '/app/'
const MAX_LENGTH = 2000
/** Any origin: only what the path becomes is of interest. */
const SOME_ORIGIN = 'http://weir.invalid'

/** The path of a page of the interface, or that of its first page if the text is none. It never leads to another origin. */
function returnPath(text: string | undefined): string {
  if (text === undefined || text.length > MAX_LENGTH || !text.startsWith('/') || text.includes('\\'))
    return HOME
  const url = URL.parse(text, SOME_ORIGIN)
  if (url === null || url.origin !== SOME_ORIGIN || !url.pathname.startsWith(HOME)) return HOME
  return url.pathname + url.search + url.hash
}

/** Sign-ins from their beginning to the response of the provider. */
function createAttempts(
  { store, sealer, organization_id, publicUrl, clock, logger }: SignInDeps,
  { named, enter }: { named(id: string): SignInProvider; enter: Enter },
): Pick<ProviderSignIn, 'begin' | 'finish'> {
  const callbackOf = (id: string): string => ownOf(publicUrl) + callbackPath(id)
  const refuse = async (reason: SignInRefusal, provider: string, address: string): Promise<Finished> => {
    await store.recordRefusal({ reason, provider, address }, { organization_id, now: clock.now() })
    return { refused: reason }
  }
  const admitPerson = async (described: Described, provider: SignInProvider, address: string) => {
    const [id, secret] = [newUuid(), newSecret()]
    const expires_at = clock.now() + provider.settings.session_max_ms
    const tokens = (await sealer()).seal(tokensPlace(id), JSON.stringify(described.tokens))
    const session = { id, secret_hash: hashSecret(secret), tokens, expires_at, address }
    return { entered: await enter(described, provider, session), secret, expires_at }
  }
  return {
    async begin(id, return_to) {
      const provider = named(id)
      const checks = { state: newSecret(), nonce: newSecret(), code_verifier: newSecret() }
      const url = await provider.signInUrl(checks, callbackOf(id))
      const secret = newSecret()
      const attempt = { ...checks, provider: id, return_to: returnPath(return_to) }
      await store.addAttempt(hashSecret(secret), attempt, clock.now())
      return { url, state: checks.state, secret }
    },
    async finish(id, { search, secret: sent, address }) {
      const provider = named(id)
      const attempt =
        sent !== undefined && isSecret(sent)
          ? await store.takeAttempt(hashSecret(sent), clock.now())
          : undefined
      const isOwn = attempt?.provider === id && new URLSearchParams(search).get('state') === attempt.state
      if (attempt === undefined || !isOwn) return await refuse('attempt_expired', id, address)
      let described: Described
      try {
        described = await provider.redeem(new URL(callbackOf(id) + search), attempt)
      } catch (error) {
        logger.warn(
          { provider: id, reason: reasonOf(error) },
          'the answer of the sign-in provider was refused',
        )
        return await refuse('provider_failed', id, address)
      }
      const { entered, secret, expires_at } = await admitPerson(described, provider, address)
      if ('refused' in entered) return { refused: entered.refused }
      return { return_to: attempt.return_to, secret, expires_at, member_changed: entered.changed }
    },
  }
}

/** The sign-in of people over the given providers. */
export function createProviderSignIn(deps: SignInDeps): ProviderSignIn {
  const { settings, providers, store, clock } = deps
  const known = (id: string): SignInProvider | undefined => providers.find((one) => one.settings.id === id)
  const named = (id: string): SignInProvider => {
    const provider = known(id)
    if (provider !== undefined) return provider
    throw new AppError('not_found', { message: 'There is no sign-in provider with this id.' })
  }
  const enter = createEnter(deps)
  const confirm = createConfirm(deps, { provider: known, enter })
  const signOutUrl = createSignOutUrl(deps, known)
  return {
    settings,
    ...createAttempts(deps, { named, enter }),
    providers: () =>
      Promise.all(
        providers.map(async (provider) => {
          const { id, name } = provider.settings
          return { id, name, available: await provider.isAvailable() }
        }),
      ),
    sessions: {
      async find(secret_hash, now) {
        const found = await store.findSession(secret_hash, now)
        const wasAsked = found !== undefined && (await confirm(found.session))
        return wasAsked ? await store.findSession(secret_hash, now) : found
      },
      touch: store.touchSession,
    },
    async signOut(secret) {
      const found = await store.findSession(hashSecret(secret), clock.now())
      if (found === undefined) return undefined
      const logout_url = await signOutUrl(found.session)
      await store.endSession(found.session, 'signed_out', clock.now())
      return { id: found.session.id, logout_url }
    },
  }
}
