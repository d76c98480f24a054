import { type FormEvent, useEffect, useRef } from 'react'
import { ApiError } from '../../api/problem.ts'
import { useSignIn } from '../../data/session.ts'
import { Button, Field } from '../../parts/controls.tsx'
import { ErrorFacts } from '../../parts/states.tsx'
import css from './sign-in.module.css'

const TICKET = '#ticket='

/** The ticket of a sign-in link. It is removed from the address at once, so that no history keeps it. */
function takeTicket(): string | undefined {
  if (!location.hash.startsWith(TICKET)) return undefined
  const ticket = new URLSearchParams(location.hash.slice(1)).get('ticket') ?? ''
  history.replaceState(null, '', location.pathname + location.search)
  return ticket
}

/** Shows the form for a key, or signs in with the ticket of the address. */
export function SignIn() {
  const field = useRef<HTMLInputElement>(null)
  const taken = useRef(false)
  const signing = useSignIn()
  const { mutate } = signing
  useEffect(() => {
    if (taken.current) return
    taken.current = true
    const ticket = takeTicket()
    if (ticket !== undefined) mutate({ ticket })
  }, [mutate])
  const submit = (event: FormEvent): void => {
    event.preventDefault()
    mutate({ key: field.current?.value.trim() ?? '' })
  }
  return (
    <main className={css['page']}>
      <form className={css['form']} onSubmit={submit}>
        <h1 className={css['brand']}>
          <img src="/app/icon.svg" alt="" width="28" height="28" />
          Weir
        </h1>
        <label className={css['label']}>
          API key
          <Field ref={field} type="password" name="key" required autoFocus placeholder="lsv2_…" />
        </label>
        <Button look="primary" type="submit" disabled={signing.isPending}>
          {signing.isPending ? 'Signing in' : 'Sign in'}
        </Button>
        {signing.error !== null && (
          <div className={css['error']} role="alert">
            {signing.error.message}
            {signing.error instanceof ApiError && <ErrorFacts of={signing.error} />}
          </div>
        )}
        <p className={css['note']}>
          The first key is printed when the server starts for the first time, and is in the file{' '}
          <code>api-key</code> of its data folder. It is sent once and not kept by this page.
        </p>
      </form>
    </main>
  )
}
