import { useVirtualizer } from '@tanstack/react-virtual'
import { useRef } from 'react'
import type { AlignedRow, Subtree } from '../../data/compare/align.ts'
import { subtractDecimals } from '../../parts/format/decimal.ts'
import { leastShort } from '../../parts/format/least-money.ts'
import { countText, durationText, shortMoney, UNKNOWN } from '../../parts/format/numbers.ts'
import { Icon, TypeIcon } from '../../parts/icon.tsx'
import { rowHeight } from '../../parts/row-height.ts'
import css from './compare.module.css'

const OVERSCAN = 12
const INDENT_PX = 16

interface Figures {
  name: string
  type: string
  status: string
  duration: number | undefined
  /** NaN while unknown. */
  tokens: number
  cost: string | undefined
  /** Calls without a price. */
  unpriced: number
}

/** Figures of a run; tokens and cost without those of the runs below it. */
function figuresOf(
  { outline, tree }: Subtree,
  unpriced: Int32Array,
  position: number | undefined,
): Figures | undefined {
  if (position === undefined) return undefined
  const place = tree.order[position] ?? 0
  const duration = outline.durations[place] ?? Number.NaN
  return {
    name: outline.names[place] ?? '',
    type: outline.types[place] ?? '',
    status: outline.statuses[place] ?? '',
    duration: Number.isNaN(duration) ? undefined : duration,
    tokens: outline.tokens[place] ?? Number.NaN,
    cost: outline.costs[place],
    unpriced: unpriced[place] ?? 0,
  }
}

function signed(text: string, isMore: boolean): string {
  return `${isMore ? '+' : '−'}${text}`
}

function durationDelta(a: Figures, b: Figures): string {
  if (a.duration === undefined || b.duration === undefined) return UNKNOWN
  const delta = b.duration - a.duration
  return delta === 0 ? '=' : signed(durationText(Math.abs(delta)), delta > 0)
}

function tokenDelta(a: Figures, b: Figures): string {
  if (Number.isNaN(a.tokens) && Number.isNaN(b.tokens)) return ''
  const delta = b.tokens - a.tokens
  if (Number.isNaN(delta)) return UNKNOWN
  return delta === 0 ? '=' : signed(countText(Math.abs(delta)), delta > 0)
}

function costDelta(a: Figures, b: Figures): string {
  // The difference of amounts that leave out calls may have either sign.
  if (a.unpriced > 0 || b.unpriced > 0) return 'no price'
  if (a.cost === undefined && b.cost === undefined) return ''
  const delta = a.cost === undefined || b.cost === undefined ? undefined : subtractDecimals(b.cost, a.cost)
  if (delta === undefined) return UNKNOWN
  if (delta === '0') return '='
  return signed(shortMoney(delta.replace('-', '')), !delta.startsWith('-'))
}

function Deltas({ a, b }: { a: Figures | undefined; b: Figures | undefined }) {
  const only = a ?? b
  const texts =
    a === undefined || b === undefined
      ? [durationText(only?.duration), countText(only?.tokens), leastShort(only?.cost, only?.unpriced ?? 0)]
      : [durationDelta(a, b), tokenDelta(a, b), costDelta(a, b)]
  return texts.map((text, place) => (
    <span key={place} role="gridcell" className={css['number']} data-sign={text[0]}>
      {text}
    </span>
  ))
}

function Row({
  row,
  left,
  right,
}: {
  row: AlignedRow
  left: Figures | undefined
  right: Figures | undefined
}) {
  const only = left === undefined ? 'B' : right === undefined ? 'A' : undefined
  const { name = '', type = '' } = left ?? right ?? {}
  const hasFailed = left?.status === 'error' || right?.status === 'error'
  return (
    <>
      <span role="gridcell" className={css['name']}>
        <span style={{ width: row.depth * INDENT_PX, flex: 'none' }} />
        <TypeIcon type={type} />
        {hasFailed && <Icon name="error" color="var(--error)" label="error" />}
        <span>{name}</span>
        {only !== undefined && <span className={css['only']}>only {only}</span>}
      </span>
      <Deltas a={left} b={right} />
    </>
  )
}

const HEADS = [
  ['Run', 'Type and name'],
  ['Time', 'Duration of B minus that of A'],
  ['Tokens', 'Tokens of B minus those of A'],
  ['Cost', 'Cost of B minus that of A'],
] as const

/** The runs of two traces as one tree, with the differences of their figures. */
export function AlignedTable({
  a,
  b,
  unpriced,
  rows,
  selected,
  select,
}: {
  a: Subtree
  b: Subtree
  /** For each place of either trace, the calls without a price. */
  unpriced: Readonly<Record<'a' | 'b', Int32Array>>
  rows: readonly AlignedRow[]
  /** Index of the row whose runs are compared. */
  selected: number
  select(index: number): void
}) {
  const scroller = useRef<HTMLDivElement>(null)
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: rowHeight,
    overscan: OVERSCAN,
    paddingStart: rowHeight(),
  })
  return (
    <div ref={scroller} className={css['tree']} tabIndex={0} role="region" aria-label="Aligned runs">
      <div
        role="grid"
        aria-label="Aligned runs"
        aria-rowcount={rows.length + 1}
        style={{ height: virtual.getTotalSize(), position: 'relative' }}
      >
        <div role="row" className={`${css['row']} ${css['heads']}`}>
          {HEADS.map(([name, title]) => (
            <span key={name} role="columnheader" title={title}>
              {name}
            </span>
          ))}
        </div>
        {virtual.getVirtualItems().map(({ index, start }) => {
          const row = rows[index]
          if (row === undefined) return null
          const [left, right] = [figuresOf(a, unpriced.a, row.a), figuresOf(b, unpriced.b, row.b)]
          return (
            <div
              key={index}
              role="row"
              className={css['row']}
              aria-rowindex={index + 2}
              aria-selected={index === selected}
              data-only={left === undefined || right === undefined}
              style={{ position: 'absolute', transform: `translateY(${start}px)`, top: 0 }}
              onClick={() => select(index)}
            >
              <Row row={row} left={left} right={right} />
            </div>
          )
        })}
      </div>
    </div>
  )
}
