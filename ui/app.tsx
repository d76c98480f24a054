import { QueryClientProvider } from '@tanstack/react-query'
import { lazy, Suspense, useEffect, useMemo, useReducer, useRef, useState } from 'react'
import css from './app.module.css'
import { createDeploymentApi } from './api/deployment.ts'
import { DeploymentApiOfPage } from './data/deployments/deployment-api.ts'
import { createQueryClient } from './data/query-client.ts'
import { ApiError } from './api/problem.ts'
import { useOldData } from './data/old-data.ts'
import { useSession, useSignOut } from './data/session.ts'
import { noteKeys, useKeys } from './parts/keyboard/keys.ts'
import { Button, IconButton, Key } from './parts/controls.tsx'
import { copyWithNotice, Notice } from './parts/notice.tsx'
import { Empty, Failure, PanelBoundary, Skeleton } from './parts/states.tsx'
import { usePreference, writePreference } from './parts/preferences.ts'
import { navigate, setParams, useParam, usePath } from './router/location.ts'
import { Link } from './router/link.tsx'
import { Palette } from './parts/keyboard/palette.tsx'
import { frozenAddress, RangeOfPage, type ShownRange } from './router/frozen-range.ts'
import { matchPath, type PathParams } from './router/match.ts'
import { findPage, INVITE_PAGE, type Page, PAGES, SHARED_PAGE } from './routes.tsx'
import { Elsewhere, FIRST_PAGE, useChosenWorkspace, WORKSPACE, WorkspaceSwitch } from './workspace.tsx'

const KeyHelp = lazy(() =>
  import('./parts/keyboard/key-help.tsx').then((file) => ({ default: file.KeyHelp })),
)
const Mentions = lazy(() =>
  import('./views/trace/comments/mentions.tsx').then((file) => ({ default: file.Mentions })),
)
const SignIn = lazy(() => import('./views/sign-in/sign-in.tsx').then((file) => ({ default: file.SignIn })))

/** The interface. Each workspace has a separate cache, and pages are mounted again when another workspace is chosen. */
export function App() {
  return <InWorkspace key={useParam(WORKSPACE)} />
}

function InWorkspace() {
  const [queries] = useState(createQueryClient)
  const [deployments] = useState(createDeploymentApi)
  return (
    <QueryClientProvider client={queries}>
      <DeploymentApiOfPage value={deployments}>
        <Opened />
      </DeploymentApiOfPage>
    </QueryClientProvider>
  )
}

/** A shared trace, an invitation, the sign-in screen, or the shell with the page of the address. */
function Opened() {
  useEffect(noteKeys, [])
  const path = usePath()
  const page = [SHARED_PAGE, INVITE_PAGE].find((one) => matchPath(one.path, path) !== undefined)
  if (page === undefined) return <Signed />
  return (
    <PanelBoundary heading="h1">
      <Suspense fallback={<Skeleton />}>
        <PageView page={page} params={matchPath(page.path, path) ?? {}} />
      </Suspense>
    </PanelBoundary>
  )
}

/**
 * Counts changes of the hash. When a sign-in link is opened in a tab that already has the interface, only the hash
 * changes.
 */
function useHashChanges(): number {
  const [count, add] = useReducer((before: number) => before + 1, 0)
  useEffect(() => {
    addEventListener('hashchange', add)
    return () => removeEventListener('hashchange', add)
  }, [])
  return count
}

function Signed() {
  const session = useSession()
  const links = useHashChanges()
  if (session.data === undefined)
    return session.error === null ? (
      <Skeleton />
    ) : (
      <NoSession error={session.error} retry={() => void session.refetch()} />
    )
  if (session.data !== null && !location.hash.startsWith('#ticket=')) return <Shell />
  return (
    <Suspense fallback={<Skeleton />}>
      <SignIn key={links} />
    </Suspense>
  )
}

/**
 * Shows an error of the session. If the address names a workspace that this user may not use, offers the user's own
 * workspace.
 */
function NoSession({ error, retry }: { error: Error; retry(): void }) {
  const isForeign = error instanceof ApiError && error.status === 403 && location.search.includes('ws=')
  if (!isForeign) return <Failure error={error} heading="h1" retry={retry} />
  return (
    <Empty title="You may not use this workspace" heading="h1">
      <p>The address names a workspace that does not exist, or that your key does not reach.</p>
      <Button onClick={() => setParams({ ws: undefined })}>Open your own workspace</Button>
    </Empty>
  )
}

/** Paths that open the first page once somebody is signed in. */
function isEntrance(path: string): boolean {
  return path === '/' || path === '/sign-in'
}

