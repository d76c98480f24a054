import { Field } from '../controls.tsx'
import { ChangeForm } from './change-form.tsx'

export interface TypedSecret {
  key: string
  value: string
  hosts: string[]
}

const HOST_ENDS = /[\s,]+/

function typedSecret(form: FormData, name: string | undefined): TypedSecret {
  const typed = (field: string): string => String(form.get(field) ?? '').trim()
  const hosts = typed('hosts').split(HOST_ENDS).filter(Boolean)
  return { key: name ?? typed('key'), value: typed('value'), hosts }
}

/** The form of a secret: its name, if `name` does not give it; its value, which is never shown; and its hosts. */
export function SecretForm({
  label,
  name,
  hosts,
  change,
  save,
  close,
}: {
  label: string
  name?: string
  /** The initial hosts of the form. When they change, they replace the typed ones. */
  hosts: readonly string[]
  change: { error: unknown; isPending: boolean }
  save(secret: TypedSecret): void
  close?(): void
}) {
  return (
    <ChangeForm label={label} change={change} submit={(form) => save(typedSecret(form, name))} close={close}>
      {name === undefined && (
        <label>
          Name
          <Field
            name="key"
            required
            pattern="[A-Za-z_][A-Za-z0-9_]*"
            maxLength={128}
            placeholder="OPENAI_API_KEY"
          />
        </label>
      )}
      <label>
        Value
        <Field name="value" type="password" required autoComplete="new-password" maxLength={8192} />
      </label>
      <label className="wide">
        Hosts that may receive it
        <Field
          key={hosts.join(' ')}
          name="hosts"
          defaultValue={hosts.join(' ')}
          placeholder="api.openai.com"
        />
      </label>
    </ChangeForm>
  )
}
