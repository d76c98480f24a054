import type { ReactNode } from 'react'
import { Button } from '../controls.tsx'
import { Failure } from '../states.tsx'
import css from './fields.module.css'
import { isManagedBy, ManagedNote } from './managed.tsx'

/**
 * A form that changes something on the server: labels with their fields, the error of the last try, and the buttons. A
 * child with the class `wide` takes a whole row.
 */
export function ChangeForm({
  label,
  change,
  submit,
  action = 'Save',
  buttons,
  close,
  managed,
  children,
}: {
  label: string
  change: { error: unknown; isPending: boolean }
  submit(form: FormData): void
  /** Text of the button that submits. */
  action?: string
  /** Further buttons. */
  buttons?: ReactNode
  close?: (() => void) | undefined
  /** A set-up file manages the record: the form then has the field `override`. */
  managed?: boolean | undefined
  children: ReactNode
}) {
  return (
    <form
      className={css['fields']}
      aria-label={label}
      onSubmit={(event) => {
        event.preventDefault()
        submit(new FormData(event.currentTarget))
      }}
    >
      {children}
      {isManagedBy(managed, change.error) && <ManagedNote />}
      {change.error !== null && change.error !== undefined && (
        <div className="wide">
          <Failure error={change.error} />
        </div>
      )}
      <div className={`wide ${css['buttons']}`}>
        <Button type="submit" look="primary" disabled={change.isPending}>
          {action}
        </Button>
        {buttons}
        {close !== undefined && (
          <Button look="plain" onClick={close}>
            Cancel
          </Button>
        )}
      </div>
    </form>
  )
}

/** Labels with their fields, outside of a form that is submitted. A child with the class `wide` takes a whole row. */
export function Fields({ children }: { children: ReactNode }) {
  return <div className={css['fields']}>{children}</div>
}
