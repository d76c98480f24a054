import { diffLines, diffWordsWithSpace } from 'diff'
import { useMemo } from 'react'
import css from './word-diff.module.css'

/** Longer texts are compared line by line. */
const MOST_WORDS_CHARS = 20_000
/** Time limit of a comparison; beyond it both texts are shown unmarked. */
const MOST_MS = 500

interface Part {
  value: string
  added?: boolean
  removed?: boolean
}

function differences(a: string, b: string): Part[] {
  const isLong = a.length + b.length > MOST_WORDS_CHARS
  const found = isLong
    ? diffLines(a, b, { timeout: MOST_MS })
    : diffWordsWithSpace(a, b, { timeout: MOST_MS })
  return (
    found ?? [
      { value: a, removed: true },
      { value: b, added: true },
    ]
  )
}

/** One side of two texts, or both in one. The words that the other side does not have are marked. */
export function WordDiff({ a, b, side }: { a: string; b: string; side: 'a' | 'b' | 'both' }) {
  const parts = useMemo(() => differences(a, b), [a, b])
  return (
    <p className={css['text']}>
      {parts.map(({ value, added = false, removed = false }, place) => {
        if (side === 'a' && added) return null
        if (side === 'b' && removed) return null
        if (removed) return <del key={place}>{value}</del>
        return added ? <ins key={place}>{value}</ins> : <span key={place}>{value}</span>
      })}
    </p>
  )
}
