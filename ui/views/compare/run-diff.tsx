import { type ReactNode, useState } from 'react'
import { llmOf } from '../../data/llm-facts.ts'
import { type MessagePair, messageTexts, pairMessages } from '../../data/compare/message-diff.ts'
import type { ReadRun } from '../../data/runs.ts'
import { Button } from '../../parts/controls.tsx'
import { WordDiff } from '../../parts/diff/word-diff.tsx'
import { leastMoney } from '../../parts/format/least-money.ts'
import { callsText, countText, durationText, exactMoney } from '../../parts/format/numbers.ts'
import { microsBetween } from '../../parts/format/times.ts'
import { entriesOf, exactText } from '../../parts/json/json-text.ts'
import { PanelBoundary } from '../../parts/states.tsx'
import { Time } from '../../parts/time.tsx'
import { Link } from '../../router/link.tsx'
import css from './compare.module.css'

type Side = 'a' | 'b'
type Rows = readonly (readonly [name: string, a: string, b: string])[]

const json = (value: unknown): string => exactText(value)

function textOf(value: unknown): string {
  if (value === undefined || value === null) return ''
  return typeof value === 'string' ? value : exactText(value)
}

function Part({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section className={css['part']}>
      <h3>{title}</h3>
      <PanelBoundary>{children}</PanelBoundary>
    </section>
  )
}

/** Values side by side; rows with a difference are marked, and equal ones can be left out. */
function Values({ rows, isBrief = false }: { rows: Rows; isBrief?: boolean }) {
  const [isAll, setAll] = useState(!isBrief)
  const shown = isAll ? rows : rows.filter(([, a, b]) => a !== b)
  const equal = rows.length - shown.length
  return (
    <>
      {shown.length > 0 && (
        <table className={css['values']}>
          <thead>
            <tr>
              <th scope="col">
                <span className="out-of-sight">Name</span>
              </th>
              <th scope="col">A</th>
              <th scope="col">B</th>
            </tr>
          </thead>
          <tbody>
            {shown.map(([name, a, b]) => (
              <tr key={name} data-differs={a !== b}>
                <th scope="row">{name}</th>
                <td>{a || '–'}</td>
                <td>{b || '–'}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {equal > 0 && (
        <div>
          <Button look="plain" onClick={() => setAll(true)}>
            Show {equal} equal
          </Button>
        </div>
      )}
    </>
  )
}

function costText({ total_cost }: ReadRun, unpriced: number): string {
  if (typeof total_cost !== 'string')
    return unpriced > 0 ? `no price for ${callsText(unpriced)}` : exactMoney(total_cost)
  return leastMoney(total_cost, unpriced)
}

function factsOf(run: ReadRun, unpriced: number): Record<string, string> {
  const llm = llmOf(run)
  return {
    status: run.status ?? '',
    latency: durationText(microsBetween(run.start_time, run.end_time)),
    'first token': durationText(microsBetween(run.start_time, run.first_token_time)),
    'prompt tokens': countText(run.prompt_tokens),
    'completion tokens': countText(run.completion_tokens),
    cost: costText(run, unpriced),
    model: [llm?.model, llm?.provider].filter(Boolean).join(' · '),
  }
}

function parametersOf({ extra }: ReadRun): Record<string, string> {
  const of = (name: string): [string, string][] =>
    entriesOf(extra?.[name]).map(([key, value]) => [key, textOf(value)])
  return Object.fromEntries([...of('metadata'), ...of('invocation_params')])
}

function rowsOf(a: Readonly<Record<string, string>>, b: Readonly<Record<string, string>>): Rows {
  return [...new Set([...Object.keys(a), ...Object.keys(b)])].map((name) => [
    name,
    a[name] ?? '',
    b[name] ?? '',
  ])
}

function MessageSide({ pair, side }: { pair: MessagePair; side: Side }) {
  const own = pair[side]
  if (own === undefined) return <div className={css['none']}>not in {side.toUpperCase()}</div>
  const other = pair[side === 'a' ? 'b' : 'a']
  return (
    <div className={css['message']} data-differs={!pair.isEqual} data-role={own.role}>
      <span className={css['role']}>{own.role}</span>
      {pair.isEqual || other === undefined ? (
        <p className={css['text']}>{own.text}</p>
      ) : (
        <WordDiff a={pair.a?.text ?? ''} b={pair.b?.text ?? ''} side={side} />
      )}
    </div>
  )
}

function MessageDiff({ pairs }: { pairs: readonly MessagePair[] }) {
  const [isAll, setAll] = useState(false)
  const shown = isAll ? pairs : pairs.filter(({ isEqual }) => !isEqual)
  const equal = pairs.length - shown.length
  return (
    <>
      {shown.map((pair, place) => (
        <div key={place} className={css['sides']}>
          <MessageSide pair={pair} side="a" />
          <MessageSide pair={pair} side="b" />
        </div>
      ))}
      {equal > 0 && (
        <div>
          <Button look="plain" onClick={() => setAll(true)}>
            Show {equal} equal messages
          </Button>
        </div>
      )}
    </>
  )
}

/** Inputs or outputs of two runs: as messages where both have them, else as JSON. */
function Payloads({
  title,
  a,
  b,
  side,
}: {
  title: string
  a: ReadRun
  b: ReadRun
  side: 'input' | 'output'
}) {
  const of = (run: ReadRun) => llmOf(run)?.messages?.[side] ?? []
  const raw = (run: ReadRun) => (side === 'input' ? run.inputs : run.outputs)
  const isChat = of(a).length > 0 && of(b).length > 0
  const texts = (run: ReadRun) =>
    isChat ? messageTexts(of(run), json) : [{ role: title.toLowerCase(), text: textOf(raw(run)) }]
  return (
    <Part title={title}>
      <MessageDiff pairs={pairMessages(texts(a), texts(b))} />
    </Part>
  )
}

/** Two runs side by side, with their differences marked. `unpriced` are the calls of each that have no price. */
export function RunDiff({
  a,
  b,
  unpriced,
}: {
  a: ReadRun
  b: ReadRun
  unpriced: Readonly<Record<Side, number>>
}) {
  const to = (run: ReadRun): string => `/traces/${run.trace_id}?run=${run.id}`
  const errors = rowsOf({ error: a.error ?? '' }, { error: b.error ?? '' })
  return (
    <div className={css['diff']}>
      <div className={css['sides']}>
        <h2>
          <span className={css['letter']}>A</span> <Link to={to(a)}>{a.name}</Link>{' '}
          <small className={css['note']}>
            <Time time={a.start_time} />
          </small>
        </h2>
        <h2>
          <span className={css['letter']}>B</span> <Link to={to(b)}>{b.name}</Link>{' '}
          <small className={css['note']}>
            <Time time={b.start_time} />
          </small>
        </h2>
      </div>
      <Part title="Figures">
        <Values rows={rowsOf(factsOf(a, unpriced.a), factsOf(b, unpriced.b))} />
      </Part>
      {(a.error || b.error) && (
        <Part title="Error">
          <Values rows={errors} />
        </Part>
      )}
      <Part title="Parameters and metadata">
        <Values key={`${a.id} ${b.id}`} rows={rowsOf(parametersOf(a), parametersOf(b))} isBrief />
      </Part>
      <Payloads title="Input" a={a} b={b} side="input" />
      <Payloads title="Output" a={a} b={b} side="output" />
    </div>
  )
}
