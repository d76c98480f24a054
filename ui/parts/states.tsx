import { Component, type ReactNode } from 'react'
import { ApiError } from '../api/problem.ts'
import { JsonFault } from '../api/typed-json.ts'
import { Button } from './controls.tsx'
import { Icon } from './icon.tsx'
import css from './states.module.css'

const WIDTHS = ['62%', '88%', '74%', '91%', '55%', '80%']

/** Grey lines while something loads; they appear after 150 ms. */
export function Skeleton({ label = 'Loading' }: { label?: string }) {
  return (
    <div className={css['skeleton']} role="status" aria-label={label}>
      {WIDTHS.map((width) => (
        <div key={width} className={css['bar']} style={{ width }} />
      ))}
    </div>
  )
}

/** Heading of a state: `h1` where it stands for a whole page. */
type Heading = 'h1' | 'h2'

/** Says that the rows below are still those of the filter before. It appears after 150 ms. */
export function StillReading() {
  return (
    <p className={css['reading']} role="status">
      Reading the new selection …
    </p>
  )
}

/** Shown instead of an empty list: why it is empty, and what to do. */
export function Empty({
  title,
  heading: Title = 'h2',
  children,
}: {
  title: string
  heading?: Heading
  children?: ReactNode
}) {
  return (
    <section className={css['state']}>
      <Title>{title}</Title>
      {children}
    </section>
  )
}

function titleOf(error: unknown): string {
  if (error instanceof JsonFault) return 'This cannot be sent'
  if (!(error instanceof ApiError)) return 'This part of the page failed'
  if (error.status === 0) return 'The server does not answer'
  if (error.status === 403) return 'You may not see this'
  if (error.code === 'share_ended') return 'This link has ended'
  if (error.status === 404) return 'Not found'
  if (error.status === 503) return 'The server cannot answer now'
  return 'The request failed'
}

/** The code of an error, the id of its request, and when to repeat the request, as far as they are known. */
export function ErrorFacts({
  of: { code, request_id, retry_after },
}: {
  of: {
    code?: string | undefined
    request_id?: string | undefined
    retry_after?: number | undefined
  }
}) {
  if (code === undefined && request_id === undefined) return null
  return (
    <p className={css['facts']}>
      {code !== undefined && <code>{code}</code>}
      {request_id !== undefined && (
        <>
          {' · request '}
          <code>{request_id}</code>
        </>
      )}
      {retry_after !== undefined && ` · again in ${retry_after} s`}
    </p>
  )
}

/** An error, and what to do about it. */
export function Failure({
  error,
  heading: Title = 'h2',
  retry,
}: {
  error: unknown
  heading?: Heading
  retry?: () => void
}) {
  const detail = error instanceof Error ? error.message : String(error)
  return (
    <section className={css['state']} role="alert">
      <Title className={css['title']}>
        <Icon name="warning" color="var(--error)" />
        {titleOf(error)}
      </Title>
      <p className={css['detail']}>{detail}</p>
      {error instanceof ApiError && <ErrorFacts of={error} />}
      {retry !== undefined && <Button onClick={retry}>Try again</Button>}
    </section>
  )
}

/** Shows an error of one panel in its place, so that the rest of the page works. */
export class PanelBoundary extends Component<{ heading?: Heading; children: ReactNode }, { error: unknown }> {
  override state: { error: unknown } = { error: undefined }

  static getDerivedStateFromError(error: unknown): { error: unknown } {
    return { error }
  }

  override render(): ReactNode {
    const { error } = this.state
    const { heading = 'h2', children } = this.props
    if (error === undefined) return children
    return <Failure error={error} heading={heading} retry={() => this.setState({ error: undefined })} />
  }
}

/** The part of a query's state that these components read. */
interface Loading<T> {
  data: T | undefined
  error: unknown
  refetch(): unknown
}

/** Shows loaded data; a skeleton while it is loading, or the error if it could not be loaded. */
export function Loaded<T>({
  from,
  heading = 'h2',
  children,
}: {
  from: Loading<T>
  heading?: Heading
  children(data: T): ReactNode
}) {
  if (from.data !== undefined) return children(from.data)
  if (from.error !== null && from.error !== undefined)
    return <Failure error={from.error} heading={heading} retry={() => void from.refetch()} />
  return <Skeleton />
}

const LIVE_STATES = {
  live: ['Live', 'What is new is shown as it comes'],
  connecting: ['', ''],
  broken: ['Not live', 'The connection broke; it is tried again'],
  off: ['Not live', 'The server sends no changes for this page'],
} as const

/** Shows the state of the page's live updates. */
export function LiveMark({ state }: { state: keyof typeof LIVE_STATES }) {
  const [word, title] = LIVE_STATES[state]
  if (word === '') return null
  return (
    <span className={css['live']} data-state={state} title={title}>
      {word}
    </span>
  )
}
