import { useState } from 'react'
import { rangeAround, type TimeSpan } from '../../../data/list/compared-range.ts'
import type { RunQuery } from '../../../data/run-pages.ts'
import { Button } from '../../../parts/controls.tsx'
import { Differences } from './differences.tsx'

/** Compares the runs of a list that has a range between two times with those of the range before. */
export function DiffersButton({ query, before }: { query: RunQuery; before: TimeSpan }) {
  const [isOpen, setOpen] = useState(false)
  const { since, until } = query
  return (
    <>
      <Button title="Compare this range with the times around it" onClick={() => setOpen(true)}>
        What differs
      </Button>
      {isOpen && (
        <Differences
          query={{ ...query, ...rangeAround({ since, until }, before) }}
          compared={{ since, until }}
          close={() => setOpen(false)}
        />
      )}
    </>
  )
}
