import { useEffect } from 'react'
import css from './app.module.css'
import { useSession } from './data/session.ts'
import { type Owned, useOwner } from './data/workspaces.ts'
import { Select } from './parts/controls.tsx'
import { Link } from './router/link.tsx'
import { navigate, setParams } from './router/location.ts'
import { matchPath } from './router/match.ts'
import { textParam } from './router/params.ts'
import { findPage } from './routes.tsx'

/** The workspace that the address names; '' is the default one. */
export const WORKSPACE = textParam('ws')
export const FIRST_PAGE = '/projects'

/** Names a workspace in the address when the key has no default one, since the server needs one. */
export function useChosenWorkspace(): void {
  const { data: session } = useSession()
  const first = session?.default_workspace_id === null ? session.workspaces[0]?.id : undefined
  useEffect(() => {
    if (first !== undefined) setParams({ ws: first })
  }, [first])
}

/**
 * Opens the same page of another workspace. A page about one record belongs to its workspace, so the list of projects
 * is opened instead.
 */
function openWorkspace(path: string, id: string): void {
  const isOwned = findPage(path)?.page.name === undefined
  navigate(`${isOwned ? FIRST_PAGE : path}?ws=${id}`)
}

/** The choice of the shown workspace; drawn where the caller may use several. */
export function WorkspaceSwitch({ path }: { path: string }) {
  const { data: session } = useSession()
  const workspaces = session?.workspaces ?? []
  if (workspaces.length < 2) return null
  return (
    <span className={css['workspace']}>
      <Select
        label="Workspace"
        value={session?.default_workspace_id ?? ''}
        options={workspaces.map(({ id, display_name }) => [id, display_name])}
        onChange={(id) => openWorkspace(path, id)}
      />
    </span>
  )
}

function ownedBy(path: string): Owned | undefined {
  const trace = matchPath('/traces/{id}', path)?.['id']
  if (trace !== undefined) return { kind: 'trace', id: trace }
  const project =
    matchPath('/projects/{id}', path)?.['id'] ??
    (matchPath('/threads/{id}', path) && new URLSearchParams(location.search).get('project'))
  return project === undefined || project === null ? undefined : { kind: 'project', id: project }
}

/** Shows that the trace or project of the address is in another workspace, and offers to open it there. */
export function Elsewhere({ path }: { path: string }) {
  const owned = ownedBy(path)
  const { data: owner } = useOwner(owned)
  if (owned === undefined || owner === undefined || owner === null) return null
  const search = new URLSearchParams(location.search)
  search.set('ws', owner.id)
  return (
    <section className={css['elsewhere']}>
      <h1>
        This {owned.kind} is in the workspace {owner.display_name}
      </h1>
      <Link to={`${path}?${search.toString()}`}>Open it there</Link>
    </section>
  )
}
