import type { AnchorHTMLAttributes, MouseEvent } from 'react'
import { hrefOf, navigate } from './location.ts'

type LinkProps = Omit<AnchorHTMLAttributes<HTMLAnchorElement>, 'href'> & {
  /** Path below the mount, as `/projects`. */
  to: string
}

/** Whether the browser opens a new tab or window for a click. */
function isForBrowser(event: MouseEvent): boolean {
  return event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey
}

/** A link to a page of the interface. */
export function Link({ to, onClick, ...rest }: LinkProps) {
  return (
    <a
      {...rest}
      href={hrefOf(to)}
      onClick={(event) => {
        onClick?.(event)
        if (event.defaultPrevented || isForBrowser(event)) return
        event.preventDefault()
        navigate(to)
      }}
    />
  )
}
