import type { ReactNode } from 'react'
import { Chip } from '../controls.tsx'
import css from './markdown.module.css'
import { safeUrl } from './shown-text.ts'

/** A link to another site, with its host. Other kinds of addresses are shown as text. */
export function OuterLink({ href, children }: { href: string; children: ReactNode }) {
  const url = safeUrl(href)
  if (url === undefined) return <>{children}</>
  return (
    <a href={url.href} target="_blank" rel="noopener noreferrer">
      {children}
      {url.host !== '' && <span className={css['host']}> ({url.host})</span>}
    </a>
  )
}

/** A picture of another site is never loaded: the request would reveal to that site what is being read. */
export function RemoteMedia({ href, what }: { href: string; what: string }) {
  const url = safeUrl(href)
  return (
    <Chip title={href}>
      {what}{' '}
      {url === undefined ? <code>{href.slice(0, 80)}</code> : <OuterLink href={href}>not loaded</OuterLink>}
    </Chip>
  )
}
