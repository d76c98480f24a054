import { usePermission } from '../../data/session.ts'
import { useSecretChanges } from '../../data/settings/secrets.ts'
import { Icon } from '../../parts/icon.tsx'
import { SecretForm } from '../../parts/forms/secret-form.tsx'
import css from './playground.module.css'

function hostOf(address: string): string[] {
  return URL.canParse(address) ? [new URL(address).host] : []
}

/**
 * Shown while the secret of a call is not set: the form for it, or a text about who can set it. `name` is that of the
 * column.
 */
export function MissingSecret({ secret, address, name }: { secret: string; address: string; name: string }) {
  const { isAllowed } = usePermission('secrets:manage')
  const { put } = useSecretChanges()
  if (put.isSuccess)
    return (
      <p className={css['note']} role="status">
        The secret <code>{secret}</code> is set. Run again.
      </p>
    )
  return (
    <div className={css['missing']}>
      <p className={css['warn']}>
        <Icon name="warning" />
        <span>
          The secret <code>{secret}</code> is not set.
          {!isAllowed && ' Somebody with the permission secrets:manage can set it under Settings.'}
        </span>
      </p>
      {isAllowed && (
        <>
          <p className={css['note']}>
            It is stored encrypted, and sent to these hosts only. For a server that asks for no key, enter any
            text.
          </p>
          <SecretForm
            label={`Secret ${secret} of ${name}`}
            name={secret}
            hosts={hostOf(address)}
            change={put}
            save={(typed) => put.mutate(typed)}
          />
        </>
      )}
    </div>
  )
}
