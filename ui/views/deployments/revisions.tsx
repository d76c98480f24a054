import { useState } from 'react'
import {
  type Deployment,
  type Revision,
  useDeploymentChange,
  useRevisions,
} from '../../data/deployments/deployments.ts'
import { usePermission } from '../../data/session.ts'
import { Button } from '../../parts/controls.tsx'
import { durationText } from '../../parts/format/numbers.ts'
import { Failure } from '../../parts/states.tsx'
import { Confirm } from '../../parts/forms/confirm.tsx'
import { Time } from '../../parts/time.tsx'
import { PagedTable } from './contents.tsx'
import css from './deployments.module.css'
import { hasFailed, revisionWord } from './state-words.ts'

const ENDED = /^(?:DEPLOYED|.*_FAILED|SKIPPED|INTERRUPTED)$/

function Row({ revision, change }: { revision: Revision; change: ReturnType<typeof useDeploymentChange> }) {
  const { id, status, weir, created_at } = revision
  const { isAllowed, reason } = usePermission('deployments:manage')
  // `deploy` covers `start` and `check`.
  const { create = 0, build = 0, start = 0, check = 0, deploy = start + check } = weir.timings
  const ms = create + build + deploy
  // Only a revision that has served: one that failed would fail again.
  const canRollBack = !weir.is_active && weir.artifact_sha256 !== null && status === 'DEPLOYED'
  const [isAsking, setAsking] = useState(false)
  return (
    <tr>
      <td>{weir.number}</td>
      <td className={hasFailed(status) ? css['bad'] : undefined}>
        <span title={status}>{weir.is_active ? 'serves' : revisionWord(status)}</span>
        {weir.rolled_back_from !== null && ` (build of ${weir.rolled_back_from})`}
      </td>
      <td>{weir.created_by}</td>
      <td>
        <Time time={created_at} />
      </td>
      <td>{ms === 0 ? '–' : durationText(ms * 1000)}</td>
      <td className={css['wide']}>
        {weir.error !== null && (
          <>
            {weir.error.file !== undefined && `${weir.error.file}:${weir.error.line ?? 1} `}
            {weir.error.message}
          </>
        )}
      </td>
      <td>
        {canRollBack && (
          <Button disabled={!isAllowed || change.isPending} title={reason} onClick={() => setAsking(true)}>
            Roll back to {weir.number}
          </Button>
        )}
        {isAsking && (
          <Confirm
            title={`Roll back to revision ${weir.number}`}
            action="Roll back"
            change={change}
            confirm={() =>
              change.mutate({ kind: 'roll back', revision_id: id }, { onSuccess: () => setAsking(false) })
            }
            close={() => setAsking(false)}
          >
            A new revision with the build of {weir.number} will serve all new requests. Runs that have begun
            end where they are.
          </Confirm>
        )}
        {!ENDED.test(status) && (
          <Button
            disabled={!isAllowed || change.isPending}
            title={reason}
            onClick={() => change.mutate({ kind: 'interrupt', revision_id: id })}
          >
            Stop
          </Button>
        )}
      </td>
    </tr>
  )
}

/** The revisions of a deployment, newest first. Rolling back makes a new one with the build of an old one. */
export function Revisions({ deployment }: { deployment: Deployment }) {
  const revisions = useRevisions(deployment.id)
  const change = useDeploymentChange(deployment.id)
  return (
    <>
      {change.error !== null && <Failure error={change.error} />}
      <PagedTable
        label="Revisions"
        from={revisions}
        columns={['Number', 'State', 'By', 'Made', 'Took', 'Error', 'Change']}
      >
        {(revision) => <Row key={revision.id} revision={revision} change={change} />}
      </PagedTable>
    </>
  )
}
