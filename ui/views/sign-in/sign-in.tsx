import { type FormEvent, useEffect, useRef } from 'react'
import { ApiError } from '../../api/problem.ts'
import { useSignIn } from '../../data/session.ts'
import { useSignInWays } from '../../data/sign-in.ts'
import { Button, Field } from '../../parts/controls.tsx'
import { ErrorFacts, Skeleton } from '../../parts/states.tsx'
import { Providers, refusalText } from './providers.tsx'
import css from './sign-in.module.css'

const TICKET = '#ticket='

/** The ticket of a sign-in link. It is removed from the address at once, so that no history keeps it. */
function takeTicket(): string | undefined {
  if (!location.hash.startsWith(TICKET)) return undefined
  const ticket = new URLSearchParams(location.hash.slice(1)).get('ticket') ?? ''
  history.replaceState(null, '', location.pathname + location.search)
  return ticket
}

function KeyForm({ signing, isFirst }: { signing: ReturnType<typeof useSignIn>; isFirst: boolean }) {
  const field = useRef<HTMLInputElement>(null)
  const submit = (event: FormEvent): void => {
    event.preventDefault()
    signing.mutate({ key: field.current?.value.trim() ?? '' })
  }
  return (
    <form className={css['form']} onSubmit={submit}>
      <label className={css['label']}>
        API key
        <Field ref={field} type="password" name="key" required autoFocus={isFirst} placeholder="lsv2_…" />
      </label>
      <Button look={isFirst ? 'primary' : 'usual'} type="submit" disabled={signing.isPending}>
        {signing.isPending ? 'Signing in' : 'Sign in'}
      </Button>
      {isFirst && (
        <p className={css['note']}>
          The first key is printed when the server starts for the first time, and is in the file{' '}
          <code>api-key</code> of its data folder. It is sent once and not kept by this page.
        </p>
      )}
    </form>
  )
}

function Alert({ error }: { error: Error | null }) {
  const refusal = refusalText()
  if (error === null && refusal === undefined) return null
  return (
    <div className={css['error']} role="alert">
      {error?.message ?? refusal}
      {error instanceof ApiError && <ErrorFacts of={error} />}
    </div>
  )
}

/** Shows the providers and the form for a key, or signs in with the ticket of the address. */
export function SignIn() {
  const taken = useRef(false)
  const signing = useSignIn()
  const ways = useSignInWays()
  const { mutate } = signing
  useEffect(() => {
    if (taken.current) return
    taken.current = true
    const ticket = takeTicket()
    if (ticket !== undefined) mutate({ ticket })
  }, [mutate])
  if (ways.isPending) return <Skeleton />
  const hasProviders = ways.data !== undefined && ways.data.providers.length > 0
  return (
    <main className={css['page']}>
      <div className={css['form']}>
        <h1 className={css['brand']}>
          <img src="/app/icon.svg" alt="" width="28" height="28" />
          Weir
        </h1>
        {hasProviders && !signing.isPending && (
          <Providers ways={ways.data} mayLeave={signing.error === null} />
        )}
        {hasProviders && <Alert error={signing.error} />}
        {hasProviders && ways.data.key_sign_in && <div className={css['or']}>or</div>}
        {ways.data?.key_sign_in !== false && <KeyForm signing={signing} isFirst={!hasProviders} />}
        {!hasProviders && <Alert error={signing.error} />}
      </div>
    </main>
  )
}
