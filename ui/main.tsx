import './tokens.css'
import './base.css'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { App } from './app.tsx'
import { applyDensity, followSystemTheme } from './parts/preferences.ts'
import { currentPath } from './router/location.ts'
import { findPage } from './routes.tsx'
import { FIRST_PAGE } from './workspace.tsx'

const RELOADED = 'weir:reloaded'

/** After an upgrade the files of the earlier version do not exist any more: the page reloads once. */
function reloadWhenReplaced(): void {
  addEventListener('vite:preloadError', (event) => {
    const last = Number(sessionStorage.getItem(RELOADED) ?? 0)
    if (Date.now() - last < 60_000) return
    event.preventDefault()
    sessionStorage.setItem(RELOADED, String(Date.now()))
    location.reload()
  })
}

/** Loads the code of the first page while the session is read; an error is shown when the page is drawn. */
function loadFirstPage(): void {
  const path = currentPath()
  findPage(path === '/' ? FIRST_PAGE : path)
    ?.page.code.load()
    .catch(() => undefined)
}

reloadWhenReplaced()
loadFirstPage()
followSystemTheme()
applyDensity()
const root = document.querySelector('#root')
if (root !== null)
  createRoot(root).render(
    <StrictMode>
      <App />
    </StrictMode>,
  )