function Shell() {
  useChosenWorkspace()
  const path = usePath()
  const range = useRef<ShownRange>(undefined)
  const [takeRange] = useState(() => (shown: ShownRange | undefined): void => {
    range.current = shown
  })
  const [open, setOpen] = useState<'palette' | 'keys' | undefined>()
  const keys = useMemo(() => {
    const jumps = PAGES.flatMap((page) =>
      page.key === undefined ? [] : [[`g ${page.key}`, () => navigate(page.path)] as const],
    )
    return {
      ...Object.fromEntries(jumps),
      'Mod+k': () => setOpen('palette'),
      '?': () => setOpen('keys'),
      y: () => void copyWithNotice(location.href, 'the address of this page'),
      Y: () => {
        const address = frozenAddress(location.href, range.current, Date.now())
        void copyWithNotice(address, 'the address of this page, with fixed times')
      },
    }
  }, [])
  useKeys(keys)
  useEffect(() => {
    if (isEntrance(path)) navigate(FIRST_PAGE, { replace: true })
  }, [path])
  return (
    <div className={css['shell']}>
      <a className={css['skip']} href="#main">
        Skip to the content
      </a>
      <Top path={path} openPalette={() => setOpen('palette')} openKeys={() => setOpen('keys')} />
      <main id="main" className={css['main']} tabIndex={0}>
        <OldData />
        <PanelBoundary key={findPage(path)?.page.stays ?? path} heading="h1">
          <Elsewhere path={path} />
          <Suspense fallback={<Skeleton />}>
            <RangeOfPage value={takeRange}>
              <PageOf path={path} />
            </RangeOfPage>
          </Suspense>
        </PanelBoundary>
      </main>
      <Notice className={css['notice']} />
      {open === 'palette' && <Palette pages={PAGES} close={() => setOpen(undefined)} />}
      <Suspense>{open === 'keys' && <KeyHelp pages={PAGES} close={() => setOpen(undefined)} />}</Suspense>
    </div>
  )
}

function PageOf({ path }: { path: string }) {
  const found = findPage(path)
  if (isEntrance(path)) return <Skeleton />
  if (found === undefined) return <NoPage path={path} />
  const { page, params } = found
  return <PageView page={page} params={params} />
}

/**
 * A page, or grey lines while its code is loaded. React would hold back a lazy component for 300 ms after it had drawn
 * the lines. @throws the error of loading, for the boundary around the page
 */
function PageView({ page: { code }, params }: { page: Page; params: PathParams }) {
  const [tried, setTried] = useState<{ code: Page['code']; error?: Error }>()
  useEffect(() => {
    if (code.value !== undefined) return
    code.load().then(
      () => setTried({ code }),
      (error: unknown) =>
        setTried({ code, error: error instanceof Error ? error : new Error(String(error)) }),
    )
  }, [code])
  if (code.value !== undefined) return <code.value params={params} />
  if (tried?.code === code && tried.error !== undefined) throw tried.error
  return <Skeleton />
}

function NoPage({ path }: { path: string }) {
  return (
    <Empty title="There is no such page" heading="h1">
      <p>
        Nothing is at <code>{path}</code>.
      </p>
      <Link to={FIRST_PAGE}>Projects</Link>
    </Empty>
  )
}

/** Shows the message that the page has old data because the server cannot answer now. */
function OldData() {
  const { isOld, readAgain } = useOldData()
  if (!isOld) return null
  return (
    <div className={css['old']} role="status">
      The server cannot answer now. What is shown may be old.
      <Button onClick={readAgain}>Try again</Button>
    </div>
  )
}

/** Whether a page belongs to one of the navigation: traces, threads and comparisons to the projects. */
function isWithin(path: string, page: string): boolean {
  return path.startsWith(page) || (page === FIRST_PAGE && /^\/(trace|run|thread|compare)/.test(path))
}

function Top({ path, openPalette, openKeys }: { path: string; openPalette(): void; openKeys(): void }) {
  const nav = useRef<HTMLElement>(null)
  useEffect(() => {
    nav.current?.querySelector('[aria-current]')?.scrollIntoView({ block: 'nearest', inline: 'center' })
  })
  return (
    <header className={css['top']}>
      <Link to={FIRST_PAGE} className={css['brand']}>
        <img src="/app/icon.svg" alt="" width="20" height="20" />
        <span className={css['word']}>Weir</span>
      </Link>
      <nav ref={nav} className={css['nav']} aria-label="Pages">
        {PAGES.map(
          ({ name, path: to }) =>
            name !== undefined && (
              <Link key={to} to={to} aria-current={isWithin(path, to) ? 'page' : undefined}>
                {name}
              </Link>
            ),
        )}
      </nav>
      <div className={css['tools']}>
        <WorkspaceSwitch path={path} />
        <Button look="plain" icon="search" onClick={openPalette} title="Find a page or an id">
          <span className={css['word']}>
            Find <Key>⌘K</Key>
          </span>
        </Button>
        <span className={css['keys']}>
          <Button look="plain" onClick={openKeys} aria-label="Keys" title="Keys of this page">
            ?
          </Button>
        </span>
        <MentionsButton />
        <ThemeButton />
        <SignOutButton />
      </div>
    </header>
  )
}

/** The mentions of a signed-in member; draws nothing for others. */
function MentionsButton() {
  const { data } = useSession()
  if (data?.user === undefined || data.user === null) return null
  return (
    <Suspense>
      <Mentions />
    </Suspense>
  )
}

/** Draws nothing with AUTH=off, since there is no session to end. */
function SignOutButton() {
  const { data } = useSession()
  const signingOut = useSignOut()
  if (data === undefined || data === null || data.auth === 'off') return null
  const who = data.user?.email ?? data.api_key?.short_key
  return <IconButton icon="out" label={`Sign out ${who}`} onClick={() => signingOut.mutate()} />
}

const THEMES = [
  ['system', 'system'],
  ['light', 'sun'],
  ['dark', 'moon'],
] as const

function ThemeButton() {
  const theme = usePreference('theme')
  const place = THEMES.findIndex(([name]) => name === theme)
  const [next] = THEMES[(place + 1) % THEMES.length] ?? THEMES[0]
  const change = (): void => writePreference('theme', next)
  return <IconButton icon={THEMES[place]?.[1] ?? 'system'} label={`Theme: ${theme}`} onClick={change} />
}
