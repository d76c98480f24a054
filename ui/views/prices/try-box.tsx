import type { FormEvent } from 'react'
import type { OwnPrice } from '../../data/prices/own-price.ts'
import { type PricedRun, type PriceLookup, usePriceLookup } from '../../data/prices/queries.ts'
import { usePermission } from '../../data/session.ts'
import { Button, Field } from '../../parts/controls.tsx'
import { exactMoney, UNKNOWN } from '../../parts/format/numbers.ts'
import { isoOfLocal, localText } from '../../parts/format/times.ts'
import { readPreference } from '../../parts/preferences.ts'
import { Loaded } from '../../parts/states.tsx'
import { Time } from '../../parts/time.tsx'
import { setParams, useParam } from '../../router/location.ts'
import { textParam } from '../../router/params.ts'
import { partsOf, perMillion } from './form-fields.ts'
import css from './prices.module.css'

const MODEL = textParam('model')
const PROVIDER = textParam('provider')
const AT = textParam('at')
const TOKENS = textParam('tokens')

type FoundPrice = NonNullable<PriceLookup['price']>

function OwnReason({ price }: { price: OwnPrice | undefined }) {
  if (price === undefined) return <>It comes before the shipped prices.</>
  return (
    <>
      Its pattern <code>{price.match_pattern}</code> matches
      {price.provider !== null && `, for ${price.provider}`}
      {price.start_time !== null && (
        <>
          , from <Time time={price.start_time} />
        </>
      )}
      . Own prices come before the shipped ones.
    </>
  )
}

function amountsOf(price: FoundPrice): (readonly [name: string, amount: string])[] {
  const side = (name: string, cost: string | null, details: FoundPrice['prompt_cost_details']) => [
    [name, cost === null ? UNKNOWN : exactMoney(perMillion(cost))] as const,
    ...partsOf(details).map(
      ([part, amount]) => [`${name}, ${part.replaceAll('_', ' ')}`, exactMoney(amount)] as const,
    ),
  ]
  return [
    ...side('Input', price.prompt_cost, price.prompt_cost_details),
    ...side('Output', price.completion_cost, price.completion_cost_details),
  ]
}

function Found({ price, own }: { price: FoundPrice; own: readonly OwnPrice[] }) {
  const mine = own.find(({ id }) => id === price.price_model_id)
  return (
    <>
      <p>
        {price.source === 'own' ? 'Own price ' : 'Shipped price '}
        {mine === undefined ? <code>{price.price_model_id}</code> : <b>{mine.name}</b>}
        {'. '}
        {price.source === 'own' && <OwnReason price={mine} />}
      </p>
      <dl className={css['amounts']}>
        {amountsOf(price).map(([name, amount]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{amount}</dd>
          </div>
        ))}
      </dl>
      <p className={css['note']}>
        Dollars per million tokens
        {price.request_cost !== '0' && `, and ${exactMoney(price.request_cost)} per call`}.
      </p>
    </>
  )
}

function Missing({ run, add }: { run: PricedRun; add(model: string, provider: string): void }) {
  const { isAllowed, reason } = usePermission('workspaces:manage')
  return (
    <>
      <p>
        No price matches, so the cost of such a run is unknown
        {run.provider === '' && '. A provider may help'}.
      </p>
      <div>
        <Button icon="plus" disabled={!isAllowed} title={reason} onClick={() => add(run.model, run.provider)}>
          Add a price for {run.model}
        </Button>
      </div>
    </>
  )
}

function Answer({
  run,
  own,
  add,
}: {
  run: PricedRun
  own: readonly OwnPrice[]
  add(model: string, provider: string): void
}) {
  const found = usePriceLookup(run)
  return (
    <div className={css['answer']} role="region" aria-label="The price of such a run">
      <Loaded from={found}>
        {({ price, default_prices: { package: name, version, newest_price } }) => (
          <>
            {price === null ? <Missing run={run} add={add} /> : <Found price={price} own={own} />}
            <p className={css['note']}>
              Shipped prices: {name} {version}, the newest of {newest_price}.
            </p>
          </>
        )}
      </Loaded>
    </div>
  )
}

function RunForm({ run }: { run: PricedRun }) {
  const submit = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault()
    const form = new FormData(event.currentTarget)
    const text = (name: string): string | undefined => String(form.get(name) ?? '').trim() || undefined
    setParams({
      model: text('model'),
      provider: text('provider'),
      at: isoOfLocal(form.get('at'), readPreference('zone')) || undefined,
      tokens: text('tokens'),
    })
  }
  return (
    <form className={css['try']} aria-label="Find the price of a run" onSubmit={submit}>
      <label>
        Model
        <Field name="model" required defaultValue={run.model} placeholder="gpt-4.1-mini" />
      </label>
      <label>
        Provider
        <Field name="provider" defaultValue={run.provider} placeholder="any" />
      </label>
      <label>
        Start of the run
        <Field
          name="at"
          type="datetime-local"
          step={1}
          defaultValue={localText(run.at, readPreference('zone'))}
        />
      </label>
      <label>
        Prompt tokens
        <Field name="tokens" type="number" min={0} step={1} defaultValue={run.tokens} />
      </label>
      <Button type="submit">Find its price</Button>
    </form>
  )
}

/** The price that a run would have, and why. The run is in the address. */
export function TryBox({
  own,
  add,
}: {
  own: readonly OwnPrice[]
  add(model: string, provider: string): void
}) {
  const run: PricedRun = {
    model: useParam(MODEL),
    provider: useParam(PROVIDER),
    at: useParam(AT),
    tokens: useParam(TOKENS),
  }
  return (
    <section className={css['section']} aria-label="Which price">
      <h2>Which price would a run have?</h2>
      <RunForm key={Object.values(run).join(' ')} run={run} />
      {run.model !== '' && <Answer run={run} own={own} add={add} />}
    </section>
  )
}
