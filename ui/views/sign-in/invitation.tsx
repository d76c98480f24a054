import { useState } from 'react'
import { ApiError } from '../../api/problem.ts'
import { useAcceptance, useInvitation } from '../../data/invitation.ts'
import { useSignIn } from '../../data/session.ts'
import { useSignInWays } from '../../data/sign-in.ts'
import { Button, CopyButton, Field } from '../../parts/controls.tsx'
import { ErrorFacts, Skeleton } from '../../parts/states.tsx'
import { navigate } from '../../router/location.ts'
import { Providers } from './providers.tsx'
import css from './sign-in.module.css'

/** The secret of the link. It is removed from the address at once, so that no history keeps it. */
function takeToken(): string {
  const token = new URLSearchParams(location.hash.slice(1)).get('token') ?? ''
  if (token !== '') history.replaceState(null, '', location.pathname)
  return token
}

function Alert({ error }: { error: Error }) {
  return (
    <div className={css['error']} role="alert">
      {error.message}
      {error instanceof ApiError && <ErrorFacts of={error} />}
    </div>
  )
}

/** The personal token, which is shown once and signs in. */
function NewKey({ value }: { value: string }) {
  const signing = useSignIn()
  return (
    <>
      <p>You are a member now. Copy your key: it is shown only this once, and signs you in.</p>
      <div className={css['key']}>
        <code>{value}</code>
        <CopyButton text={value} label="Copy the key" />
      </div>
      <Button
        look="primary"
        disabled={signing.isPending}
        onClick={() => signing.mutate({ key: value }, { onSuccess: () => navigate('/', { replace: true }) })}
      >
        Sign in
      </Button>
      {signing.error !== null && <Alert error={signing.error} />}
    </>
  )
}

function AcceptForm({ token, needsEmail }: { token: string; needsEmail: boolean }) {
  const acceptance = useAcceptance()
  if (acceptance.data !== undefined) return <NewKey value={acceptance.data.key} />
  const submit = (form: FormData): void => {
    const email = form.get('email')
    acceptance.mutate({
      token,
      full_name: String(form.get('full_name') ?? ''),
      ...(email !== null && { email: String(email) }),
    })
  }
  return (
    <form className={css['form']} action={submit}>
      {needsEmail && (
        <label className={css['label']}>
          Email
          <Field name="email" type="email" required maxLength={254} />
        </label>
      )}
      <label className={css['label']}>
        Your name
        <Field name="full_name" maxLength={255} autoComplete="name" />
      </label>
      <Button look="primary" type="submit" disabled={acceptance.isPending}>
        Accept
      </Button>
      {acceptance.error !== null && <Alert error={acceptance.error} />}
    </form>
  )
}

function Shown({ token }: { token: string }) {
  const found = useInvitation(token)
  const ways = useSignInWays()
  if (found.error !== null) return <Alert error={found.error} />
  if (found.data === undefined || ways.data === undefined) return <Skeleton />
  const { organization, email, role, by_provider } = found.data
  return (
    <>
      <p>
        You are invited to <b>{organization}</b> as {role}
        {email !== null && (
          <>
            {' '}
            with the address <b>{email}</b>
          </>
        )}
        .
      </p>
      {by_provider ? (
        <Providers ways={ways.data} mayLeave={false} />
      ) : (
        <AcceptForm token={token} needsEmail={email === null} />
      )}
    </>
  )
}

/** The page of an invitation's link: what it is for, and how to accept it. */
export function Invitation() {
  const [token] = useState(takeToken)
  return (
    <main className={css['page']}>
      <div className={css['form']}>
        <h1 className={css['brand']}>
          <img src="/app/icon.svg" alt="" width="28" height="28" />
          Weir
        </h1>
        <Shown token={token} />
      </div>
    </main>
  )
}
