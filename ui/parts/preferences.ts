import { useSyncExternalStore } from 'react'

/** Preferences of this browser, each with its possible words; the first word is the default. */
const WORDS = {
  theme: ['system', 'light', 'dark'],
  letters: ['on', 'off'],
  text: ['markdown', 'plain'],
  density: ['usual', 'dense'],
  zone: ['local', 'utc'],
  timeline: ['shown', 'hidden'],
  facets: ['hidden', 'shown'],
} as const

type Preferences = typeof WORDS

const CHANGED = 'weir:preference'

export type PreferenceName = keyof Preferences

/** The chosen word of a preference. */
export function readPreference<N extends PreferenceName>(name: N): Preferences[N][number] {
  const words: readonly string[] = WORDS[name]
  const stored = localStorage.getItem(`weir:${name}`)
  return (words.find((word) => word === stored) ?? words[0]) as Preferences[N][number]
}

/** Stores the word for later visits. */
export function writePreference<N extends PreferenceName>(name: N, word: Preferences[N][number]): void {
  localStorage.setItem(`weir:${name}`, word)
  if (name === 'theme') applyTheme()
  if (name === 'density') applyDensity()
  dispatchEvent(new Event(CHANGED))
}

function onChange(changed: () => void): () => void {
  addEventListener(CHANGED, changed)
  return () => removeEventListener(CHANGED, changed)
}

/** The chosen word of a preference; the component is drawn again when it changes. */
export function usePreference<N extends PreferenceName>(name: N): Preferences[N][number] {
  return useSyncExternalStore(onChange, () => readPreference(name))
}

/**
 * Texts that this browser stores: the columns that were chosen last, the filters of projects, of the page of a trace the
 * shares of its left half and of the names in the tree, and when the newest mention that was shown was written.
 */
export type KeptText = 'columns' | 'filters' | 'trace-left' | 'trace-names' | 'mentions-seen'

/** A text that this browser stores under a name; '' without one. */
export function readKept(name: KeptText): string {
  return localStorage.getItem(`weir:${name}`) ?? ''
}

/** Stores a text for later visits; '' deletes it. */
export function writeKept(name: KeptText, text: string): void {
  if (text === '') localStorage.removeItem(`weir:${name}`)
  else localStorage.setItem(`weir:${name}`, text)
}

const DARK = '(prefers-color-scheme: dark)'

/** Sets the theme of the page by preference and system. */
export function applyTheme(): void {
  const chosen = readPreference('theme')
  const theme = chosen === 'system' ? (matchMedia(DARK).matches ? 'dark' : 'light') : chosen
  document.documentElement.dataset['theme'] = theme
}

/** Sets the height of rows by preference. */
export function applyDensity(): void {
  document.documentElement.dataset['density'] = readPreference('density')
}

/** Updates the theme when the system's changes. */
export function followSystemTheme(): void {
  applyTheme()
  matchMedia(DARK).addEventListener('change', applyTheme)
}
