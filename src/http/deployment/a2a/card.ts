import type { IncomingMessage } from 'node:http'
import type { Assistant } from '../../../runs/assistants/store.ts'
import { isObject, type JsonObject, type JsonValue } from '../../../schema/json.ts'

/** The extension with which clients choose the messages of a history, and the header that it defines. */
const HISTORY_SCOPE = 'https://langchain.com/a2a/extensions/history-scope/v1'
export const HISTORY_SCOPE_HEADER = 'langgraph-a2a-history-scope'

const MODES = ['application/json', 'text/plain']

/** Clients of 0.3 read the first form of the key, those of 1.0 the second. */
const KEY_SCHEME = {
  type: 'apiKey',
  in: 'header',
  name: 'x-api-key',
  apiKeySecurityScheme: { location: 'header', name: 'x-api-key' },
}

/** The card of an assistant, in a form that clients of both versions read (rule A2A-1). */
export function agentCard(assistant: Assistant, url: string, version: string): JsonObject {
  const { assistant_id, name, metadata } = assistant
  const description = assistant.description || `${name} assistant`
  const modes = isObject(metadata['a2a']) ? metadata['a2a'] : {}
  const inputModes = modesOf(modes['input_modes'])
  const outputModes = modesOf(modes['output_modes'])
  const binding = { url, protocolBinding: 'JSONRPC' }
  return {
    name,
    description,
    version,
    url,
    preferredTransport: 'JSONRPC',
    protocolVersion: '0.3.0',
    supportedInterfaces: [
      { ...binding, protocolVersion: '1.0' },
      { ...binding, protocolVersion: '0.3' },
    ],
    capabilities: {
      streaming: true,
      pushNotifications: false,
      extensions: [{ uri: HISTORY_SCOPE, required: false }],
    },
    defaultInputModes: inputModes,
    defaultOutputModes: outputModes,
    securitySchemes: { key: KEY_SCHEME },
    security: [{ key: [] }],
    securityRequirements: [{ schemes: { key: { list: [] } } }],
    skills: [
      {
        id: `${assistant_id}-main`,
        name: `${name} Capabilities`,
        description,
        tags: ['assistant', 'langgraph'],
        examples: [],
        inputModes,
        outputModes,
      },
    ],
  }
}

function modesOf(value: JsonValue | undefined): string[] {
  const modes = (Array.isArray(value) ? value : []).filter((mode) => typeof mode === 'string')
  return modes.length > 0 ? modes : MODES
}

/**
 * The address of an assistant: `public_url`, or scheme and host of the request, with the prefix under which the request
 * reached the deployment.
 */
export function agentAddress(
  { url = '', headers }: Pick<IncomingMessage, 'url' | 'headers'>,
  public_url: string | undefined,
  assistant_id: string,
): string {
  const scheme = headers['x-forwarded-proto'] === 'https' ? 'https' : 'http'
  const origin = public_url?.replace(/\/+$/, '') ?? `${scheme}://${headers.host ?? 'localhost'}`
  const prefix = url
    .replace(/\?.*$/s, '')
    .replace(/\/\.well-known\/agent(-card)?\.json$/, '')
    .replace(/\/a2a\/[^/]+\/?$/, '')
  return `${origin}${prefix}/a2a/${assistant_id}`
}
