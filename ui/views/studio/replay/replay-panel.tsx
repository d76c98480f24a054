import { useEffect, useRef, useState } from 'react'
import type { TreeStep } from '../../../data/studio/branches.ts'
import { Button, Select } from '../../../parts/controls.tsx'
import { durationText } from '../../../parts/format/numbers.ts'
import { LongPlainText } from '../../../parts/markdown/markdown.tsx'
import { Failure } from '../../../parts/states.tsx'
import { useFollowed } from '../run-events.ts'
import css from '../studio.module.css'
import type { Replay, Replayed } from './create-replay.ts'

const SPEEDS = [
  ['1', 'As fast as it ran'],
  ['4', '4 times as fast'],
  ['16', '16 times as fast'],
] as const
type Speed = (typeof SPEEDS)[number][0]
/** Minimum time between two selections: for each, two states are read, which may be large. */
const CHOOSE_MS = 500

interface ReplayPanelProps {
  replay: Replay
  rows: readonly TreeStep[]
  choose(checkpoint: string): void
}

/** The id of the newest checkpoint that the run had made at the current time of the replay. */
function checkpointAt(
  { run, state, startedAt, ms }: Replayed,
  rows: readonly TreeStep[],
): string | undefined {
  // The last checkpoint is made after the last event.
  const until = state === 'ended' ? Number.POSITIVE_INFINITY : startedAt + ms
  const made = rows.find(({ step }) => step.metadata?.run_id === run && Date.parse(step.created_at) <= until)
  return made?.step.checkpoint.checkpoint_id
}

function Progress({ of: { state, startedAt, ms, length, isWhole } }: { of: Replayed }) {
  if (state === 'reading') return <p role="status">Reading the events of the run …</p>
  if (startedAt === 0)
    return (
      <p>
        There is nothing to replay: events are kept for a day, and only those that the run was started to
        stream.
      </p>
    )
  return (
    <>
      <progress
        className={css['progress']}
        value={ms}
        max={Math.max(length, 1)}
        aria-label="Time of the run"
      />
      <p className={css['note']}>
        {durationText(ms * 1000)} of {durationText(length * 1000)}
        {state === 'ended' && ' · the run has ended'}
        {!isWhole && ' · some of its events are missing'}
      </p>
    </>
  )
}

function Playing({ replayed, replay, rows, choose }: ReplayPanelProps & { replayed: Replayed }) {
  const [speed, setSpeed] = useState<Speed>('1')
  const checkpoint = checkpointAt(replayed, rows)
  const chosenAt = useRef(0)
  useEffect(() => {
    if (checkpoint === undefined) return
    const chooseNow = (): void => {
      chosenAt.current = performance.now()
      choose(checkpoint)
    }
    const timer = setTimeout(chooseNow, Math.max(0, chosenAt.current + CHOOSE_MS - performance.now()))
    return () => clearTimeout(timer)
  }, [checkpoint, choose])
  return (
    <section className={css['panel']} aria-label="Replay">
      <div className={css['row']}>
        <h2>Replay</h2>
        <code>{replayed.run.slice(0, 13)}…</code>
        <Button onClick={replay.stop}>End the replay</Button>
      </div>
      <Select<Speed>
        label="Speed of the replay"
        value={speed}
        options={SPEEDS}
        onChange={(word) => {
          setSpeed(word)
          replay.setSpeed(Number(word))
        }}
      />
      {replayed.error === undefined ? <Progress of={replayed} /> : <Failure error={replayed.error} />}
      {replayed.text !== '' && <LongPlainText text={replayed.text} />}
    </section>
  )
}

/** Shows the time of the replayed run and the texts of its models, and selects the checkpoint of that time. */
export function ReplayPanel(props: ReplayPanelProps) {
  const replayed = useFollowed(props.replay.shown)
  if (replayed === undefined) return null
  return <Playing key={replayed.turn} {...props} replayed={replayed} />
}
