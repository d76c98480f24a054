import { usePermission } from '../../data/session.ts'
import { useShare } from '../../data/shares.ts'
import { Button, CopyButton, Field } from '../../parts/controls.tsx'
import { Dialog } from '../../parts/forms/dialog.tsx'
import { Failure, Loaded } from '../../parts/states.tsx'
import css from './trace.module.css'

/** Shares a trace with everyone who has the link, and ends the share. */
export function ShareDialog({ runId, close }: { runId: string; close(): void }) {
  const { found, share, end } = useShare(runId)
  const { isAllowed, reason } = usePermission('runs:create')
  const error = share.error ?? end.error
  return (
    <Dialog title="Share this trace" close={close}>
      <Loaded from={found}>
        {(token) =>
          token === null ? (
            <>
              <p>
                Everybody who has the link can read the whole trace without a key: inputs, outputs, metadata
                and costs. Attachments stay private.
              </p>
              <div>
                <Button
                  look="primary"
                  disabled={!isAllowed || share.isPending}
                  title={reason}
                  onClick={() => share.mutate()}
                >
                  Make a link
                </Button>
              </div>
            </>
          ) : (
            <>
              <p>Everybody who has this link can read the whole trace.</p>
              <div className={css['link']}>
                <Field
                  readOnly
                  aria-label="Link"
                  value={`${location.origin}/public/${token}/r`}
                  onFocus={({ target }) => target.select()}
                />
                <CopyButton text={`${location.origin}/public/${token}/r`} label="Copy the link" />
              </div>
              <div>
                <Button disabled={!isAllowed || end.isPending} title={reason} onClick={() => end.mutate()}>
                  Stop sharing
                </Button>
              </div>
            </>
          )
        }
      </Loaded>
      {error !== null && <Failure error={error} />}
    </Dialog>
  )
}
