import { useEffect } from 'react'
import { SIGNED_OUT } from '../../api/session.ts'
import type { SignInWays } from '../../data/sign-in.ts'
import { Button } from '../../parts/controls.tsx'
import { currentPath } from '../../router/location.ts'
import css from './sign-in.module.css'

const REFUSALS: Readonly<Record<string, string>> = {
  domain_not_allowed: 'People with an email address of your domain may not sign in here.',
  group_required: 'Your account is in none of the groups that may sign in here.',
  no_role: 'Your account has no role here. Ask an administrator for one.',
  email_not_verified: 'The provider has not verified your email address.',
  sign_up_off: 'You are not a member here. Ask an administrator for an invitation.',
  provider_failed: 'The sign-in at the provider failed. Try again; the log of the server has the reason.',
  attempt_expired: 'The sign-in took more than ten minutes, or was begun in another browser. Try again.',
}

/** The refusal that the address names, in words; undefined without one. */
export function refusalText(): string | undefined {
  const code = new URLSearchParams(location.search).get('error')
  return code === null ? undefined : (REFUSALS[code] ?? 'The sign-in was refused.')
}

/** The page that is opened after the sign-in: the one of the address. */
function returnTo(): string {
  return ['/sign-in', '/invite'].includes(currentPath())
    ? '/app/'
    : location.pathname + location.search + location.hash
}

type Provider = SignInWays['providers'][number]

function open({ login_url }: Provider): void {
  sessionStorage.removeItem(SIGNED_OUT)
  location.assign(`${login_url}?return_to=${encodeURIComponent(returnTo())}`)
}

/** A button for each provider; leads straight to the only one if the server says so, except after a sign-out. */
export function Providers({
  ways: { providers, auto_login },
  mayLeave,
}: {
  ways: SignInWays
  /** Whether the page has nothing to read. */
  mayLeave: boolean
}) {
  const [only] = providers
  const isStraight = mayLeave && auto_login && only?.available === true
  useEffect(() => {
    if (isStraight && refusalText() === undefined && sessionStorage.getItem(SIGNED_OUT) === null) open(only)
  }, [isStraight, only])
  return providers.map((provider) => (
    <div key={provider.id} className={css['provider']}>
      <Button look="primary" disabled={!provider.available} onClick={() => open(provider)}>
        Sign in with {provider.name}
      </Button>
      {!provider.available && <small className={css['note']}>{provider.name} cannot be reached now.</small>}
    </div>
  ))
}
