import { useEffect, useState } from 'react'
import { copyText } from './copy-text.ts'

const EVENT = 'weir-notice'
const SHOWN_MS = 4000

/** Shows a sentence at the edge of the window for a few seconds, such as the result of a key. */
export function notify(text: string): void {
  dispatchEvent(new CustomEvent(EVENT, { detail: text }))
}

/** Copies a text; shows what was copied, or that the browser does not allow it. */
export async function copyWithNotice(text: string, what: string): Promise<void> {
  const isCopied = await copyText(text)
  notify(isCopied ? `Copied: ${what}` : `The browser does not allow this page to copy: ${text}`)
}

/** The latest notice; drawn once, by the shell. */
export function Notice({ className }: { className: string | undefined }) {
  const [shown, show] = useState<{ text: string }>()
  useEffect(() => {
    const told = (event: Event): void => show({ text: (event as CustomEvent<string>).detail })
    addEventListener(EVENT, told)
    return () => removeEventListener(EVENT, told)
  }, [])
  useEffect(() => {
    if (shown === undefined) return undefined
    const timer = setTimeout(() => show(undefined), SHOWN_MS)
    return () => clearTimeout(timer)
  }, [shown])
  return (
    <div className={className} aria-live="polite">
      {shown?.text}
    </div>
  )
}
