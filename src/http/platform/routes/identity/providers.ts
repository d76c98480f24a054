import type { IncomingMessage } from 'node:http'
import { AppError } from '../../../../base/errors.ts'
import { callbackPath, type ProviderSignIn } from '../../../../identity/oidc/sign-in.ts'
import { ATTEMPT_MS } from '../../../../identity/oidc/sign-in-store.ts'
import { requiredTextParameter, textParameter } from '../../../api/parameters.ts'
import { sessionCookie } from '../../../server/browser/session-cookie.ts'
import type { AppDeps } from '../../app-deps.ts'
import { type PlatformRoute, route } from '../../route.ts'

const TAG = 'Identity'
/** Responses of a sign-in are for one browser, and pages that follow must not learn the address of the callback. */
const PRIVATE = { 'cache-control': 'no-store', 'referrer-policy': 'no-referrer' }
const PAGE = '/app/sign-in'
const ID = { id: requiredTextParameter('The id of the provider.') }

function addressOf({ socket }: IncomingMessage): string {
  return socket.remoteAddress ?? ''
}

/** @throws AppError not_found if the settings name no provider */
function peopleOf({ signIn: { people } }: AppDeps): ProviderSignIn {
  if (people === undefined)
    throw new AppError('not_found', { message: 'This server has no sign-in provider.' })
  return people
}

function isHttps({ publicUrl }: AppDeps): boolean {
  return publicUrl?.startsWith('https:') === true
}

/** Name of the cookie of an attempt. Each attempt has its own, so that several tabs can sign in at the same time. */
function attemptCookieName(state: string | null): string {
  return `weir_attempt_${/^[\w-]{16}/.exec(state ?? '')?.[0] ?? ''}`
}

/** `Lax`, because the browser comes back from another site, which it does not send `Strict` cookies after. */
function attemptCookie(
  { id, state, secret }: { id: string; state: string; secret: string },
  isSecure: boolean,
): string {
  const place = `Path=${callbackPath(id)}; HttpOnly; SameSite=Lax; Max-Age=${ATTEMPT_MS / 1000}`
  return `${attemptCookieName(state)}=${secret}; ${place}${isSecure ? '; Secure' : ''}`
}

/** The value of a cookie; undefined without it, and if several have the name. */
function cookieValue({ headers }: IncomingMessage, name: string): string | undefined {
  const pairs = (headers.cookie ?? '').split(';').map((pair) => pair.trim().split('=', 2))
  const [value, other] = pairs.filter(([key]) => key === name).map(([, text]) => text)
  return other === undefined ? value : undefined
}

function redirect(location: string, cookie?: string) {
  return { headers: { ...PRIVATE, location, ...(cookie && { 'set-cookie': cookie }) }, body: 'Found' }
}

function providersRoute(): PlatformRoute {
  return route({
    method: 'GET',
    path: '/auth/providers',
    needs: 'open',
    summary: 'How browsers can sign in here',
    tag: TAG,
    reply: 'auth-providers',
    async handle({ deps: { signIn, publicUrl = '' } }) {
      const { people } = signIn
      const found = (await people?.providers()) ?? []
      const own = publicUrl.replace(/\/+$/, '')
      const providers = found.map((one) => ({ ...one, login_url: `${own}/api/v1/oauth/${one.id}/login` }))
      const { key_sign_in = true, auto_login = false } = people?.settings ?? {}
      return { headers: PRIVATE, body: { providers, key_sign_in, auto_login } }
    },
  })
}

function loginRoute(): PlatformRoute {
  return route({
    method: 'GET',
    path: '/oauth/{id}/login',
    needs: 'open',
    summary: 'Sign in at a provider',
    description: 'Redirects the browser to the provider, which sends it back to the callback.',
    tag: TAG,
    params: ID,
    query: { return_to: textParameter('Page below `/app/` that is opened afterwards.') },
    reply: 'bytes',
    reply_type: 'text/plain',
    status: 302,
    errors: ['not_found', 'rate_limited'],
    async handle({ deps, params: { id }, query: { return_to }, req }) {
      const people = peopleOf(deps)
      deps.signIn.beginnings.take(addressOf(req))
      try {
        const { url, state, secret } = await people.begin(id, return_to)
        return redirect(url, attemptCookie({ id, state, secret }, isHttps(deps)))
      } catch (error) {
        if (error instanceof AppError) throw error
        return redirect(`${PAGE}?error=provider_failed`)
      }
    },
  })
}

function callbackRoute(): PlatformRoute {
  return route({
    method: 'GET',
    path: '/oauth/{id}/callback',
    needs: 'open',
    summary: 'The answer of a provider',
    description:
      'Starts a session, and opens the page of the attempt. A refusal opens `/app/sign-in?error=`: `domain_not_allowed`, `group_required`, `no_role`, `email_not_verified`, `sign_up_off`, `provider_failed` or `attempt_expired`. After ten refusals a minute from one address: 429.',
    tag: TAG,
    params: ID,
    reply: 'bytes',
    reply_type: 'text/plain',
    status: 302,
    errors: ['not_found', 'rate_limited'],
    async handle({ deps, params: { id }, req }) {
      const people = peopleOf(deps)
      const { failures } = deps.signIn
      const address = addressOf(req)
      failures.take(address)
      const { search, searchParams } = new URL(req.url ?? '', 'http://localhost')
      const sent = cookieValue(req, attemptCookieName(searchParams.get('state')))
      const finished = await people.finish(id, { search, secret: sent, address })
      if ('refused' in finished) return redirect(`${PAGE}?error=${finished.refused}`)
      failures.giveBack(address)
      if (finished.member_changed) deps.authenticator.forgetAll()
      const { return_to, secret, expires_at } = finished
      const max_age_s = Math.ceil((expires_at - deps.clock.now()) / 1000)
      const cookie = sessionCookie(req.headers, secret, { max_age_s, isHttps: isHttps(deps) })
      return redirect(return_to, cookie)
    },
  })
}

/** The sign-in of people at a provider of OpenID Connect (TEAM-2). */
export function providerRoutes(): PlatformRoute[] {
  return [providersRoute(), loginRoute(), callbackRoute()]
}
