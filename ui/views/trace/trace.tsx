import { ApiError } from '../../api/problem.ts'
import { useOutline } from '../../data/traces.ts'
import { Button } from '../../parts/controls.tsx'
import { Empty, Loaded } from '../../parts/states.tsx'
import { Link } from '../../router/link.tsx'
import type { PathParams } from '../../router/match.ts'
import { TracePage } from './page.tsx'

/** A trace: all of its runs as a tree with times, and the selected run in full. */
export function Trace({ params }: { params: PathParams }) {
  const outline = useOutline(params['id'] ?? '')
  if (outline.error instanceof ApiError && outline.error.status === 404)
    return (
      <Empty title="There is no such trace" heading="h1">
        <p>It may still be on its way. It may also be deleted, or older than its project keeps traces.</p>
        <Button onClick={() => void outline.refetch()}>Look again</Button>
        <Link to="/projects">Projects</Link>
      </Empty>
    )
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
