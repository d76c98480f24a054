import { type CSSProperties, type ReactNode, useRef } from 'react'
import { ERROR_TEXTS } from '../../api/error-texts.gen.ts'
import type { IngestHealthRead } from '../../api/platform.gen.ts'
import { useIngestHealth } from '../../data/ingest/health.ts'
import { useIngestLimits } from '../../data/ingest/limits.ts'
import { bytesText, countText, shareText } from '../../parts/format/numbers.ts'
import { Icon } from '../../parts/icon.tsx'
import { useRowKeys } from '../../parts/keyboard/row-keys.ts'
import { Loaded } from '../../parts/states.tsx'
import { Time } from '../../parts/time.tsx'
import { Table } from '../../parts/table/table.tsx'
import { healthWords, mendOf, waitText } from './health-words.ts'
import css from './ingest.module.css'

const TONES = {
  ok: ['success', 'var(--ok)'],
  warn: ['warning', 'var(--warn)'],
  error: ['error', 'var(--error)'],
} as const
/** From this share on, a fill level is drawn as a warning. */
const HIGH = 0.8

interface Read {
  health: IngestHealthRead
  /** The time of the state in `health`. */
  at: Date
}

function State({ health, at }: Read) {
  const { level, title, means, mend } = healthWords(health, at)
  const [icon, tone] = TONES[level]
  return (
    <section className={css['state']} style={{ '--tone': tone } as CSSProperties} aria-live="polite">
      <Icon name={icon} color={tone} label={level} />
      <div>
        <h2>{title}</h2>
        <p>{means}</p>
        {mend !== undefined && <p>{mend}</p>}
      </div>
    </section>
  )
}

function Figure({ name, title, children }: { name: string; title: string; children: ReactNode }) {
  return (
    <div className={css['figure']} title={title}>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  )
}

function Figures({ health, at }: Read) {
  const { accepted, stored, derived, waiting, truncated_requests } = health
  return (
    <dl className={css['figures']}>
      <Figure name="Accepted" title="Records that were acknowledged since the server started">
        {countText(accepted)}
      </Figure>
      <Figure name="Stored" title="Of these, confirmed by the store">
        {countText(stored)}
      </Figure>
      <Figure name="Derived" title="Runs whose tokens, costs and checks were made">
        {countText(derived)}
      </Figure>
      <Figure name="Waiting" title="Acknowledged and not yet confirmed by the store">
        {countText(waiting)}
      </Figure>
      <Figure name="Longest wait" title="How long the oldest waiting record has waited">
        {waitText(health, at) ?? '–'}
      </Figure>
      <Figure name="Broken off" title="Requests whose connection broke before their end">
        {countText(truncated_requests)}
      </Figure>
    </dl>
  )
}

function Fill({ label, used, size, note }: { label: string; used: number; size: number; note: string }) {
  const share = size === 0 ? 0 : Math.min(1, used / size)
  return (
    <div className={css['fill']}>
      <div>
        {label} <span className={css['note']}>{note}</span>
      </div>
      <div
        className={css['track']}
        role="meter"
        aria-label={label}
        aria-valuemin={0}
        aria-valuemax={100}
        aria-valuenow={Math.round(share * 100)}
        aria-valuetext={shareText(share)}
      >
        <div className={share >= HIGH ? css['high'] : undefined} style={{ width: `${share * 100}%` }} />
      </div>
    </div>
  )
}

function Space({ health: { log, disk, store } }: { health: IngestHealthRead }) {
  const used = disk.size_bytes - disk.free_bytes
  return (
    <section className={css['section']}>
      <h2>Space</h2>
      <Fill
        label="Ingest log"
        used={log.bytes}
        size={log.max_bytes}
        note={`${bytesText(log.bytes)} of ${bytesText(log.max_bytes)} wait for the store`}
      />
      <Fill
        label="Disk of DATA_DIR"
        used={used}
        size={disk.size_bytes}
        note={`${bytesText(disk.free_bytes)} of ${bytesText(disk.size_bytes)} are free`}
      />
      <p className={css['note']}>
        The store {store.up ? 'answers' : 'does not answer'}; it confirmed records last:{' '}
        <Time time={store.last_confirmed_at} />
        {store.last_error !== null && <>. Its last error: {store.last_error}</>}
      </p>
    </section>
  )
}

