import { useSharedOutline } from '../../data/shares.ts'
import { useOutline } from '../../data/traces.ts'
import { Empty, Loaded } from '../../parts/states.tsx'
import type { PathParams } from '../../router/match.ts'
import css from './trace.module.css'
import { TracePage } from './page.tsx'

/** A trace: all of its runs as a tree with times, and the selected run in full. */
export function Trace({ params }: { params: PathParams }) {
  const outline = useOutline(params['id'] ?? '')
  return (
    <Loaded from={outline} heading="h1">
      {(data) =>
        data.ids.length === 0 ? (
          <Empty title="This trace has no runs" heading="h1">
            <p>They may still be on their way, or were deleted.</p>
          </Empty>
        ) : (
          <TracePage outline={data} />
        )
      }
    </Loaded>
  )
}

/** A shared trace: it is read with the token of its link and needs no session. */
export function SharedTrace({ params }: { params: PathParams }) {
  const token = params['token'] ?? ''
  const outline = useSharedOutline(token)
  return (
    <main id="main" className={css['shared']}>
      <Loaded from={outline} heading="h1">
        {(data) => <TracePage outline={data} share={token} />}
      </Loaded>
    </main>
  )
}
