import { type ReactNode, useState } from 'react'
import { Icon } from '../../../parts/icon.tsx'
import { PanelBoundary } from '../../../parts/states.tsx'
import css from './run.module.css'

/** A section of a run with its title. A closed one is not rendered; an error in it is shown in its place. */
export function RunSection({
  title,
  note,
  isOpen = true,
  children,
}: {
  title: string
  note?: ReactNode
  isOpen?: boolean
  children: ReactNode
}) {
  const [open, setOpen] = useState(isOpen)
  return (
    <details
      className={css['section']}
      open={open}
      onToggle={({ currentTarget }) => setOpen(currentTarget.open)}
    >
      <summary>
        <Icon name="open" />
        <h3>{title}</h3>
        <span className={css['note']}>{note}</span>
      </summary>
      {open && (
        <div className={css['inside']}>
          <PanelBoundary>{children}</PanelBoundary>
        </div>
      )}
    </details>
  )
}
