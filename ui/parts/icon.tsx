/** Paths of icons on a grid of 16 × 16, drawn as lines. */
const PATHS = {
  chain: 'M6.5 9.5l3-3M7 4.5l1-1a2.8 2.8 0 0 1 4 4l-1 1M9 11.5l-1 1a2.8 2.8 0 0 1-4-4l1-1',
  llm: 'M8 2l1.4 4.6L14 8l-4.6 1.4L8 14l-1.4-4.6L2 8l4.6-1.4z',
  tool: 'M13.5 4.5l-2.5 2.5-2-2 2.5-2.5a3.5 3.5 0 0 0-4.6 4.4L2.5 11.3a1.5 1.5 0 0 0 2.2 2.2l4.4-4.4a3.5 3.5 0 0 0 4.4-4.6z',
  retriever: 'M7 12A5 5 0 1 0 7 2a5 5 0 0 0 0 10zM10.7 10.7L14 14',
  embedding: 'M3 3h4v4H3zM9 3h4v4H9zM3 9h4v4H3zM9 9h4v4H9z',
  prompt: 'M3 3h10v8H7l-3 2.5V11H3z',
  parser: 'M6 3L2.5 8 6 13M10 3l3.5 5-3.5 5',
  other: 'M8 2.5L13.5 8 8 13.5 2.5 8z',
  success: 'M3 8.5l3.5 3.5L13 4.5',
  error: 'M4 4l8 8M12 4l-8 8',
  pending: 'M8 2.5a5.5 5.5 0 1 1-5.5 5.5',
  warning: 'M8 2.5L14 13H2zM8 6.5v3M8 11.2v.3',
  search: 'M7 12A5 5 0 1 0 7 2a5 5 0 0 0 0 10zM10.7 10.7L14 14',
  close: 'M4 4l8 8M12 4l-8 8',
  copy: 'M5.5 5.5h8v8h-8zM10.5 5.5v-3h-8v8h3',
  open: 'M6 4l4 4-4 4',
  fold: 'M4 6l4 4 4-4',
  up: 'M4 10l4-4 4 4',
  edit: 'M3 13l.6-2.8 7-7 2.2 2.2-7 7zM9.4 4.4l2.2 2.2',
  share: 'M8 10V2.5M5.2 5L8 2.2 10.8 5M4.5 8H3v5.5h10V8h-1.5',
  timeline: 'M3 13V9M6.3 13V5M9.7 13V7M13 13V3',
  columns: 'M2.5 3h11v10h-11zM6.2 3v10M9.8 3v10',
  panel: 'M2.5 3h11v10h-11zM9.5 3v10',
  filter: 'M2.5 4h11M4.5 8h7M6.5 12h3',
  sun: 'M8 11a3 3 0 1 0 0-6 3 3 0 0 0 0 6zM8 1.5v1M8 13.5v1M1.5 8h1M13.5 8h1M3.4 3.4l.7.7M11.9 11.9l.7.7M12.6 3.4l-.7.7M4.1 11.9l-.7.7',
  moon: 'M13 9.5A5.5 5.5 0 0 1 6.5 3 5.5 5.5 0 1 0 13 9.5z',
  system: 'M2.5 3h11v8h-11zM6 13.5h4',
  plus: 'M8 3v10M3 8h10',
  bell: 'M4 11.5V7.5a4 4 0 0 1 8 0v4zM2.5 11.5h11M6.8 13.6h2.4',
  back: 'M10 4L6 8l4 4',
  clock: 'M8 2.5a5.5 5.5 0 1 0 0 11 5.5 5.5 0 0 0 0-11zM8 5v3.2l2 1.3',
  out: 'M7 3H3v10h4M6.5 8H13M10.5 5.5L13 8l-2.5 2.5',
  remove: 'M3 4.5h10M6.5 4.5V3h3v1.5M4.5 4.5l.6 8.5h5.8l.6-8.5M6.8 7v3.5M9.2 7v3.5',
  down: 'M8 3v7M5 7.5L8 10.5l3-3M3 13h10',
  refresh: 'M13 8a5 5 0 1 1-1.5-3.6M13 2.5v3h-3',
} as const

export type IconName = keyof typeof PATHS

/** An icon; without `label` screen readers ignore it. */
export function Icon({ name, label, color }: { name: IconName; label?: string; color?: string }) {
  const labelled = label === undefined ? { 'aria-hidden': true } : { role: 'img', 'aria-label': label }
  return (
    <svg
      {...labelled}
      width="16"
      height="16"
      viewBox="0 0 16 16"
      fill="none"
      stroke={color ?? 'currentColor'}
      strokeWidth="1.4"
      strokeLinecap="round"
      strokeLinejoin="round"
      style={{ flex: 'none' }}
    >
      <path d={PATHS[name]} />
    </svg>
  )
}

const TYPES: Readonly<Record<string, { icon: IconName; color: string }>> = {
  chain: { icon: 'chain', color: 'var(--chain)' },
  llm: { icon: 'llm', color: 'var(--llm)' },
  tool: { icon: 'tool', color: 'var(--tool)' },
  retriever: { icon: 'retriever', color: 'var(--retriever)' },
  embedding: { icon: 'embedding', color: 'var(--embedding)' },
  prompt: { icon: 'prompt', color: 'var(--other)' },
  parser: { icon: 'parser', color: 'var(--other)' },
}

/** Icon and colour of a run type; those of `other` for a client's own type. */
export function typeLook(type: string): { icon: IconName; color: string } {
  return TYPES[type] ?? { icon: 'other', color: 'var(--other)' }
}

export function TypeIcon({ type }: { type: string }) {
  const { icon, color } = typeLook(type)
  return <Icon name={icon} color={color} label={type} />
}

const STATUS: Readonly<Record<string, { icon: IconName; color: string; word: string }>> = {
  success: { icon: 'success', color: 'var(--ok)', word: 'success' },
  error: { icon: 'error', color: 'var(--error)', word: 'error' },
  pending: { icon: 'pending', color: 'var(--running)', word: 'running' },
}

/** The state of a run that shows failures: a check mark only if nothing below it failed. */
export function OutcomeIcon({
  status,
  error_runs,
}: {
  status?: string | undefined
  /** The runs that failed, with itself; undefined: not known. */
  error_runs?: number | null | undefined
}) {
  if (status !== 'success' || !error_runs) return <StatusIcon status={status} />
  return <Icon name="warning" color="var(--warn)" label={`success, but ${error_runs} below it failed`} />
}

export function StatusIcon({ status = 'pending' }: { status?: string | undefined }) {
  const { icon, color, word } = STATUS[status] ?? { icon: 'other', color: 'var(--other)', word: status }
  return <Icon name={icon} color={color} label={word} />
}
