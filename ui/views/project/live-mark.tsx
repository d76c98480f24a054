import type { LiveState } from '../../data/live/follow.ts'
import css from './project.module.css'

const STATES = {
  live: ['Live', 'New runs are shown as they come'],
  connecting: ['', ''],
  broken: ['Not live', 'The connection broke; it is tried again'],
  off: ['Not live', 'The server does not tell of changes here'],
} as const

/** Whether the page follows the server. */
export function LiveMark({ state }: { state: LiveState }) {
  const [word, title] = STATES[state]
  if (word === '') return null
  return (
    <span className={css['live']} data-state={state} title={title}>
      {word}
    </span>
  )
}
