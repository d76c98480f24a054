import type { ReactNode } from 'react'
import css from './settings.module.css'

/** A table that scrolls sideways in a narrow window. A column without a name is that of the buttons. */
export function Table({
  label,
  columns,
  children,
}: {
  label: string
  columns: readonly string[]
  children: ReactNode
}) {
  return (
    <div className={css['scroll']} tabIndex={0} role="region" aria-label={label}>
      <table className={css['table']}>
        <thead>
          <tr>
            {columns.map((name) => (
              <th key={name} scope="col">
                {name === '' ? <span className="out-of-sight">Change</span> : name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
    </div>
  )
}