function rateText(value: number | null, text: (value: number) => string): string {
  return value === null ? 'any number' : text(value)
}

/** The limits a minute of the workspace, and what they refused: there, and on the whole server. */
function Limits({ rate_limited }: Pick<IngestHealthRead, 'rate_limited'>) {
  const limits = useIngestLimits()
  return (
    <section className={css['section']}>
      <h2>Limits a minute</h2>
      <Loaded from={limits}>
        {({ ingest, refused }) => (
          <dl className={css['figures']}>
            <Figure name="Runs" title="Creates and updates of runs that the workspace may send in a minute">
              {rateText(ingest.runs_per_minute, countText)}
            </Figure>
            <Figure name="Bytes" title="Bytes that the workspace may send in a minute, after decompression">
              {rateText(ingest.bytes_per_minute, bytesText)}
            </Figure>
            <Figure
              name="Refused here"
              title="Requests of the workspace that were refused since the server started"
            >
              {countText(refused.requests)}
            </Figure>
            <Figure
              name="Refused in all"
              title="Requests of all workspaces that were refused since the server started"
            >
              {countText(rate_limited.requests)}
            </Figure>
          </dl>
        )}
      </Loaded>
      {rate_limited.last_at !== null && (
        <p className={css['note']}>
          Refused last: <Time time={rate_limited.last_at} />. Senders are answered 429 with the time to wait,
          and SDKs send again.
        </p>
      )}
    </section>
  )
}

const COLUMNS = ['Code', { name: 'Records', isNumber: true }, 'Meaning', 'How senders mend it']

function Rejections({ rejected }: Pick<IngestHealthRead, 'rejected'>) {
  const rows = Object.entries(rejected).toSorted(([, a = 0], [, b = 0]) => b - a)
  return (
    <section className={css['section']}>
      <h2>Refused records</h2>
      {rows.length === 0 ? (
        <p className={css['note']}>None since the server started.</p>
      ) : (
        <Table label="Refused records" columns={COLUMNS}>
          {rows.map(([code, count]) => (
            <tr key={code}>
              <td>
                <code>{code}</code>
              </td>
              <td className="number">{countText(count)}</td>
              <td>{ERROR_TEXTS[code] ?? '–'}</td>
              <td>{mendOf(code) ?? '–'}</td>
            </tr>
          ))}
        </Table>
      )}
    </section>
  )
}

/** What the tasks of a lane do. */
const LANE_WORDS: Readonly<Record<string, string>> = {
  decode: 'To be decoded',
  derive: 'To be derived',
  read: 'Reads',
}

function Lanes({ lanes }: Pick<IngestHealthRead, 'lanes'>) {
  return (
    <section className={css['section']}>
      <h2>Work that waits</h2>
      <dl className={css['figures']}>
        {Object.entries(lanes).map(([lane, state]) => (
          <Figure key={lane} name={LANE_WORDS[lane] ?? lane} title="Tasks that wait for a worker thread">
            {countText(state?.queued)}
          </Figure>
        ))}
      </dl>
    </section>
  )
}

/** The state of ingest in words and figures. */
export function Ingest() {
  const { health, at } = useIngestHealth()
  const page = useRef<HTMLDivElement>(null)
  useRowKeys(page)
  return (
    <div ref={page} className={css['page']}>
      <h1>Ingest</h1>
      <Loaded from={health}>
        {(found) => (
          <>
            <State health={found} at={at} />
            <Figures health={found} at={at} />
            <Space health={found} />
            <Limits rate_limited={found.rate_limited} />
            <Rejections rejected={found.rejected} />
            <Lanes lanes={found.lanes} />
          </>
        )}
      </Loaded>
    </div>
  )
}
