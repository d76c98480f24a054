import { useEffect } from 'react'
import { readPreference } from '../preferences.ts'

/** Actions by key: `j`, `Enter`, `g p` (one after the other), `Mod+k`. */
export type KeyMap = Readonly<Record<string, (event: KeyboardEvent) => void>>

const TYPED_INTO = 'input:not([type=checkbox]):not([type=radio]), textarea, select, [contenteditable=true]'
/** Elements that Enter or the space bar activates. */
const ACTIVATED = 'a, button, summary, label, input, [role=option]'
/** Regions that arrows, Home and End scroll. */
const SCROLLED = '[data-scrolls=true]'
const SEQUENCE_MS = 1000

/** What Escape closes. */
const CLOSED = 'dialog:modal, :popover-open'

/** True for a key that the focused element, or the browser, handles itself. */
function isOwnKey(name: string, target: Element): boolean {
  if (name === 'Escape') return document.querySelector(CLOSED) !== null
  if (name === 'Enter' || name === ' ') return target.closest(ACTIVATED) !== null
  return /^(?:Arrow|Home|End)/.test(name) && target.closest(SCROLLED) !== null
}

/**
 * `Mod+k`, `Shift+Enter`, `j`: Mod is ⌘ or Ctrl. Shift is not added to a letter, because it changes the letter itself.
 */
export function keyName(event: Pick<KeyboardEvent, 'key' | 'metaKey' | 'ctrlKey' | 'altKey'>): string {
  const mod = event.metaKey || event.ctrlKey ? 'Mod+' : ''
  return `${mod}${event.altKey ? 'Alt+' : ''}${event.key}`
}

interface Press {
  key: string
  at: number
}

const recent: { last?: Press; before?: Press } = {}

/** Calls the function of a pressed key while the component is shown. Keys typed into a field are ignored. */
export function useKeys(keys: KeyMap): void {
  useEffect(() => {
    const pressed = (event: KeyboardEvent): void => {
      const name = keyName(event)
      const isTyped = event.target instanceof Element && event.target.matches(TYPED_INTO)
      const isLetter = name.length === 1
      if (event.target instanceof Element && isOwnKey(name, event.target)) return
      if (event.defaultPrevented || (isTyped && !name.startsWith('Mod+'))) return
      if (isLetter && readPreference('letters') === 'off') return
      const { before } = recent
      const first = before !== undefined && event.timeStamp - before.at < SEQUENCE_MS ? before.key : ''
      const act = keys[`${first} ${name}`] ?? keys[name]
      if (act === undefined) return
      event.preventDefault()
      act(event)
    }
    addEventListener('keydown', pressed)
    return () => removeEventListener('keydown', pressed)
  }, [keys])
}

/** Records each key before its function is called, to distinguish `g p` from `p`. Called once, by the shell. */
export function noteKeys(): () => void {
  const note = (event: KeyboardEvent): void => {
    if (recent.last !== undefined) recent.before = recent.last
    recent.last = { key: keyName(event), at: event.timeStamp }
  }
  addEventListener('keydown', note, { capture: true })
  return () => removeEventListener('keydown', note, { capture: true })
}
