import { useDeferredValue, useEffect, useRef } from 'react'
import type { Deployment } from '../../data/deployments/deployments.ts'
import { type LogLine, type ShownLines, useLog } from '../../data/deployments/log.ts'
import { Field, Select } from '../../parts/controls.tsx'
import { Empty, LiveMark, Skeleton } from '../../parts/states.tsx'
import { Time } from '../../parts/time.tsx'
import { setParam, useParam } from '../../router/location.ts'
import { textParam, wordParam } from '../../router/params.ts'
import css from './deployments.module.css'

const KINDS = [
  ['all', 'All lines'],
  ['build', 'Builds'],
  ['deploy', 'States, checks, hosts'],
  ['server', 'What graphs print'],
] as const
type Kind = (typeof KINDS)[number][0]
const KIND = wordParam<Kind>('kind', ['all', 'build', 'deploy', 'server'])
const TEXT = textParam('q')

function Lines({ lines }: { lines: readonly LogLine[] }) {
  const box = useRef<HTMLDivElement>(null)
  const isAtEnd = useRef(true)
  useEffect(() => {
    const { current } = box
    if (current !== null && isAtEnd.current) current.scrollTop = current.scrollHeight
  })
  return (
    <div
      ref={box}
      className={css['log']}
      tabIndex={0}
      role="log"
      aria-label="Log"
      data-scrolls="true"
      onScroll={({ currentTarget }) => {
        const { scrollTop, scrollHeight, clientHeight } = currentTarget
        isAtEnd.current = scrollHeight - scrollTop - clientHeight < 40
      }}
    >
      {lines.map(({ id, timestamp, level, kind, message }) => (
        <pre key={id} data-level={level}>
          <Time time={new Date(timestamp).toISOString()} /> {level.padEnd(7)} {kind.padEnd(6)} {message}
        </pre>
      ))}
    </div>
  )
}

/** The lines of one query, as they arrive. */
function FollowedLines(shown: ShownLines) {
  const { lines, state } = useLog(shown)
  return (
    <>
      <LiveMark state={state} />
      {lines === undefined &&
        (state === 'off' || state === 'broken' ? (
          <Empty title={state === 'off' ? 'The server refuses this log' : 'The log cannot be read now'} />
        ) : (
          <Skeleton />
        ))}
      {lines?.length === 0 && <Empty title="There is no line yet" />}
      {lines !== undefined && lines.length > 0 && <Lines lines={lines} />}
    </>
  )
}

/** The log of a deployment: new lines appear at the end as they arrive. */
export function Log({ deployment: { id, weir } }: { deployment: Deployment }) {
  const [kind, text] = [useParam(KIND), useParam(TEXT)]
  const wanted = useDeferredValue(text)
  if (weir.managed_by === 'server')
    return (
      <Empty title="What the graphs of GRAPHS print is in the log of the server">
        <p>Look at the terminal or the log file that the server was started with.</p>
      </Empty>
    )
  return (
    <>
      <div className={css['actions']}>
        <Select<Kind>
          label="Kind of lines"
          value={kind}
          options={KINDS}
          onChange={(word) => setParam(KIND, word)}
        />
        <Field
          type="search"
          aria-label="Lines with this text"
          placeholder="Text"
          defaultValue={text}
          onChange={({ target }) => setParam(TEXT, target.value)}
        />
      </div>
      <FollowedLines
        key={JSON.stringify([id, kind, wanted])}
        {...{ id, kinds: kind === 'all' ? [] : [kind], text: wanted }}
      />
    </>
  )
}
