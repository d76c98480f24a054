import { useUnpricedModels } from '../../data/prices/queries.ts'
import { usePermission } from '../../data/session.ts'
import { Button } from '../../parts/controls.tsx'
import { countText } from '../../parts/format/numbers.ts'
import css from './prices.module.css'

/** Models without a price, most calls first, each with a button to add one. Draws nothing if every model has a price. */
export function UnpricedModels({ add }: { add(model: string): void }) {
  const { isAllowed, reason } = usePermission('workspaces:manage')
  const { data } = useUnpricedModels()
  if (data === undefined || data.values.length === 0) return null
  return (
    <section className={css['section']} aria-label="Models without a price">
      <h2>Models without a price</h2>
      <p className={css['note']}>
        Calls of the last 30 days whose cost is unknown because no price matches their model. After adding a
        price, compute stored costs again below.
      </p>
      <ul className={css['unpriced']}>
        {data.values.map(({ value, count }) => (
          <li key={value}>
            <code>{value}</code>
            <span className={css['count']}>
              {data.is_whole ? '' : '≥ '}
              {countText(count)} {count === 1 ? 'call' : 'calls'}
            </span>
            <Button
              icon="plus"
              disabled={!isAllowed}
              title={reason}
              aria-label={`Set a price for ${value}`}
              onClick={() => add(value)}
            >
              Set a price
            </Button>
          </li>
        ))}
      </ul>
      {data.has_more && <p className={css['note']}>Further models have fewer calls.</p>}
    </section>
  )
}
