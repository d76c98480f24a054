import { type RefObject, useEffect, useEffectEvent, useMemo, useRef, useState } from 'react'
import { createMessageRate } from '../../../data/studio/components/message-rate.ts'
import type { UIMessage } from '../../../data/studio/components/ui-messages.ts'
import { type AskedRun, readFromFrame, type ToFrame } from '../../../frame/messages.ts'
import { Button } from '../../../parts/controls.tsx'
import { JsonView } from '../../../parts/json/json-view.tsx'
import css from '../studio.module.css'
import type { StudioSession } from '../session.ts'

/** What components get of a thread, and how they start runs on it. */
export interface ComponentThread {
  /** Values of the thread; undefined until they are known. */
  values?: unknown
  isLoading: boolean
  submit: StudioSession['submit']
  /** Why the session may not start runs; undefined if it may. */
  refusal: string | undefined
}

interface ComponentFrameProps extends ComponentThread {
  /** The page of the graph's components, at the origin of pages of deployments. */
  page: string
  message: UIMessage
}

/** Limits of the height of a frame in pixels; what is higher scrolls inside of it. */
const HEIGHTS = { least: 40, most: 480 }
/** Maximum characters of the values that a component gets. */
const MOST_VALUES = 256 << 10
/** For this long a new question cannot be answered, so that a click that was meant for the frame does not answer it. */
const UNANSWERABLE_MS = 700

/** What the code in a frame has sent. */
interface FrameState {
  /** How often a page in the frame became ready: a frame that is moved in the document loads its page again. */
  readies: number
  pixels: number
  fault: string | undefined
  asked: AskedRun | undefined
  questions: number
  /** True when the frame was removed because it sent too many messages. */
  isEnded: boolean
}

const NEW: FrameState = {
  readies: 0,
  pixels: HEIGHTS.least,
  fault: undefined,
  asked: undefined,
  questions: 0,
  isEnded: false,
}

/** What follows from a message of the frame. Until a question is answered, there is no other, and nothing moves. */
function after(state: FrameState, data: unknown): FrameState {
  const message = readFromFrame(data)
  if (message === undefined) return state
  if (message.type === 'ready') return { ...state, readies: state.readies + 1 }
  if (message.type === 'failed') return { ...state, fault: message.message }
  if (state.asked !== undefined) return state
  if (message.type === 'ask') return { ...state, asked: message, questions: state.questions + 1 }
  return { ...state, pixels: Math.min(Math.max(Math.ceil(message.pixels), HEIGHTS.least), HEIGHTS.most) }
}

/** Receives the messages of a frame. Its code may be hostile: each is checked, and too many end the frame. */
function useFrameState(frame: RefObject<HTMLIFrameElement | null>) {
  const [state, setState] = useState(NEW)
  const [isTooMany] = useState(() => createMessageRate(() => performance.now()))
  const receive = useEffectEvent(({ source, origin, data }: MessageEvent) => {
    // A frame without an origin has the origin "null".
    if (source === null || source !== frame.current?.contentWindow || origin !== 'null') return
    setState(isTooMany() ? { ...state, isEnded: true } : (before) => after(before, data))
  })
  useEffect(() => {
    addEventListener('message', receive)
    return () => removeEventListener('message', receive)
  }, [])
  return { state, answered: () => setState((before) => ({ ...before, asked: undefined })) }
}

/** What the frame gets, as JSON: the values only between runs, because they may be long and change with every token. */
function useSent(
  { name, props, metadata }: UIMessage,
  { values, isLoading }: Pick<ComponentThread, 'values' | 'isLoading'>,
): string {
  const state = useMemo(() => {
    const text = isLoading ? '' : JSON.stringify(values ?? {})
    return text === '' || text.length > MOST_VALUES ? undefined : (values as ToFrame['values'])
  }, [values, isLoading])
  return useMemo(
    () => JSON.stringify({ name, props, meta: metadata ?? null, isLoading, values: state } satisfies ToFrame),
    [name, props, metadata, isLoading, state],
  )
}

function Asked({
  asked,
  submit,
  refusal,
  answered,
}: Pick<ComponentThread, 'submit' | 'refusal'> & { asked: AskedRun; answered(): void }) {
  const [isNew, setNew] = useState(true)
  useEffect(() => {
    const timer = setTimeout(() => setNew(false), UNANSWERABLE_MS)
    return () => clearTimeout(timer)
  }, [])
  const { input, resume } = asked
  const start = (): void => {
    submit(input, { ...(resume !== undefined && { command: { resume } }), multitaskStrategy: 'enqueue' })
    answered()
  }
  return (
    <div role="group" aria-label="Run that the component asks for">
      <p>The component asks for a run{resume === undefined ? ' with this input:' : ' with this answer:'}</p>
      <JsonView value={resume ?? input} openDepth={2} />
      <div className={css['actions']}>
        <Button look="primary" disabled={isNew || refusal !== undefined} title={refusal} onClick={start}>
          Start the run
        </Button>
        <Button look="plain" disabled={isNew} onClick={answered}>
          Refuse
        </Button>
      </div>
    </div>
  )
}

/**
 * A UI component in a frame without an origin: it has no cookies and no storage, reaches neither this page nor a server,
 * and knows what it is sent.
 */
export function ComponentFrame({ page, message, submit, refusal, ...thread }: ComponentFrameProps) {
  const frame = useRef<HTMLIFrameElement>(null)
  const { state, answered } = useFrameState(frame)
  const { readies, isEnded, pixels, fault, asked, questions } = state
  const sent = useSent(message, thread)
  useEffect(() => {
    // A frame without an origin cannot be named as the receiver. The policy of this page keeps it at the deployments.
    if (readies > 0) frame.current?.contentWindow?.postMessage(sent, '*')
  }, [readies, sent])
  if (isEnded)
    return (
      <p className={css['bad']} role="alert">
        The component was ended: it sent too many messages.
      </p>
    )
  return (
    <>
      <iframe
        ref={frame}
        title={`Component ${message.name}`}
        sandbox="allow-scripts"
        referrerPolicy="no-referrer"
        loading="lazy"
        height={pixels}
        src={`${page}#${encodeURIComponent(location.origin)}`}
      />
      {fault !== undefined && asked === undefined && (
        <p className={css['bad']} role="alert">
          {fault}
        </p>
      )}
      {asked !== undefined && <Asked key={questions} {...{ asked, submit, refusal, answered }} />}
    </>
  )
}
