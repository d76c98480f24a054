import { useState } from 'react'
import { usePermission } from '../../data/session.ts'
import { useShare } from '../../data/shares.ts'
import { Button, CopyButton, Field, Select } from '../../parts/controls.tsx'
import { Dialog } from '../../parts/forms/dialog.tsx'
import { Failure, Loaded } from '../../parts/states.tsx'
import { Time } from '../../parts/time.tsx'
import css from './trace.module.css'

const DAY_MS = 86_400_000
/** Days until the link ends; 0 for never. */
const CHOICES = [
  ['1', 'after 1 day'],
  ['7', 'after 7 days'],
  ['30', 'after 30 days'],
  ['0', 'never'],
] as const
const CHANGES = [
  ['', 'Change when it ends …'],
  ['1', 'in 1 day'],
  ['7', 'in 7 days'],
  ['30', 'in 30 days'],
  ['0', 'never'],
] as const

function endAfter(days: string): string | null {
  return days === '0' ? null : new Date(Date.now() + Number(days) * DAY_MS).toISOString()
}

type Shared = ReturnType<typeof useShare>

function NewLink({ share, reason }: { share: Shared['share']; reason: string | undefined }) {
  const [days, setDays] = useState<string>('7')
  return (
    <>
      <p>
        Everybody who has the link can read the whole trace without a key: inputs, outputs, metadata and
        costs. Attachments stay private.
      </p>
      <div className={css['ends']}>
        The link ends
        <Select label="The link ends" value={days} options={CHOICES} onChange={setDays} />
      </div>
      <div>
        <Button
          look="primary"
          disabled={reason !== undefined || share.isPending}
          title={reason}
          onClick={() => share.mutate(endAfter(days))}
        >
          Make a link
        </Button>
      </div>
    </>
  )
}

function OpenLink({
  known,
  shared: { share, end },
  reason,
}: {
  known: NonNullable<Shared['found']['data']>
  shared: Shared
  reason: string | undefined
}) {
  const link = `${location.origin}/public/${known.share_token}/r`
  const isBusy = reason !== undefined || share.isPending || end.isPending
  return (
    <>
      <p>
        Everybody who has this link can read the whole trace
        {known.expires_at === undefined ? (
          ', until you stop sharing.'
        ) : (
          <>
            {' until '}
            <Time time={known.expires_at} />.
          </>
        )}
      </p>
      <div className={css['link']}>
        <Field readOnly aria-label="Link" value={link} onFocus={({ target }) => target.select()} />
        <CopyButton text={link} label="Copy the link" />
      </div>
      <div className={css['ends']}>
        {!isBusy && (
          <Select
            label="Change when it ends"
            value=""
            options={CHANGES}
            onChange={(days) => days !== '' && share.mutate(endAfter(days))}
          />
        )}
        <Button disabled={isBusy} title={reason} onClick={() => end.mutate()}>
          Stop sharing
        </Button>
      </div>
    </>
  )
}

/** Shares a trace with everyone who has the link until a time, and ends the share. */
export function ShareDialog({ runId, close }: { runId: string; close(): void }) {
  const shared = useShare(runId)
  const { reason } = usePermission('runs:create')
  const error = shared.share.error ?? shared.end.error
  return (
    <Dialog title="Share this trace" close={close}>
      <Loaded from={shared.found}>
        {(known) =>
          known === null ? (
            <NewLink share={shared.share} reason={reason} />
          ) : (
            <OpenLink known={known} shared={shared} reason={reason} />
          )
        }
      </Loaded>
      {error !== null && <Failure error={error} />}
    </Dialog>
  )
}
