import { useState } from 'react'
import { useDeploymentApi } from '../../data/deployments/deployment-api.ts'
import { useDeployment } from '../../data/deployments/deployments.ts'
import { Button, Field } from '../../parts/controls.tsx'
import { Dialog } from '../../parts/forms/dialog.tsx'
import css from './studio.module.css'

function TokenDialog({ name, close, used }: { name: string; close(): void; used(): void }) {
  const deployments = useDeploymentApi()
  return (
    <Dialog title="Token of a user" close={close}>
      <p>
        The auth file of this deployment decides about requests of Studio. With a token they are made as its
        user. It is kept in this tab until you close or reload it, and sent as{' '}
        <code>Authorization: Bearer</code>.
      </p>
      <form
        className={css['form']}
        onSubmit={(event) => {
          event.preventDefault()
          deployments.setToken(name, String(new FormData(event.currentTarget).get('token') ?? '').trim())
          close()
          used()
        }}
      >
        <label>
          Token; without one, your session counts
          <Field name="token" type="password" autoComplete="off" maxLength={8192} />
        </label>
        <div>
          <Button type="submit" look="primary">
            Use it
          </Button>
        </div>
      </form>
    </Dialog>
  )
}

/** Shows the form for a user's token, for a deployment whose auth file authenticates requests of Studio. */
export function UserToken({ name, used }: { name: string; used(): void }) {
  const deployment = useDeployment(name)
  const [isAsking, setAsking] = useState(false)
  if (deployment.data?.weir.studio_auth !== 'token') return null
  return (
    <>
      <Button onClick={() => setAsking(true)}>Token of a user</Button>
      {isAsking && <TokenDialog name={name} close={() => setAsking(false)} used={used} />}
    </>
  )
}
