/**
 * The script of Weir in a page that shows a UI component of a deployment. The page is a frame of Studio. It gives the
 * bundle of the graph what LangGraph's SDK gives it in other pages, and passes messages between it and Studio.
 */
import * as React from 'react'
import * as ReactDOM from 'react-dom'
import { createRoot } from 'react-dom/client'
import * as JsxRuntime from 'react/jsx-runtime'
import { type FromFrame, readToFrame, type ToFrame } from './messages.ts'

/** Id of the element with the component. */
const PLACE = 'component'
/** Milliseconds between two messages about the height. */
const HEIGHT_EVERY_MS = 100

/** The part of the SDK's `stream` that components have in Studio. */
interface Stream {
  values: Readonly<Record<string, unknown>>
  messages: unknown
  isLoading: boolean
  interrupt: unknown
  submit(values?: Record<string, unknown> | null, options?: { command?: Record<string, unknown> }): void
}

interface Shown {
  stream: Stream
  meta: unknown
}

type Component = React.ComponentType<Record<string, unknown>>

const Context = React.createContext<Shown | null>(null)

/** Studio is the parent, and wrote its origin into the address of the frame. */
const studio = decodeURIComponent(location.hash.slice(1))

function send(message: FromFrame): void {
  parent.postMessage(JSON.stringify(message), studio)
}

function fail(error: unknown): void {
  send({ type: 'failed', message: error instanceof Error ? error.message : String(error) })
}

/** Asks for a run: Studio shows the input to the user, who may send it. */
const submit: Stream['submit'] = (values = null, { command = {} } = {}) => {
  const other = Object.keys(command).find((key) => key !== 'resume')
  if (other !== undefined) throw new Error(`Studio accepts only command.resume of components, not ${other}.`)
  send({ type: 'ask', input: values, ...(command['resume'] !== undefined && { resume: command['resume'] }) })
}

function streamOf(values: Stream['values'], isLoading: boolean): Stream {
  const { messages = [], __interrupt__: interrupts } = values
  return {
    values,
    messages,
    isLoading,
    interrupt: Array.isArray(interrupts) ? interrupts[0] : undefined,
    submit,
  }
}

/** What the SDK's `useStreamContext` returns: the stream, and `meta`. */
function useStreamContext(): object {
  const shown = React.useContext(Context)
  if (shown === null) throw new Error('useStreamContext works only inside of a component')
  return { ...shown.stream, meta: shown.meta }
}

/** Stands for what the SDK offers to pages, and frames do not have. */
function missing(name: string): () => never {
  return () => {
    throw new Error(`Components have no ${name} in Studio; useStreamContext has values, messages and submit.`)
  }
}

const MODULES: Readonly<Record<string, unknown>> = {
  react: React,
  'react-dom': ReactDOM,
  'react/jsx-runtime': JsxRuntime,
  '@langchain/langgraph-sdk/react': { useStream: missing('useStream') },
  '@langchain/langgraph-sdk/react-ui': {
    useStreamContext,
    LoadExternalComponent: missing('LoadExternalComponent'),
  },
}

/** The `require` of bundles. @throws Error for a package of `ui_config.shared`, which only own pages can provide */
function requireModule(name: string): unknown {
  const found = MODULES[name]
  if (found === undefined) throw new Error(`The page must provide ${name} (ui_config.shared); Studio cannot.`)
  return found
}

/** Draws the component into `target` whenever Studio sends something. */
function createDrawing(component: Component, target: Element): (sent: ToFrame) => void {
  const root = createRoot(target, { onUncaughtError: fail })
  let values: Stream['values'] = {}
  return ({ props, meta, isLoading, values: newest }) => {
    values = newest ?? values
    const shown = { stream: streamOf(values, isLoading), meta }
    root.render(<Context value={shown}>{React.createElement(component, { ...props })}</Context>)
  }
}

/** Tells Studio the height of the page when it changes. */
function reportHeight(): void {
  let sent = 0
  let timer: ReturnType<typeof setTimeout> | undefined
  const report = (): void => {
    timer = undefined
    const pixels = document.documentElement.offsetHeight
    if (pixels !== sent) send({ type: 'height', pixels })
    sent = pixels
  }
  new ResizeObserver(() => {
    timer ??= setTimeout(report, HEIGHT_EVERY_MS)
  }).observe(document.documentElement)
}

/** The element for the component, whose shadow root has the styles of the bundle. */
function createPlace(): void {
  const place = document.createElement('div')
  place.id = PLACE
  place.attachShadow({ mode: 'open' }).append(...document.querySelectorAll('link[rel=stylesheet]'))
  document.body.append(place)
}

type Render = (name: string, place: string) => void

/** The function of the bundle, which is a global variable named after the graph. */
function renderOf(graph: string): Render {
  const name = `__LGUI_${graph.replaceAll(/[^a-zA-Z0-9]/g, '_')}`
  const bundle = (globalThis as unknown as Record<string, { render: Render } | undefined>)[name]
  if (bundle === undefined) throw new Error('The bundle of the UI components failed when it was loaded.')
  return bundle.render
}

function start(): void {
  let draw: ((sent: ToFrame) => void) | undefined
  let newest: ToFrame | undefined
  const respond = (_place: string, component: Component | undefined, target: Element): void => {
    if (component === undefined) throw new Error(`There is no UI component "${newest?.name ?? ''}".`)
    draw = createDrawing(component, target)
  }
  Object.assign(globalThis, {
    [Symbol.for('LGUI_EXT_STORE')]: { respond },
    [Symbol.for('LGUI_REQUIRE')]: requireModule,
  })
  // Errors of the observer are not faults of the component.
  addEventListener('error', ({ error, message }) => {
    if (!message.startsWith('ResizeObserver')) fail(error ?? message)
  })
  addEventListener('message', ({ source, origin, data }) => {
    const sent = source === parent && origin === studio ? readToFrame(data) : undefined
    if (sent === undefined) return
    newest = sent
    try {
      if (draw === undefined) renderOf(document.documentElement.dataset['graph'] ?? '')(sent.name, PLACE)
      draw?.(sent)
    } catch (error) {
      fail(error)
    }
  })
  addEventListener('DOMContentLoaded', () => {
    createPlace()
    reportHeight()
    send({ type: 'ready' })
  })
}

start()
