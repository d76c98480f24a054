import type { ReactNode } from 'react'
import { Icon } from '../icon.tsx'
import css from './table.module.css'

/**
 * A column: its name alone, or its name with further properties. The cells of numbers have the class `number`, those
 * with the name of a row `name`. A hidden name is for screen readers only.
 */
export type TableColumn = string | ColumnHead

interface ColumnHead {
  name: string
  title?: string | undefined
  isNumber?: boolean
  isHidden?: boolean
  /** How the rows are sorted by this column, and a function that sorts them by it. */
  sort?: { order: 'ascending' | 'descending' | undefined; change(): void }
}

/** The column of the buttons that change a row. */
export const CHANGE: TableColumn = { name: 'Change', isHidden: true }

/** The head of a column that sorts the rows, with an arrow if they are sorted by it. */
export function SortButton({
  order,
  change,
  children,
}: {
  order: 'ascending' | 'descending' | undefined
  change(): void
  children: ReactNode
}) {
  return (
    <button type="button" className={css['sort']} onClick={change}>
      {order !== undefined && <Icon name={order === 'descending' ? 'fold' : 'up'} />}
      {children}
    </button>
  )
}

function Head({ name, title, isNumber, isHidden, sort }: ColumnHead) {
  return (
    <th scope="col" title={title} className={isNumber ? 'number' : undefined} aria-sort={sort?.order}>
      {sort === undefined ? (
        isHidden ? (
          <span className="out-of-sight">{name}</span>
        ) : (
          name
        )
      ) : (
        <SortButton order={sort.order} change={sort.change}>
          {name}
        </SortButton>
      )}
    </th>
  )
}

/**
 * A table that scrolls sideways in a narrow window; its children are the rows. A page changes the size of all its cells
 * by the variables in table.module.css, and a single table by a class of its region.
 */
export function Table({
  label,
  columns = [],
  className = '',
  children,
}: {
  label: string
  /** Without columns, the table has no head. */
  columns?: readonly TableColumn[]
  className?: string | undefined
  children: ReactNode
}) {
  return (
    <div className={`${css['scroll']} ${className}`} tabIndex={0} role="region" aria-label={label}>
      <table className={css['table']}>
        {columns.length > 0 && (
          <thead>
            <tr>
              {columns.map((column, at) => (
                <Head key={at} {...(typeof column === 'string' ? { name: column } : column)} />
              ))}
            </tr>
          </thead>
        )}
        <tbody>{children}</tbody>
      </table>
    </div>
  )
}
