import type { IncomingMessage } from 'node:http'
import { isExactInteger, parseExact } from '../../../schema/exact-json.ts'
import { isObject, type JsonObject, type JsonValue } from '../../../schema/json.ts'
import { isTooDeep } from '../../../trace/json/json-text.ts'
import { A2aFault } from './faults.ts'
import type { Version } from './model.ts'

/** What a method does, whatever its version calls it. */
export type Action = 'send' | 'stream' | 'get' | 'list' | 'cancel' | 'subscribe' | 'card' | 'push'

/** The methods of both versions (rule A2A-2). */
const METHODS: Readonly<Record<string, [Version, Action]>> = {
  SendMessage: ['1.0', 'send'],
  SendStreamingMessage: ['1.0', 'stream'],
  GetTask: ['1.0', 'get'],
  ListTasks: ['1.0', 'list'],
  CancelTask: ['1.0', 'cancel'],
  SubscribeToTask: ['1.0', 'subscribe'],
  GetExtendedAgentCard: ['1.0', 'card'],
  CreateTaskPushNotificationConfig: ['1.0', 'push'],
  GetTaskPushNotificationConfig: ['1.0', 'push'],
  ListTaskPushNotificationConfigs: ['1.0', 'push'],
  DeleteTaskPushNotificationConfig: ['1.0', 'push'],
  'message/send': ['0.3', 'send'],
  'message/stream': ['0.3', 'stream'],
  'tasks/get': ['0.3', 'get'],
  'tasks/cancel': ['0.3', 'cancel'],
  'tasks/resubscribe': ['0.3', 'subscribe'],
  'agent/getAuthenticatedExtendedCard': ['0.3', 'card'],
  'tasks/pushNotificationConfig/set': ['0.3', 'push'],
  'tasks/pushNotificationConfig/get': ['0.3', 'push'],
  'tasks/pushNotificationConfig/list': ['0.3', 'push'],
  'tasks/pushNotificationConfig/delete': ['0.3', 'push'],
}

export interface A2aRequest {
  id: string | number | null
  version: Version
  action: Action
  params: JsonObject
}

/** A body as far as an answer about it needs it: the id, null if there is none, and what is known of the method. */
export interface Envelope {
  id: string | number | null
  version: Version
  /** Whether the method is answered by a stream. */
  streams: boolean
  message: JsonObject
}

/** @throws A2aFault parse, invalid_request */
export function readEnvelope(body: Uint8Array): Envelope {
  const text = new TextDecoder().decode(body)
  let value: JsonValue
  try {
    value = parseExact(text)
  } catch {
    throw new A2aFault('parse', 'The body is not JSON.')
  }
  if (!isObject(value) || isTooDeep(text, value))
    throw new A2aFault('invalid_request', 'The body must be one JSON-RPC request, nested at most 2,000 deep.')
  const { id, method } = value
  const [version, action] = methodOf(method) ?? []
  return {
    id: isRequestId(id) ? id : null,
    version: version ?? '0.3',
    streams: action === 'stream' || action === 'subscribe',
    message: value,
  }
}

function methodOf(method: JsonValue | undefined): [Version, Action] | undefined {
  return typeof method === 'string' && Object.hasOwn(METHODS, method) ? METHODS[method] : undefined
}

/** Whether a value can be the id of a request, which may be an integer beyond 2^53. */
function isRequestId(id: JsonValue | undefined): id is string | number {
  return typeof id === 'string' || typeof id === 'number' || isExactInteger(id)
}

/** @throws A2aFault invalid_request, unknown_method, invalid_params, version */
export function readA2aRequest({ id, message }: Envelope, headers: IncomingMessage['headers']): A2aRequest {
  const { jsonrpc, method } = message
  const params = message['params'] ?? {}
  if (jsonrpc !== '2.0') throw new A2aFault('invalid_request', 'jsonrpc must be "2.0".')
  if (id === null)
    throw new A2aFault('invalid_request', 'id must be a text or an integer: every method has a response.')
  if (typeof method !== 'string') throw new A2aFault('invalid_request', 'method must be a text.')
  const asked = headers['a2a-version']
  if (typeof asked === 'string' && !/^(1(\.\d+)*|0\.3(\.\d+)*|)$/.test(asked.trim()))
    throw new A2aFault('version', `Version ${asked.slice(0, 20)} is not supported; 1.0 and 0.3 are.`)
  const known = methodOf(method)
  if (known === undefined) throw new A2aFault('unknown_method', `Method not found: ${method.slice(0, 100)}`)
  if (!isObject(params)) throw new A2aFault('invalid_params', 'params must be an object.')
  const [version, action] = known
  return { id, version, action, params }
}
