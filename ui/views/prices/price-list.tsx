import { useEffect, useState } from 'react'
import type { OwnPrice } from '../../data/prices/own-price.ts'
import { usePriceChanges, usePricePreview } from '../../data/prices/queries.ts'
import { usePermission } from '../../data/session.ts'
import { Button, Field, IconButton } from '../../parts/controls.tsx'
import { Dialog } from '../../parts/forms/dialog.tsx'
import { isManagedBy, ManagedChip, ManagedNote } from '../../parts/forms/managed.tsx'
import { countText, exactMoney } from '../../parts/format/numbers.ts'
import { Failure } from '../../parts/states.tsx'
import { Time } from '../../parts/time.tsx'
import { CHANGE, Table } from '../../parts/table/table.tsx'
import { setParam, useParam } from '../../router/location.ts'
import { textParam } from '../../router/params.ts'
import { partsOf, perMillion, searched } from './form-fields.ts'
import { Preview } from './preview.tsx'
import css from './prices.module.css'

const SEARCH = textParam('q')

/** Dialogs that the buttons of the list open. */
export interface ListChanges {
  add(): void
  edit(price: OwnPrice): void
  /** Opens the form of a new price with the values of this one, for a later start. */
  follow(price: OwnPrice): void
}

function conditionsOf({ conditions }: OwnPrice): string[] {
  return Object.entries(conditions).map((condition) => condition.join(' '))
}

/** The price of a side in dollars per million tokens, and those of its parts. */
function Side({ cost, details }: { cost: string; details: OwnPrice['prompt_cost_details'] }) {
  return (
    <td className="number">
      {exactMoney(perMillion(cost))}
      {partsOf(details).map(([name, price]) => (
        <small key={name} className={css['part']}>
          {name.replaceAll('_', ' ')} {exactMoney(price)}
        </small>
      ))}
    </td>
  )
}

function RowButtons({ price, changes, remove }: { price: OwnPrice; changes: ListChanges; remove(): void }) {
  const { isAllowed, reason } = usePermission('workspaces:manage')
  const labelled = (label: string) => ({
    label: reason ?? `${label} ${price.name}`,
    disabled: !isAllowed,
  })
  return (
    <td className={css['buttons']}>
      <IconButton icon="edit" {...labelled('Edit')} onClick={() => changes.edit(price)} />
      <IconButton icon="clock" {...labelled('Add a later price for')} onClick={() => changes.follow(price)} />
      <IconButton icon="remove" {...labelled('Remove')} onClick={remove} />
    </td>
  )
}

const COLUMNS = [
  ...['Name', 'Model matches', 'Provider', 'From'],
  ...['Prompts above', 'Input, $ per million', 'Output, $ per million'].map((name) => ({
    name,
    isNumber: true,
  })),
  CHANGE,
]

function PriceTable({
  prices,
  changes,
  remove,
}: {
  prices: readonly OwnPrice[]
  changes: ListChanges
  remove(price: OwnPrice): void
}) {
  return (
    <Table label="Own prices" columns={COLUMNS}>
      {prices.map((price) => (
        <tr key={price.id}>
          <th scope="row" title={price.id}>
            {price.name} <ManagedChip managed={price.managed} />
          </th>
          <td>
            <code>{price.match_pattern}</code>
          </td>
          <td>{[price.provider ?? 'any', ...conditionsOf(price)].join(', ')}</td>
          <td>{price.start_time === null ? 'any time' : <Time time={price.start_time} />}</td>
          <td className="number">
            {price.prompt_token_threshold === null ? '' : `${countText(price.prompt_token_threshold)} tokens`}
          </td>
          <Side cost={price.prompt_cost} details={price.prompt_cost_details} />
          <Side cost={price.completion_cost} details={price.completion_cost_details} />
          <RowButtons price={price} changes={changes} remove={() => remove(price)} />
        </tr>
      ))}
    </Table>
  )
}

function RemoveDialog({ price, close }: { price: OwnPrice; close(): void }) {
  const { remove } = usePriceChanges()
  const [override, agree] = useState(false)
  const isManaged = isManagedBy(price.managed, remove.error)
  const preview = usePricePreview()
  const ask = preview.mutate
  useEffect(() => ask({ replaces: price.id }), [ask, price.id])
  return (
    <Dialog title={`Remove the price ${price.name}`} close={close}>
      <p>
        New runs get the next price that matches, own or shipped. Stored costs stay until they are computed
        again.
      </p>
      <Preview asked={preview} range="By the calls of the last 30 days:" />
      {isManaged && <ManagedNote checked={override} onChange={({ target }) => agree(target.checked)} />}
      {remove.error !== null && <Failure error={remove.error} />}
      <div className={css['actions']}>
        <Button
          look="primary"
          disabled={remove.isPending || (isManaged && !override)}
          onClick={() => remove.mutate({ id: price.id, override }, { onSuccess: close })}
        >
          Remove it
        </Button>
        <Button look="plain" onClick={close}>
          Cancel
        </Button>
      </div>
    </Dialog>
  )
}

export function PriceList({ prices, changes }: { prices: readonly OwnPrice[]; changes: ListChanges }) {
  const { isAllowed, reason } = usePermission('workspaces:manage')
  const search = useParam(SEARCH)
  const [removed, setRemoved] = useState<OwnPrice>()
  const found = searched(prices, search)
  return (
    <section className={css['section']} aria-label="Own prices of the workspace">
      <div className={css['head']}>
        <h2>Own prices</h2>
        <div className={css['actions']}>
          <Field
            type="search"
            aria-label="Search own prices"
            placeholder="Name, pattern, provider"
            defaultValue={search}
            onChange={({ target }) => setParam(SEARCH, target.value)}
          />
          <Button icon="plus" disabled={!isAllowed} title={reason} onClick={() => changes.add()}>
            Add a price
          </Button>
        </div>
      </div>
      {prices.length === 0 && (
        <p className={css['note']}>The workspace has no prices of its own; runs have the shipped ones.</p>
      )}
      {prices.length > 0 && found.length === 0 && (
        <p className={css['note']}>None of the {countText(prices.length)} own prices contains this text.</p>
      )}
      {found.length > 0 && <PriceTable prices={found} changes={changes} remove={setRemoved} />}
      {removed !== undefined && <RemoveDialog price={removed} close={() => setRemoved(undefined)} />}
    </section>
  )
}
