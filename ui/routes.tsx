import { type ComponentType, lazy, type LazyExoticComponent } from 'react'
import type { IconName } from './parts/icon.tsx'
import { matchPath, type PathParams } from './router/match.ts'

type View = ComponentType<{ params: PathParams }>

/** A page: its path, its code, which is loaded when it is opened, and its place in the navigation. */
export interface Page {
  path: string
  view: View | LazyExoticComponent<View>
  /** Name in the navigation and the palette; pages without one are opened from others. */
  name?: string
  /** Letter after `g` that opens it. */
  key?: string
  icon?: IconName
}

/** Every page of the interface. */
export const PAGES: readonly Page[] = [
  {
    path: '/projects',
    name: 'Projects',
    key: 'p',
    view: lazy(() => import('./views/projects/projects.tsx').then(({ Projects }) => ({ default: Projects }))),
  },
  {
    path: '/projects/{id}',
    view: lazy(() => import('./views/project/project.tsx').then(({ Project }) => ({ default: Project }))),
  },
  {
    path: '/traces/{id}',
    view: lazy(() => import('./views/trace/trace.tsx').then(({ Trace }) => ({ default: Trace }))),
  },
  {
    path: '/runs/{id}',
    view: lazy(() => import('./views/trace/run-link.tsx').then(({ RunLink }) => ({ default: RunLink }))),
  },
  {
    path: '/threads/{id}',
    view: lazy(() => import('./views/thread/thread.tsx').then(({ Thread }) => ({ default: Thread }))),
  },
  {
    path: '/usage',
    name: 'Usage',
    key: 'u',
    view: lazy(() => import('./views/usage/usage.tsx').then(({ Usage }) => ({ default: Usage }))),
  },
  {
    path: '/usage/traces',
    view: lazy(() =>
      import('./views/usage/counted-traces.tsx').then(({ CountedTraces }) => ({ default: CountedTraces })),
    ),
  },
  {
    path: '/compare',
    view: lazy(() => import('./views/compare/compare.tsx').then(({ Compare }) => ({ default: Compare }))),
  },
  {
    path: '/prices',
    name: 'Prices',
    key: 'c',
    view: lazy(() => import('./views/prices/prices.tsx').then(({ Prices }) => ({ default: Prices }))),
  },
  {
    path: '/ingest',
    name: 'Ingest',
    key: 'i',
    view: lazy(() => import('./views/ingest/ingest.tsx').then(({ Ingest }) => ({ default: Ingest }))),
  },
  {
    path: '/validate',
    name: 'Validate',
    key: 'v',
    view: lazy(() => import('./views/validate/validate.tsx').then(({ Validate }) => ({ default: Validate }))),
  },
  {
    path: '/settings',
    name: 'Settings',
    key: 's',
    view: lazy(() => import('./views/settings/settings.tsx').then(({ Settings }) => ({ default: Settings }))),
  },
]

/** The page of a shared trace. It is shown without the shell, since its readers need not be signed in. */
export const SHARED_PAGE: Page = {
  path: '/public/{token}/r',
  view: lazy(() => import('./views/trace/trace.tsx').then(({ SharedTrace }) => ({ default: SharedTrace }))),
}

/** The page of a path, with its parameters. */
export function findPage(path: string): { page: Page; params: PathParams } | undefined {
  for (const page of PAGES) {
    const params = matchPath(page.path, path)
    if (params !== undefined) return { page, params }
  }
  return undefined
}
