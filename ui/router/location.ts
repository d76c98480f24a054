import { useSyncExternalStore } from 'react'
import { type Param, withParams } from './params.ts'

/** The path below which the interface is mounted. */
const BASE = '/app'
/** Parameters that stay when another page is opened. */
const KEPT = ['ws']
const CHANGED = 'weir:location'

/** The path below the mount, as `/projects`. */
export function currentPath(): string {
  const { pathname } = location
  return (pathname.startsWith(BASE) ? pathname.slice(BASE.length) : pathname) || '/'
}

function subscribe(changed: () => void): () => void {
  addEventListener('popstate', changed)
  addEventListener(CHANGED, changed)
  return () => {
    removeEventListener('popstate', changed)
    removeEventListener(CHANGED, changed)
  }
}

/** A part of the address; the component is rendered again only when this part changes. */
function useSlice<T extends string | undefined>(read: () => T): T {
  return useSyncExternalStore(subscribe, read)
}

/** The current path, as `/projects`. */
export function usePath(): string {
  return useSlice(currentPath)
}

/** The value of one search parameter. */
export function useParam<T>(param: Param<T>): T {
  const text = useSlice(() => new URLSearchParams(location.search).get(param.name) ?? undefined)
  return param.read(text)
}

/** The address of a page, for links: `to` is a path below the mount and may have parameters. */
export function hrefOf(to: string): string {
  const [path = '', search = ''] = to.split('?', 2)
  const params = new URLSearchParams(search)
  const now = new URLSearchParams(location.search)
  for (const name of KEPT) {
    const value = now.get(name)
    if (value !== null && !params.has(name)) params.set(name, value)
  }
  const text = params.toString()
  return `${BASE}${path}${text === '' ? '' : `?${text}`}`
}

/** Opens a page. With `replace`, it takes the place of the current page in the browser's history. */
export function navigate(to: string, { replace = false }: { replace?: boolean } = {}): void {
  go(hrefOf(to), replace)
}

/** Sets one search parameter; by default without a new entry in the browser's history. */
export function setParam<T>(param: Param<T>, value: T, { step = false }: { step?: boolean } = {}): void {
  setParams({ [param.name]: param.write(value) }, { step })
}

/** Sets search parameters by their text; undefined removes one. */
export function setParams(
  changes: Readonly<Record<string, string | undefined>>,
  { step = false }: { step?: boolean } = {},
): void {
  go(location.pathname + withParams(location.search, changes), !step)
}

function go(href: string, replace: boolean): void {
  if (href === location.pathname + location.search && location.hash === '') return
  history[replace ? 'replaceState' : 'pushState'](null, '', href)
  dispatchEvent(new Event(CHANGED))
}
