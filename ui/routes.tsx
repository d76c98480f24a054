import type { ComponentType } from 'react'
import type { IconName } from './parts/icon.tsx'
import { type LaterCode, laterCode } from './router/later-code.ts'
import { matchPath, type PathParams } from './router/match.ts'

type View = ComponentType<{ params: PathParams }>

/** A page: its path, its code, which is loaded when it is opened, and its place in the navigation. */
export interface Page {
  path: string
  code: LaterCode<View>
  /** Name in the navigation and the palette; pages without one are opened from others. */
  name?: string
  /** Letter after `g` that opens it. */
  key?: string
  icon?: IconName
  /** When one page follows another with the same word, the state is kept, so that a run in Studio continues. */
  stays?: string
}

const STUDIO = laterCode(() => import('./views/studio/studio.tsx').then(({ Studio }) => Studio))

export const PAGES: readonly Page[] = [
  {
    path: '/projects',
    name: 'Projects',
    key: 'p',
    code: laterCode(() => import('./views/projects/projects.tsx').then(({ Projects }) => Projects)),
  },
  {
    path: '/projects/{id}',
    code: laterCode(() => import('./views/project/project.tsx').then(({ Project }) => Project)),
  },
  {
    path: '/traces/{id}',
    code: laterCode(() => import('./views/trace/trace.tsx').then(({ Trace }) => Trace)),
  },
  {
    path: '/runs/{id}',
    code: laterCode(() => import('./views/trace/run-link.tsx').then(({ RunLink }) => RunLink)),
  },
  {
    path: '/threads/{id}',
    code: laterCode(() => import('./views/thread/thread.tsx').then(({ Thread }) => Thread)),
  },
  {
    path: '/playground',
    name: 'Playground',
    key: 'l',
    code: laterCode(() => import('./views/playground/playground.tsx').then(({ Playground }) => Playground)),
  },
  {
    path: '/deployments',
    name: 'Deployments',
    key: 'd',
    code: laterCode(() =>
      import('./views/deployments/deployments.tsx').then(({ Deployments }) => Deployments),
    ),
  },
  {
    path: '/deployments/{name}',
    code: laterCode(() =>
      import('./views/deployments/deployment.tsx').then(({ DeploymentPage }) => DeploymentPage),
    ),
  },
  { path: '/deployments/{name}/studio', code: STUDIO, stays: 'studio' },
  { path: '/deployments/{name}/studio/{thread}', code: STUDIO, stays: 'studio' },
  {
    path: '/usage',
    name: 'Usage',
    key: 'u',
    code: laterCode(() => import('./views/usage/usage.tsx').then(({ Usage }) => Usage)),
  },
  {
    path: '/usage/traces',
    code: laterCode(() =>
      import('./views/usage/lists/counted-traces.tsx').then(({ CountedTraces }) => CountedTraces),
    ),
  },
  {
    path: '/usage/runs',
    code: laterCode(() => import('./views/usage/lists/summed-runs.tsx').then(({ SummedRuns }) => SummedRuns)),
  },
  {
    path: '/usage/stored',
    code: laterCode(() =>
      import('./views/usage/lists/stored-traces.tsx').then(({ StoredTraces }) => StoredTraces),
    ),
  },
  {
    path: '/compare',
    code: laterCode(() => import('./views/compare/compare.tsx').then(({ Compare }) => Compare)),
  },
  {
    path: '/prices',
    name: 'Prices',
    key: 'c',
    code: laterCode(() => import('./views/prices/prices.tsx').then(({ Prices }) => Prices)),
  },
  {
    path: '/ingest',
    name: 'Ingest',
    key: 'i',
    code: laterCode(() => import('./views/ingest/ingest.tsx').then(({ Ingest }) => Ingest)),
  },
  {
    path: '/validate',
    name: 'Validate',
    key: 'v',
    code: laterCode(() => import('./views/validate/validate.tsx').then(({ Validate }) => Validate)),
  },
  {
    path: '/settings',
    name: 'Settings',
    key: 's',
    code: laterCode(() => import('./views/settings/settings.tsx').then(({ Settings }) => Settings)),
  },
]

/** The page of a shared trace. It is shown without the shell, since its readers need not be signed in. */
export const SHARED_PAGE: Page = {
  path: '/public/{token}/r',
  code: laterCode(() => import('./views/trace/shared-trace.tsx').then(({ SharedTrace }) => SharedTrace)),
}

/** The page of an invitation's link, for people who are not signed in. */
export const INVITE_PAGE: Page = {
  path: '/invite',
  code: laterCode(() => import('./views/sign-in/invitation.tsx').then(({ Invitation }) => Invitation)),
}

export function findPage(path: string): { page: Page; params: PathParams } | undefined {
  for (const page of PAGES) {
    const params = matchPath(page.path, path)
    if (params !== undefined) return { page, params }
  }
  return undefined
}
