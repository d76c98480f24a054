import { type ReactNode, useState } from 'react'
import { useDeploymentRead } from '../../data/deployments/contents.ts'
import { type Deployment, useDeploymentChange } from '../../data/deployments/deployments.ts'
import { useProjects } from '../../data/projects/projects.ts'
import { usePermission } from '../../data/session.ts'
import { Button, Field } from '../../parts/controls.tsx'
import { Dialog } from '../../parts/forms/dialog.tsx'
import { Graph } from '../../parts/graph/graph.tsx'
import type { GraphDrawing } from '../../parts/graph/layout.ts'
import { Failure, Loaded } from '../../parts/states.tsx'
import { Time } from '../../parts/time.tsx'
import { Link } from '../../router/link.tsx'
import { navigate } from '../../router/location.ts'
import css from './deployments.module.css'

const ISOLATION = {
  none: 'none: graphs run with the rights of the server',
  uid: 'user id: graphs cannot read files of other deployments or of the server',
  sandbox: 'sandbox: graphs see only their own files',
  container: 'containers: graphs see only their own files, with bounds of memory, processors and processes',
}

function GraphFigure({
  name,
  graph_id,
  unavailable,
}: {
  name: string
  graph_id: string
  unavailable: string | null
}) {
  const drawing = useDeploymentRead<GraphDrawing>(
    name,
    `/assistants/${encodeURIComponent(graph_id)}/graph?xray=true`,
    {
      isOn: unavailable === null,
    },
  )
  return (
    <figure className={css['figure']}>
      <figcaption>
        <h3>{graph_id}</h3>
      </figcaption>
      {unavailable !== null ? (
        <p className={css['bad']}>It cannot be loaded: {unavailable}</p>
      ) : (
        <Loaded from={drawing}>{(found) => <Graph drawing={found} label={`Graph ${graph_id}`} />}</Loaded>
      )}
    </figure>
  )
}

function DeleteDialog({ deployment, close }: { deployment: Deployment; close(): void }) {
  const change = useDeploymentChange(deployment.id)
  const [typed, setTyped] = useState('')
  return (
    <Dialog title={`Delete ${deployment.name}`} close={close}>
      <p>
        Its runs are cancelled, and its threads, crons, store, assistants, secrets and builds are erased.
        Traces stay. Type the name to confirm.
      </p>
      {change.error !== null && <Failure error={change.error} />}
      <form
        className={css['actions']}
        onSubmit={(event) => {
          event.preventDefault()
          if (typed !== deployment.name) return
          change.mutate({ kind: 'delete' }, { onSuccess: () => navigate('/deployments') })
        }}
      >
        <Field
          aria-label="Name of the deployment"
          value={typed}
          onChange={({ target }) => setTyped(target.value)}
        />
        <Button type="submit" look="primary" disabled={typed !== deployment.name || change.isPending}>
          Delete it
        </Button>
      </form>
    </Dialog>
  )
}

function Facts({ deployment }: { deployment: Deployment }) {
  const { id, name, weir, source_config, secrets, created_at, updated_at } = deployment
  const project = useProjects(name).data?.find((one) => one.name === name)
  const revision =
    weir.managed_by === 'server' ? 'that of GRAPHS, which this server was started with' : weir.active_revision
  const facts: readonly (readonly [string, ReactNode])[] = [
    ['Address', <code key="a">{source_config.custom_url}</code>],
    ['Id', <code key="i">{id}</code>],
    ['Type', source_config.deployment_type],
    ['Revision', revision ?? 'none yet'],
    ...weir.draining.map(({ number, runs }) => [`Revision ${number} ends`, `${runs} runs left`] as const),
    ['Runs now', String(weir.runs)],
    ['Host processes', String(weir.hosts)],
    ['Isolation', ISOLATION[weir.isolation]],
    [
      'Traces',
      project === undefined ? (
        'none yet'
      ) : (
        <Link key="t" to={`/projects/${project.id}`}>
          {name}
        </Link>
      ),
    ],
    ['Created', <Time key="c" time={created_at} />],
    ['Updated', <Time key="u" time={updated_at} />],
    ['Secrets', secrets.map((one) => one.name).join(', ') || 'none'],
  ]
  return (
    <dl className={css['facts']}>
      {facts.map(([term, fact]) => (
        <div key={term}>
          <dt>{term}</dt>
          <dd>{fact}</dd>
        </div>
      ))}
    </dl>
  )
}

/** What a deployment serves and with what. */
export function DeploymentOverview({ deployment }: { deployment: Deployment }) {
  const { name, weir } = deployment
  const { isAllowed, reason } = usePermission('deployments:manage')
  const [isDeleting, setDeleting] = useState(false)
  return (
    <>
      <Facts deployment={deployment} />
      <section className={css['section']} aria-label="Graphs">
        <h2>Graphs</h2>
        <div className={css['graphs']}>
          {weir.graphs.map((graph) => (
            <GraphFigure key={graph.graph_id} name={name} {...graph} />
          ))}
        </div>
      </section>
      {weir.managed_by !== 'server' && (
        <div>
          <Button disabled={!isAllowed} title={reason} onClick={() => setDeleting(true)}>
            Delete the deployment
          </Button>
        </div>
      )}
      {isDeleting && <DeleteDialog deployment={deployment} close={() => setDeleting(false)} />}
    </>
  )
}
