import type { ReactNode } from 'react'
import { Link } from '../../router/link.tsx'

export function StudioLink({
  name,
  thread,
  assistant,
  className,
  children,
}: {
  name: string
  thread?: string
  assistant?: string
  className?: string | undefined
  children: ReactNode
}) {
  const path = `/deployments/${encodeURIComponent(name)}/studio${thread === undefined ? '' : `/${thread}`}`
  return (
    <Link to={assistant === undefined ? path : `${path}?assistant=${assistant}`} className={className}>
      {children}
    </Link>
  )
}
