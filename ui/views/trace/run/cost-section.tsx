import type { ReadRun } from '../../../data/runs.ts'
import { leastMoney } from '../../../parts/format/least-money.ts'
import { callsText, countText, exactMoney, UNKNOWN } from '../../../parts/format/numbers.ts'
import { Link } from '../../../router/link.tsx'
import { type CostPart, type CostTable, type CostUnit, costTable } from './costs.ts'
import { issuesOf, llmOf } from '../../../data/llm-facts.ts'
import css from './run.module.css'
import { RunSection } from './section.tsx'

const SOURCES: Readonly<Record<string, string>> = {
  client: 'counted by the client',
  vendor: "the vendor's count",
  estimate: 'estimated',
}

function wordsOf(name: string): string {
  return name === 'base' ? 'others' : name.replaceAll('_', ' ')
}

/** A side, or below it one of its parts. */
function PartRow({ part, counted }: { part: CostPart; counted: CostTable['counted'] }) {
  const { side, name, tokens, perMillion, amount, isTold } = part
  const source = counted[side]
  return (
    <tr className={source === 'estimate' ? css['estimate'] : undefined}>
      {name === undefined ? (
        <td>
          {side} <span className={css['note']}>{SOURCES[source] ?? source}</span>
        </td>
      ) : (
        <td className={css['part']}>
          of which {wordsOf(name)} {isTold && <span className={css['note']}>in the other lines</span>}
        </td>
      )}
      <td>{countText(tokens)}</td>
      <td>{perMillion === undefined ? UNKNOWN : exactMoney(perMillion)}</td>
      <td>{amount === undefined ? UNKNOWN : exactMoney(amount)}</td>
    </tr>
  )
}

/** Why the cost of a model call is not known. */
function whyUnknown(run: ReadRun): string {
  const llm = llmOf(run)
  const issue = issuesOf(run).find(({ code }) => code === 'no_price' || code === 'condition_not_priced')
  // The fix for a model without a price is a command for a shell; here the page of prices does it.
  if (issue !== undefined)
    return [issue.message, pricesPath(run) === undefined && issue.fix].filter(Boolean).join(' ')
  if (run.end_time === null) return 'The run has not ended.'
  if (llm?.model === null || llm?.model === undefined)
    return 'The model is not known: send metadata ls_provider and ls_model_name with the run.'
  if (run.total_tokens === null || run.total_tokens === 0) return 'The run has no token counts.'
  return `There is no price for ${llm.model}${llm.provider ? ` of ${llm.provider}` : ''}: add one of your own with POST /model-price-map, then POST /runs/reprice.`
}

/** The path of the page for adding a price to the model of a call; undefined if the model has a price. */
function pricesPath(run: ReadRun): string | undefined {
  const llm = llmOf(run)
  if (!llm?.model || !issuesOf(run).some(({ code }) => code === 'no_price')) return undefined
  const { model, provider } = llm
  const asked = {
    model,
    ...(provider && { provider }),
    at: run.start_time ?? '',
    tokens: String(run.prompt_tokens ?? ''),
  }
  return `/prices?${new URLSearchParams(asked)}`
}

/** Why the cost of a model call is not known, and for readers with a session a link to add a price. */
function Unknown({ run, isShared }: { run: ReadRun; isShared: boolean }) {
  const path = isShared ? undefined : pricesPath(run)
  return (
    <>
      <p>{whyUnknown(run)}</p>
      {path !== undefined && (
        <p>
          <Link to={path}>Add a price</Link>
        </p>
      )}
    </>
  )
}

function Price({ id, source }: { id: string | undefined; source: CostTable['source'] }) {
  if (id === undefined)
    return <>{source === 'vendor' ? 'The vendor stated the cost.' : 'The cost was sent by the client.'}</>
  const kind = id.startsWith('genai-prices:') ? 'a default price of this release' : 'a price of your own'
  const since = /@(\d{4}-\d\d-\d\d)$/.exec(id)?.[1]
  return (
    <>
      Price <code>{id}</code>, {kind}
      {since !== undefined && `, from ${since} on`}.
    </>
  )
}

function UnitRow({ unit: { name, count, each, amount } }: { unit: CostUnit }) {
  const isFee = name === 'requests' && count === undefined
  return (
    <tr>
      <td>
        {isFee ? 'fee of the call' : name === undefined ? 'units and the fee of the call' : wordsOf(name)}
      </td>
      <td>{countText(count)}</td>
      <td>{each === undefined ? UNKNOWN : `${exactMoney(each)} each`}</td>
      <td>{exactMoney(amount)}</td>
    </tr>
  )
}

/** Who says the total, and under which conditions. */
function Source({ table: { priceId, source, computed, addsUp, conditions } }: { table: CostTable }) {
  return (
    <p className={css['note']}>
      <Price id={priceId} source={source} />
      {computed !== undefined && ` The prices say ${exactMoney(computed)}.`}
      {addsUp === true && ' The amounts add up to the total exactly.'}
      {addsUp === false && ' The total was sent by the client and is not the sum of the amounts.'}
      {conditions.length > 0 && ` Conditions: ${conditions.join(', ')}.`}
    </p>
  )
}

/** The numbers of the vendor that were not read, with the lines to report them. */
function Unread({ run }: { run: ReadRun }) {
  const issue = issuesOf(run).find(({ code }) => code === 'usage_unread')
  if (issue === undefined) return null
  return (
    <p>
      {issue.message} {issue.fix}
    </p>
  )
}

/** Tokens and cost of a model call, part by part; for other runs the sums of their descendants. */
export function CostSection({
  run,
  unpriced,
  isShared,
}: {
  run: ReadRun
  /** Calls without a price, of the run and of those below it. */
  unpriced: number
  isShared: boolean
}) {
  const table = costTable(run)
  const { parts, counted, units, total } = table
  if (llmOf(run) === undefined && !run.total_tokens && total === null) return null
  const amount = total === null && unpriced > 0 ? 'no price' : leastMoney(total, unpriced)
  const note = `${countText(run.total_tokens)} tokens · ${amount}`
  return (
    <RunSection title="Tokens and cost" note={note}>
      <div
        className={css['scroll']}
        tabIndex={0}
        role="region"
        aria-label="Tokens and cost by part"
        data-scrolls="true"
      >
        <table className={css['table']}>
          <thead>
            <tr>
              <th scope="col">Part</th>
              <th scope="col">Tokens</th>
              <th scope="col">$ per million</th>
              <th scope="col">Amount</th>
            </tr>
          </thead>
          <tbody>
            {parts.map((part) => (
              <PartRow key={`${part.side} ${part.name}`} part={part} counted={counted} />
            ))}
            {units.map((unit) => (
              <UnitRow key={unit.name ?? ''} unit={unit} />
            ))}
          </tbody>
          <tfoot>
            <tr>
              <td>Total</td>
              <td>{countText(run.total_tokens)}</td>
              <td />
              <td>{amount}</td>
            </tr>
          </tfoot>
        </table>
      </div>
      {llmOf(run) === undefined && (
        <p className={css['note']}>
          The sums of the model calls below, each counted once
          {unpriced > 0 &&
            `, without ${callsText(unpriced)} that ${unpriced === 1 ? 'has' : 'have'} no price`}
          .
        </p>
      )}
      {llmOf(run) !== undefined && total === null && <Unknown run={run} isShared={isShared} />}
      {llmOf(run) !== undefined && total !== null && <Source table={table} />}
      <Unread run={run} />
    </RunSection>
  )
}
