import { lazy, type ReactNode, Suspense, useRef } from 'react'
import { type Deployment, useDeployment } from '../../data/deployments/deployments.ts'
import { useLiveDeployments } from '../../data/deployments/live.ts'
import { CopyButton, Tabs } from '../../parts/controls.tsx'
import { useRowKeys } from '../../parts/keyboard/row-keys.ts'
import { Place } from '../../parts/page/page-head.tsx'
import { Loaded, Skeleton } from '../../parts/states.tsx'
import { Link } from '../../router/link.tsx'
import { useParam } from '../../router/location.ts'
import { wordParam } from '../../router/params.ts'
import { Assistants, Crons, Store } from './contents.tsx'
import { ReadyMark } from './deployments.tsx'
import css from './deployments.module.css'
import { DeploymentOverview } from './overview.tsx'
import { Revisions } from './revisions.tsx'
import { Runs } from './runs.tsx'
import { StudioLink } from './studio-link.tsx'
import { Threads } from './threads.tsx'

const Agents = lazy(() => import('./agents.tsx').then((file) => ({ default: file.Agents })))
const Log = lazy(() => import('./log.tsx').then((file) => ({ default: file.Log })))

const VIEWS = [
  'overview',
  'runs',
  'threads',
  'assistants',
  'agents',
  'crons',
  'store',
  'revisions',
  'log',
] as const
type View = (typeof VIEWS)[number]
const VIEW = wordParam('view', VIEWS)

const SHOWN: Readonly<Record<View, readonly [string, (deployment: Deployment) => ReactNode]>> = {
  overview: ['Overview', (deployment) => <DeploymentOverview deployment={deployment} />],
  runs: ['Runs', ({ name }) => <Runs name={name} />],
  threads: ['Threads', ({ name }) => <Threads name={name} />],
  assistants: ['Assistants', ({ name }) => <Assistants name={name} />],
  agents: ['Agents', (deployment) => <Agents deployment={deployment} />],
  crons: ['Crons', ({ name }) => <Crons name={name} />],
  store: ['Store', ({ name }) => <Store name={name} />],
  revisions: ['Revisions', (deployment) => <Revisions deployment={deployment} />],
  log: ['Log', (deployment) => <Log deployment={deployment} />],
}

function Page({ deployment }: { deployment: Deployment }) {
  const view = useParam(VIEW)
  const page = useRef<HTMLDivElement>(null)
  useRowKeys(page)
  const { name, source_config } = deployment
  useLiveDeployments(name)
  const path = `/deployments/${encodeURIComponent(name)}`
  const url = source_config.custom_url
  const tabs = VIEWS.map((word) => ({
    to: word === VIEWS[0] ? path : `${path}?view=${word}`,
    text: SHOWN[word][0],
    isCurrent: word === view,
  }))
  return (
    <div ref={page} className={css['page']}>
      <div className={css['head']}>
        <div className={css['title']}>
          <Place label="Place of the deployment">
            <Link to="/deployments">Deployments</Link>
          </Place>
          <h1>
            {name} <ReadyMark deployment={deployment} />
          </h1>
        </div>
        <div className={css['actions']}>
          <CopyButton text={url} label="Copy the address" />
          <a
            href={`https://smith.langchain.com/studio/?baseUrl=${encodeURIComponent(url)}`}
            target="_blank"
            rel="noopener noreferrer"
            title="LangChain's own Studio, on smith.langchain.com, with the address of this deployment. It needs an account there."
          >
            Hosted Studio (smith.langchain.com)
          </a>
          <StudioLink name={name} className={css['primary']}>
            Open Studio
          </StudioLink>
        </div>
      </div>
      <div className={css['tabs']}>
        <Tabs label="Deployment" tabs={tabs} />
      </div>
      <Suspense fallback={<Skeleton />}>{SHOWN[view][1](deployment)}</Suspense>
    </div>
  )
}

/** A deployment: what it serves, its runs, threads, assistants, agents, crons, store, revisions and log. */
export function DeploymentPage({ params }: { params: Readonly<Record<string, string>> }) {
  const deployment = useDeployment(params['name'] ?? '')
  return (
    <Loaded from={deployment} heading="h1">
      {(found) => <Page deployment={found} />}
    </Loaded>
  )
}
