import type { ReactNode } from 'react'
import type { CountedQuery } from '../../../data/usage/lines.ts'
import { Button } from '../../../parts/controls.tsx'
import { Link } from '../../../router/link.tsx'
import { useParam } from '../../../router/location.ts'
import { textParam } from '../../../router/params.ts'
import css from '../usage.module.css'

const NAME = textParam('name')

/** A time of the report, which lies on a whole hour: `2026-03-01 14:00`. */
function utcText(time: string): string {
  return `${time.slice(0, 10)} ${time.slice(11, 16)}`
}

/** The range of a number in words. For a number of one bar of the chart, also the start of that bar. */
export function rangeText({ start_time, end_time, time_bucket }: CountedQuery): string {
  const bar = time_bucket === undefined ? '' : `, in the bar that begins ${utcText(time_bucket)}`
  return `from ${utcText(start_time)} to ${utcText(end_time)} UTC${bar}`
}

/** The title of a list, with `before` and the group that the address names, and a link to the usage page. */
export function CountedHead({ title, before = ' of ' }: { title: string; before?: string }) {
  const name = useParam(NAME)
  return (
    <div className={css['head']}>
      <h1>
        {title}
        {name !== '' && `${before}${name}`}
      </h1>
      <Link to="/usage">Usage</Link>
    </div>
  )
}

/** Reads the next page of a list. */
export function MoreButton({
  isBusy,
  more,
  children,
}: {
  isBusy: boolean
  more(): void
  children: ReactNode
}) {
  return (
    <p>
      <Button disabled={isBusy} onClick={more}>
        {children}
      </Button>
    </p>
  )
}
