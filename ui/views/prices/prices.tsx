import { useRef, useState } from 'react'
import type { OwnPrice } from '../../data/prices/own-price.ts'
import { useOwnPrices } from '../../data/prices/queries.ts'
import { useRowKeys } from '../../parts/keyboard/row-keys.ts'
import { readPreference } from '../../parts/preferences.ts'
import { Loaded } from '../../parts/states.tsx'
import { fieldsFor, fieldsOf } from './form-fields.ts'
import { type Asked, PriceDialog } from './price-dialog.tsx'
import { PriceList } from './price-list.tsx'
import css from './prices.module.css'
import { Reprice } from './reprice.tsx'
import { TryBox } from './try-box.tsx'
import { UnpricedModels } from './unpriced.tsx'

/**
 * The page of prices: models without a price, the price of a run, the workspace's own prices, and the recalculation of
 * stored costs.
 */
export function Prices() {
  const own = useOwnPrices()
  const [asked, ask] = useState<Asked>()
  const page = useRef<HTMLDivElement>(null)
  useRowKeys(page)
  const add = (model = '', provider = ''): void => ask({ fields: fieldsFor(model, provider) })
  const edit = (price: OwnPrice): void =>
    ask({ fields: fieldsOf(price, readPreference('zone')), edited: price })
  const follow = (price: OwnPrice): void => ask({ fields: { ...fieldsOf(price), start_time: '' } })
  return (
    <div ref={page} className={css['page']}>
      <h1>Prices</h1>
      <UnpricedModels add={add} />
      <TryBox own={own.data ?? []} add={add} />
      <Loaded from={own}>{(prices) => <PriceList prices={prices} changes={{ add, edit, follow }} />}</Loaded>
      <Reprice />
      {asked !== undefined && <PriceDialog asked={asked} close={() => ask(undefined)} />}
    </div>
  )
}
