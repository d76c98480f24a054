import { useState } from 'react'
import type { ScimToken } from '../../../api/platform.gen.ts'
import { useSession } from '../../../data/session.ts'
import { useScimTokenChanges, useScimTokens } from '../../../data/settings/scim-tokens.ts'
import { type SignInWays, useSignInWays } from '../../../data/sign-in.ts'
import { Button, Field, IconButton, Select } from '../../../parts/controls.tsx'
import { ChangeForm } from '../../../parts/forms/change-form.tsx'
import { Confirm } from '../../../parts/forms/confirm.tsx'
import { Dialog } from '../../../parts/forms/dialog.tsx'
import { ShownOnce } from '../../../parts/forms/shown-once.tsx'
import { Loaded } from '../../../parts/states.tsx'
import { CHANGE, Table } from '../../../parts/table/table.tsx'
import { Time } from '../../../parts/time.tsx'
import css from '../settings.module.css'

type Providers = SignInWays['providers']

/** The new token and its address. */
function CreatedToken({ token, base_url, close }: { token: string; base_url: string; close(): void }) {
  const values = [
    { text: base_url, copy: 'Copy the address' },
    { text: token, copy: 'Copy the token' },
  ]
  return (
    <ShownOnce values={values} close={close}>
      Put both into the form of the provider. The token is shown only this once.
    </ShownOnce>
  )
}

/** The form of a new token; after that the token, which is shown only once. */
function TokenDialog({ providers, close }: { providers: Providers; close(): void }) {
  const { create } = useScimTokenChanges()
  const [provider, choose] = useState(providers[0]?.id ?? '')
  const submit = (form: FormData): void => {
    const description = String(form.get('description') ?? '').trim()
    create.mutate({ provider, ...(description !== '' && { description }) })
  }
  return (
    <Dialog title="New SCIM token" close={close}>
      {create.data === undefined ? (
        <ChangeForm label="New SCIM token" change={create} submit={submit} action="Create" close={close}>
          <label className="wide">
            Name, for whom or what it is
            <Field name="description" maxLength={255} placeholder="SCIM" autoFocus />
          </label>
          {providers.length > 1 && (
            <label>
              Provider
              <Select
                label="Provider"
                value={provider}
                options={providers.map(({ id, name }) => [id, name] as const)}
                onChange={choose}
              />
            </label>
          )}
        </ChangeForm>
      ) : (
        <CreatedToken token={create.data.token} base_url={create.data.base_url} close={close} />
      )}
    </Dialog>
  )
}

function RevokeDialog({ token, close }: { token: ScimToken; close(): void }) {
  const { remove } = useScimTokenChanges()
  return (
    <Confirm
      title={`Revoke the SCIM token ${token.description}`}
      action="Revoke it"
      change={remove}
      confirm={() => remove.mutate(token.id, { onSuccess: close })}
      close={close}
    >
      The provider can no longer say who comes and goes. Members and their rights stay as they are.
    </Confirm>
  )
}

function TokenTable({
  tokens,
  providers,
  revoke,
}: {
  tokens: readonly ScimToken[]
  providers: Providers
  revoke(token: ScimToken): void
}) {
  return (
    <Table label="SCIM tokens" columns={['Name', 'Provider', 'Created', 'Last used', 'Expires', CHANGE]}>
      {tokens.map((token) => (
        <tr key={token.id}>
          <th scope="row">{token.description}</th>
          <td>{providers.find(({ id }) => id === token.provider)?.name ?? token.provider}</td>
          <td>
            <Time time={token.created_at} />
          </td>
          <td>{token.last_used_at === null ? 'not yet' : <Time time={token.last_used_at} />}</td>
          <td>{token.expires_at === null ? 'never' : <Time time={token.expires_at} />}</td>
          <td className={css['buttons']}>
            <IconButton icon="remove" label={`Revoke ${token.description}`} onClick={() => revoke(token)} />
          </td>
        </tr>
      ))}
    </Table>
  )
}

/**
 * Tokens with which a sign-in provider says who comes and goes: list, make, revoke (rule TEAM-10). Draws nothing without
 * a provider, and for callers who may not use all workspaces.
 */
export function ScimTokens({ isAllowed }: { isAllowed: boolean }) {
  const { data: session } = useSession()
  const { data: ways } = useSignInWays()
  const providers = ways?.providers ?? []
  const isShown = isAllowed && session?.all_workspaces === true && providers.length > 0
  const found = useScimTokens(isShown)
  const [isOpen, setOpen] = useState(false)
  const [revoked, revoke] = useState<ScimToken>()
  if (!isShown) return null
  return (
    <>
      <div className={css['head']}>
        <div>
          <h3>SCIM</h3>
          <p className={css['note']}>
            With a token, the provider adds and removes members without a sign-in.
          </p>
        </div>
        <Button icon="plus" onClick={() => setOpen(true)}>
          Create a SCIM token
        </Button>
      </div>
      <Loaded from={found}>
        {(tokens) =>
          tokens.length === 0 ? (
            <p className={css['none']}>There is no SCIM token yet.</p>
          ) : (
            <TokenTable tokens={tokens} providers={providers} revoke={revoke} />
          )
        }
      </Loaded>
      {isOpen && <TokenDialog providers={providers} close={() => setOpen(false)} />}
      {revoked !== undefined && <RevokeDialog token={revoked} close={() => revoke(undefined)} />}
    </>
  )
}
