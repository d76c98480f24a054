import { useMemo } from 'react'
import { useSharedOutline } from '../../data/shares.ts'
import { Loaded } from '../../parts/states.tsx'
import type { PathParams } from '../../router/match.ts'
import css from './trace.module.css'
import { TracePage } from './page.tsx'
import { withSummedCosts } from './summed-costs.ts'

/** A shared trace: it is read with the token of its link and needs no session. */
export function SharedTrace({ params }: { params: PathParams }) {
  const token = params['token'] ?? ''
  const outline = useSharedOutline(token)
  const summed = useMemo(() => outline.data && withSummedCosts(outline.data), [outline.data])
  return (
    <main id="main" className={css['shared']}>
      <Loaded from={outline} heading="h1">
        {(data) => <TracePage outline={summed ?? data} share={token} />}
      </Loaded>
    </main>
  )
}
