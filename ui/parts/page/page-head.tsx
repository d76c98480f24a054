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
