import { type ReactNode, useState } from 'react'
import { drawingPath, useDeploymentRead, useRunsPerMinute } from '../../data/deployments/contents.ts'
import {
  type Deployment,
  useBuildWarnings,
  useDeploymentChange,
  usePlan,
} from '../../data/deployments/deployments.ts'
import { useProjects } from '../../data/projects/projects.ts'
import { usePermission } from '../../data/session.ts'
import { Button, CopyButton, Field } from '../../parts/controls.tsx'
import { bytesText } from '../../parts/format/numbers.ts'
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

const RUNTIME = {
  process: 'processes of this machine',
  container: 'containers',
  kubernetes: 'Kubernetes',
}
const LANGUAGE = { javascript: 'TypeScript or JavaScript', python: 'Python' }

type GraphFacts = Deployment['weir']['graphs'][number]

function GraphFigure({ name, graph_id, language, unavailable }: GraphFacts & { name: string }) {
  const drawing = useDeploymentRead<GraphDrawing>(name, drawingPath(graph_id), {
    isOn: unavailable === null,
  })
  return (
    <figure className={css['figure']}>
      <figcaption>
        <h3>{graph_id}</h3> <span className={css['note']}>{LANGUAGE[language]}</span>
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

/** Shows code of a client that calls `custom_url`. */
function Snippet({ url }: { url: string }) {
  const text = `import { Client } from '@langchain/langgraph-sdk'

const client = new Client({ apiUrl: '${url}', apiKey: process.env.WEIR_API_KEY })
const thread = await client.threads.create()
console.log(await client.assistants.search(), thread)`
  return (
    <details className={css['section']}>
      <summary>Call it from a program</summary>
      <pre className={css['log']} tabIndex={0}>
        {text}
      </pre>
      <div>
        <CopyButton text={text} label="Copy the program" />
      </div>
    </details>
  )
}

function Secrets({ secrets }: Pick<Deployment, 'secrets'>) {
  if (secrets.length === 0) return 'none'
  return (
    <ul>
      {secrets.map(({ name, updated_at }) => (
        <li key={name}>
          <code>{name}</code> <span className={css['note']}>set</span> <Time time={updated_at} />
        </li>
      ))}
    </ul>
  )
}

/**
 * Lists the warnings of the build: settings of langgraph.json that this server does not have, or scripts that were not
 * run.
 */
function Warnings({ deployment: { id, active_revision_id } }: { deployment: Deployment }) {
  const { data = [] } = useBuildWarnings(id, active_revision_id)
  if (data.length === 0) return null
  return (
    <section className={css['section']} aria-label="Warnings of the build">
      <h2>Warnings of the build</h2>
      <ul>
        {data.map((line) => (
          <li key={line.id} className={css['warn']}>
            {line.message}
          </li>
        ))}
      </ul>
    </section>
  )
}

function useFacts(deployment: Deployment): readonly (readonly [string, ReactNode])[] {
  const { id, name, weir, source_config, secrets, created_at, updated_at } = deployment
  const project = useProjects(name).data?.find((one) => one.name === name)
  return [
    ['Address', <code key="a">{source_config.custom_url}</code>],
    [
      'Pages of its HTTP app',
      weir.pages_url === null ? (
        'set DEPLOYMENTS_ORIGIN to open them'
      ) : (
        <a key="p" href={weir.pages_url} target="_blank" rel="noopener noreferrer">
          {weir.pages_url}
        </a>
      ),
    ],
    ['Id', <code key="i">{id}</code>],
    ['Type', source_config.deployment_type],
    ['Plan', usePlan() ?? '–'],
    ['Revision', weir.active_revision ?? 'none yet'],
    ...weir.draining.map(({ number, runs }) => [`Revision ${number} ends`, `${runs} runs left`] as const),
    ['Runs now', String(weir.runs)],
    ['Runs begun in the last minute', useRunsPerMinute(name) ?? '–'],
    ['Host processes', String(weir.hosts)],
    ['Memory of the hosts', weir.memory_bytes === null ? '–' : bytesText(weir.memory_bytes)],
    ['Runtime', RUNTIME[weir.runtime]],
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
    ['Secrets', <Secrets key="s" secrets={secrets} />],
  ]
}

/** Facts that are looked at often; the others are folded in a narrow window. */
const FIRST = new Set([
  'Address',
  'Traces',
  'Revision',
  'Runs now',
  'Runs begun in the last minute',
  'Host processes',
])

function Facts({ deployment }: { deployment: Deployment }) {
  const facts = useFacts(deployment)
  const [isOpen, setOpen] = useState(false)
  return (
    <>
      <dl className={css['facts']} data-open={isOpen}>
        {facts.map(([term, fact]) => (
          <div key={term} data-first={FIRST.has(term)}>
            <dt>{term}</dt>
            <dd>{fact}</dd>
          </div>
        ))}
      </dl>
      <div className={css['moreFacts']}>
        <Button aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
          {isOpen ? 'Fewer facts' : 'All facts'}
        </Button>
      </div>
    </>
  )
}

/** Shows a deployment: its facts, its use from a client, and its settings. */
export function DeploymentOverview({ deployment }: { deployment: Deployment }) {
  const { name, weir } = deployment
  const { isAllowed, reason } = usePermission('deployments:manage')
  const [isDeleting, setDeleting] = useState(false)
  return (
    <>
      <Facts deployment={deployment} />
      <Warnings deployment={deployment} />
      <Snippet url={deployment.source_config.custom_url} />
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
