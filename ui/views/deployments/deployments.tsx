import { useRef } from 'react'
import { type Deployment, useDeployments, useNewerRevision } from '../../data/deployments/deployments.ts'
import { useLiveDeployments } from '../../data/deployments/live.ts'
import { Icon } from '../../parts/icon.tsx'
import { useRowKeys } from '../../parts/keyboard/row-keys.ts'
import { Empty, Loaded } from '../../parts/states.tsx'
import { Time } from '../../parts/time.tsx'
import { Table, type TableColumn } from '../../parts/table/table.tsx'
import { Link } from '../../router/link.tsx'
import css from './deployments.module.css'
import { hasFailed, revisionWord } from './state-words.ts'

/** Whether a deployment serves, and what has become of a newer revision that does not. */
export function ReadyMark({ deployment }: { deployment: Deployment }) {
  const isReady = deployment.status === 'READY'
  const newer = useNewerRevision(deployment)
  const isBroken = newer !== undefined && hasFailed(newer.status)
  return (
    <>
      <span className={`${css['mark']} ${isReady ? css['good'] : css['bad']}`}>
        <Icon name={isReady ? 'success' : 'warning'} /> {isReady ? 'serves' : 'not ready'}
      </span>
      {newer !== undefined && (
        <Link
          className={`${css['mark']} ${isBroken ? css['bad'] : css['note']}`}
          to={`/deployments/${encodeURIComponent(deployment.name)}?view=revisions`}
          title={newer.weir.error?.message}
        >
          {isBroken && <Icon name="error" />} revision {newer.weir.number}: {revisionWord(newer.status)}
        </Link>
      )}
    </>
  )
}

const COLUMNS: readonly TableColumn[] = [
  'Name',
  'State',
  'Graphs',
  { name: 'Running', isNumber: true, title: 'Runs that are active' },
  { name: 'Hosts', isNumber: true, title: 'Processes that execute its graphs' },
  { name: 'Revision', isNumber: true },
  'Type',
  'Updated',
]

function Row({ deployment }: { deployment: Deployment }) {
  const { name, weir, source_config, updated_at } = deployment
  const path = `/deployments/${encodeURIComponent(name)}`
  const broken = weir.graphs.filter(({ unavailable }) => unavailable !== null).length
  return (
    <tr>
      <td className="name">
        <Link to={path}>{name}</Link>
      </td>
      <td>
        <ReadyMark deployment={deployment} />
      </td>
      <td>
        {weir.graphs.map(({ graph_id }) => graph_id).join(', ') || '–'}
        {broken > 0 && <span className={css['bad']}> ({broken} cannot be loaded)</span>}
      </td>
      <td className="number">{weir.runs}</td>
      <td className="number">{weir.hosts}</td>
      <td className="number">{weir.active_revision ?? '–'}</td>
      <td>{source_config.deployment_type}</td>
      <td>
        <Time time={updated_at} />
      </td>
    </tr>
  )
}

export function Deployments() {
  const deployments = useDeployments()
  useLiveDeployments()
  const page = useRef<HTMLDivElement>(null)
  useRowKeys(page)
  return (
    <div ref={page} className={css['page']}>
      <h1>Deployments</h1>
      <Loaded from={deployments}>
        {(found) =>
          found.length > 0 ? (
            <Table label="Deployments" columns={COLUMNS}>
              {found.map((deployment) => (
                <Row key={deployment.id} deployment={deployment} />
              ))}
            </Table>
          ) : (
            <Empty title="There is no deployment in this workspace">
              <p>
                In the folder of your project: <code>weir deploy</code>. Or start the server with{' '}
                <code>GRAPHS=path/to/langgraph.json</code>.
              </p>
            </Empty>
          )
        }
      </Loaded>
    </div>
  )
}
