import type { ReactNode } from 'react'
import css from './page-head.module.css'

/** The head of a page that fills the window: its title, facts and buttons in a row, above a line. */
export function PageHead({
  className = '',
  children,
}: {
  className?: string | undefined
  children: ReactNode
}) {
  return <header className={`${css['head']} ${className}`}>{children}</header>
}

/** Where a page is: links to what contains it, before its title. */
export function Place({ label, children }: { label: string; children: ReactNode }) {
  return (
    <nav aria-label={label} className={css['place']}>
      {children}
      <span aria-hidden="true">/</span>
    </nav>
  )
}
