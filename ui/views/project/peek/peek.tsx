import { useQuery } from '@tanstack/react-query'
import { Fragment, type ReactNode, useEffect, useState } from 'react'
import { llmOf } from '../../../data/llm-facts.ts'
import { quoted } from '../../../data/filter/filter.ts'
import { narrowed } from '../../../data/overview/selection.ts'
import type { ListedRun } from '../../../data/run-pages.ts'
import { type ReadRun, runOptions } from '../../../data/runs.ts'
import { Messages } from '../../../parts/chat/messages.tsx'
import { Payload } from '../../../parts/chat/payload.tsx'
import { Chip, IconButton } from '../../../parts/controls.tsx'
import { durationText, shortCount } from '../../../parts/format/numbers.ts'
import { microsBetween } from '../../../parts/format/times.ts'
import { StatusIcon, TypeIcon } from '../../../parts/icon.tsx'
import { exactText, firstEntries } from '../../../parts/json/json-text.ts'
import { MoneyCell } from '../../../parts/money.tsx'
import { usePreference } from '../../../parts/preferences.ts'
import { Failure, PanelBoundary, Skeleton } from '../../../parts/states.tsx'
import { Time } from '../../../parts/time.tsx'
import { Link } from '../../../router/link.tsx'
import { currentPath, navigate, useParam } from '../../../router/location.ts'
import { withParams } from '../../../router/params.ts'
import { FILTER } from '../bar.tsx'
import { pathOf } from '../columns.tsx'
import css from './peek.module.css'
import { Steps } from './steps.tsx'

/** A run is read once it has stayed in the panel for so long, so that a held key reads none of those in between. */
const SETTLED_MS = 150

function useSettled(id: string): string {
  const [settled, settle] = useState(id)
  useEffect(() => {
    const timer = setTimeout(() => settle(id), SETTLED_MS)
    return () => clearTimeout(timer)
  }, [id])
  return settled
}

function Section({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section className={css['section']} aria-label={title}>
      <h3>{title}</h3>
      <PanelBoundary>{children}</PanelBoundary>
    </section>
  )
}

function Facts({ run }: { run: ListedRun }) {
  const model = run.llm?.model
  return (
    <p className={css['facts']}>
      <span>{durationText(microsBetween(run.start_time, run.end_time))}</span>
      {(run.total_tokens ?? 0) > 0 && <span>{shortCount(run.total_tokens)} tokens</span>}
      {(typeof run.total_cost === 'string' || (run.unpriced_runs ?? 0) > 0) && (
        <MoneyCell value={run.total_cost} estimated={run.estimated_cost} unpriced={run.unpriced_runs} />
      )}
      {typeof model === 'string' && <span>{model}</span>}
      <Time time={run.start_time} />
      {run.tags?.map((tag) => (
        <Chip key={tag}>{tag}</Chip>
      ))}
    </p>
  )
}

/** One side of a run: its messages, or what was sent. */
function Side({ run, side }: { run: ReadRun; side: 'input' | 'output' }) {
  const isMarkdown = usePreference('text') === 'markdown'
  const messages = llmOf(run)?.messages?.[side] ?? []
  const path = side === 'input' ? 'inputs' : 'outputs'
  const value = run[path]
  const isEmpty =
    value === null || value === undefined || (typeof value === 'object' && firstEntries(value, 0).count === 0)
  if (messages.length === 0 && isEmpty) return null
  return (
    <Section title={side === 'input' ? 'Input' : 'Output'}>
      {messages.length > 0 ? (
        <Messages messages={messages} isMarkdown={isMarkdown} />
      ) : (
        <Payload {...{ value, path, isMarkdown }} inputs={side === 'output' ? run.inputs : undefined} />
      )}
    </Section>
  )
}

/** Entries of the metadata that are shown at most. */
const MOST_ENTRIES = 60

/** The metadata of a run. A value narrows the list to the runs that have it. */
function Metadata({ of }: { of: unknown }) {
  const filter = useParam(FILTER)
  return (
    <dl className={css['metadata']}>
      {firstEntries(of, MOST_ENTRIES).entries.map(([key, value]) => {
        const clause = `has(metadata, ${quoted(JSON.stringify({ [key]: value }))})`
        const to = currentPath() + withParams(location.search, { q: narrowed(filter, [clause]) })
        return (
          <Fragment key={key}>
            <dt>{key}</dt>
            <dd>{typeof value === 'string' ? <Link to={to}>{value}</Link> : exactText(value, 0)}</dd>
          </Fragment>
        )
      })}
    </dl>
  )
}

function Contents({ run }: { run: ListedRun }) {
  const { data, error, refetch } = useQuery(runOptions(useSettled(run.id)))
  if (error !== null) return <Failure error={error} retry={() => void refetch()} />
  if (data?.id !== run.id) return <Skeleton />
  const metadata = data.extra?.['metadata']
  return (
    <>
      <Side run={data} side="input" />
      <Side run={data} side="output" />
      {data.parent_run_id === null && (
        <Section title="Steps">
          <Steps run={run} />
        </Section>
      )}
      {firstEntries(metadata, 0).count > 0 && (
        <Section title="Metadata">
          <Metadata of={metadata} />
        </Section>
      )}
    </>
  )
}

/**
 * The marked run of a list beside the list: what was asked, answered and done, without leaving the list. `step` marks
 * the next or the previous run.
 */
export function Peek({ run, step, close }: { run: ListedRun; step(by: number): void; close(): void }) {
  const path = pathOf(run)
  return (
    <section className={css['peek']} aria-label="The marked run">
      <header className={css['head']}>
        <div className={css['title']}>
          <StatusIcon status={run.status} />
          <TypeIcon type={run.run_type} />
          <h2>
            <Link to={path}>{run.name}</Link>
          </h2>
          <IconButton icon="up" label="Previous run  k" onClick={() => step(-1)} />
          <IconButton icon="fold" label="Next run  j" onClick={() => step(1)} />
          <IconButton icon="open" label="Open the trace  Enter" onClick={() => navigate(path)} />
          <IconButton icon="close" label="Close the panel  Esc" onClick={close} />
        </div>
        <Facts run={run} />
      </header>
      <div
        key={run.id}
        id="peek"
        className={css['body']}
        tabIndex={0}
        data-scrolls="true"
        role="region"
        aria-label="Its contents"
      >
        {(run.error ?? '') !== '' && <pre className={css['error']}>{run.error}</pre>}
        <Contents run={run} />
      </div>
    </section>
  )
}
