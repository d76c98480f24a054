import { useRef } from 'react'
import { useDeployments, type Deployment } from '../../data/deployments/deployments.ts'
import { useLiveDeployments } from '../../data/deployments/live.ts'
import { Icon } from '../../parts/icon.tsx'
import { useRowKeys } from '../../parts/keyboard/row-keys.ts'
import { Empty, Loaded } from '../../parts/states.tsx'
import { Time } from '../../parts/time.tsx'
import { Table } from '../../parts/table/table.tsx'
import { Link } from '../../router/link.tsx'
import css from './deployments.module.css'

/** Whether a deployment serves, by icon and word. */
export function ReadyMark({ deployment: { status } }: { deployment: Pick<Deployment, 'status'> }) {
  const isReady = status === 'READY'
  return (
    <span className={isReady ? css['good'] : css['bad']}>
      <Icon name={isReady ? 'success' : 'warning'} /> {isReady ? 'serves' : 'not ready'}
    </span>
  )
}

function Row({ deployment }: { deployment: Deployment }) {
  const { name, weir, source_config, updated_at } = deployment
  const path = `/deployments/${encodeURIComponent(name)}`
  const broken = weir.graphs.filter(({ unavailable }) => unavailable !== null).length
  return (
    <tr>
      <td>
        <Link to={path}>{name}</Link>
      </td>
      <td>
        <ReadyMark deployment={deployment} />
      </td>
      <td>
        {weir.graphs.map(({ graph_id }) => graph_id).join(', ') || '–'}
        {broken > 0 && <span className={css['bad']}> ({broken} cannot be loaded)</span>}
      </td>
      <td>{weir.runs}</td>
      <td>{weir.hosts}</td>
      <td>{weir.managed_by === 'server' ? 'GRAPHS' : (weir.active_revision ?? '–')}</td>
      <td>{source_config.deployment_type}</td>
      <td>
        <Time time={updated_at} />
      </td>
    </tr>
  )
}

/** All deployments of the workspace. */
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
            <Table
              label="Deployments"
              columns={['Name', 'State', 'Graphs', 'Running', 'Hosts', 'Revision', 'Type', 'Updated']}
            >
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
